#!/usr/bin/env bash
# A signal handler that allocates and frees while the thread is in the middle of a sample, on the thread's stack
# and on one of its own: nothing hangs, contents and accounts are right in the end.  interrupted.sh preload|shared
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
needs nm
mode=$1
export HEAPPROF_LIMIT=4G HEAPPROF_SAMPLE=1 HEAPPROF_DUMP_DIR=$work
[[ $mode != preload ]] || export HEAPPROF_SIGNAL=USR2
# A handler that has interrupted heapprof where nothing is locked yet is sampled, its stack being what it is.
export MAY_SHOW_HEAPPROF=1
nm -S "$HP_LIBRARY" | awk '$3 ~ /^[tT]$/ && $4 ~ /^(hp_|guard_)/ { print $1, $2 }' >"$work/ranges"
[[ -s $work/ranges ]] || skip "$HP_LIBRARY has no symbols"
for stack in '' alternate; do
    quietly run_in_mode "$mode" interrupted 2 "$work/ranges" "$work/sites" "$work/dump.pb.gz" ${stack:+"$stack"}
    read_sites "$work/dump.pb.gz" "$work/sites" >"$work/sums"
    cat "$work/sums"
    awk '$2 == 0 { print $1 ": nothing allocated"; bad = 1 } $4 != 0 || $5 != 0 { print $1 ": live"; bad = 1 }
         END { exit bad }' "$work/sums" || fail "the accounts are wrong after ${stack:-ordinary} handlers"
done
