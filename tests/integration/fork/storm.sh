#!/usr/bin/env bash
# P7: forks while 16 threads allocate with every allocation sampled; no child hangs, the parent goes on.
# storm.sh preload|shared CHILDREN
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
export HEAPPROF_LIMIT=4G HEAPPROF_DUMP_DIR=$work
for sample in 1 1000; do
    HEAPPROF_SAMPLE=$sample quietly run_in_mode "$1" storm "$2" 16
done
[[ -z $(dumps_in "$work") ]] || fail "dumps without a reason: $(ls "$work")"
