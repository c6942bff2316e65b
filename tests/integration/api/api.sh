#!/usr/bin/env bash
# api.sh PROGRAM COMMAND: the program's own checks; then both of its dumps name the site that was sampled, with what it
# holds, and not the one that was allocated at while the thread was paused.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

HEAPPROF_SAMPLE=1 HEAPPROF_DUMP_DIR=$work/dumps "$1" "$work"
for dump in "$work"/path.pb.gz "$work"/fd.pb.gz; do
    "$2" check --strict "$dump" >/dev/null
    table=$("$2" top --exact -n 0 "$dump")
    grep -Eq '^ +3000 .* seen_site' <<<"$table" || { echo "seen_site does not hold 3000: $table"; exit 1; }
    ! grep -q paused_site <<<"$table" || { echo "paused_site was sampled: $table"; exit 1; }
done
