#!/usr/bin/env bash
# HEAPPROF=off and HEAPPROF_PROGRAM: what is left out is a plain jemalloc, without dumps, guard or words.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
export HEAPPROF_LIMIT=32M HEAPPROF_DUMP_DIR=$work/dumps

quiet_and_idle() {
    grow +40 .100
    says_nothing
    [[ -z $(ls -A "$work/dumps" 2>/dev/null) ]] || fail "a dump: $(ls "$work/dumps")"
}
HEAPPROF=off quiet_and_idle
HEAPPROF=0 quiet_and_idle
HEAPPROF_PROGRAM=other quiet_and_idle
HEAPPROF_PROGRAM=grow2,gro quiet_and_idle
HEAPPROF=off HEAPPROF_LIMIT=32M HEAPPROF_SIGNAL=USR2 quiet_and_idle

for names in grow all 'other, grow' ''; do
    rm -rf "$work/dumps"
    HEAPPROF_PROGRAM=$names grow +40 .100
    [[ -n $(dumps_in "$work/dumps") ]] || fail "no dump of grow with HEAPPROF_PROGRAM='$names'"
done
# The shell that starts it is left out.
rm -rf "$work/dumps"
HEAPPROF_PROGRAM=grow preloaded bash -c "x=\$(head -c 40000000 /dev/zero | tr '\\0' x); '$HP_BUILD/grow' +40 .100" >"$work/out" && fail "status"
dumps_in "$work/dumps" | grep -v '/heapprof\.grow\.' && fail "a dump of another program"
[[ -n $(dumps_in "$work/dumps") ]] || fail "no dump of grow below a shell"
