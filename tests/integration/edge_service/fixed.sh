#!/usr/bin/env bash
# The repaired service under a real 128 MiB limit: it survives three times the requests that kill the leaking
# one, stays below the first threshold (80 %), and so leaves no limit dump.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

run_limited --fixed --rate 0 --requests 400000
[[ $status == 0 && $(ending oom_kill) == 0 ]] || fail "status $status"
within "$(ending peak)" 1 $((128 * 1024 * 1024 * 80 / 100)) || fail "a peak of $(ending peak) bytes"
dumps=$(find "$work/dumps" -name '*.limit*')
[[ -z $dumps ]] || fail "dumps without need: $dumps"
