#!/usr/bin/env bash
# G15: the guard's first dump needs no page that was not there before, of 1,000 and of 10,000 stacks.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
check() { # stacks [fork]
    local folder=$work/$1${2:-} samples
    HEAPPROF_DUMP_DIR=$folder HEAPPROF_SAMPLE=1 HEAPPROF_SIGNAL=USR2 HEAPPROF_LIMIT=1G \
        preloaded "$HP_BUILD/pages" "$@" || fail "a dump takes memory"
    samples=$("$HP_COMMAND" check "$(dumps_in "$folder")" | grep -oE '[0-9,]+ (stacks|samples)' | head -n 1 | tr -dc 0-9)
    [[ $samples -ge $1 ]] || fail "the dump has $samples stacks: nothing is proven"
}
check 1000
check 10000
check 1000 fork
