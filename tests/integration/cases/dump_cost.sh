#!/usr/bin/env bash
# P12: a binary with 200 MB of debug information costs a dump no memory: nothing is symbolized in the process.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
needs objcopy truncate
truncate -s 200M "$work/debug"
objcopy --add-section .debug_info.more="$work/debug" "$HP_BUILD/dump_cost" "$work/dump_cost" 2>"$work/stderr" || fail "objcopy: $(<"$work/stderr")"
rm "$work/debug"
[[ $(stat -c %s "$work/dump_cost") -gt 200000000 ]] || fail "no large binary"
HEAPPROF_LIMIT=off HEAPPROF_SAMPLE=1 HEAPPROF_DUMP_DIR=$work HEAPPROF_SIGNAL=USR2 \
    quietly preloaded "$work/dump_cost" "$work/dump.pb.gz" >"$work/out"
"$HP_COMMAND" check "$work/dump.pb.gz" >/dev/null || fail "the dump is not whole"
echo "resident memory rises by $(<"$work/out") KiB"
[[ $(<"$work/out") -le 2048 ]] || fail "a dump costs $(<"$work/out") KiB"
