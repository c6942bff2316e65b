#!/usr/bin/env bash
# G18, P8: eight workers that are forked and never exec grow over the limit, each. Each has a guard of its own and
# dumps of its own under its own pid, at each threshold and on demand; one budget holds for all.
# prefork.sh preload|static
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
export HEAPPROF_LIMIT=40M HEAPPROF_SAMPLE=64K HEAPPROF_SIGNAL=USR2 HEAPPROF_SERVICE=prefork

HEAPPROF_DUMP_DIR=$work/all HEAPPROF_KEEP=100 quietly run_in_mode "$1" prefork 45 8 >"$work/pids"
no_partial_files "$work/all"
while read -r pid; do
    for reason in limit80 limit90 limit95 signal; do
        count=$(find "$work/all" -name "heapprof.prefork.*.$pid.*.$reason.pb.gz" | wc -l)
        # Where the machine is busy a worker may pass two thresholds at once; the higher one is then dumped for both.
        # And it may dump once more when it has come nearer to its peak.
        [[ $count == 1 || ($count == 0 && $reason == limit[89]0) || ($count == [23] && $reason == limit95) ]] ||
            fail "worker $pid has $count dumps for $reason: $(ls "$work/all")"
    done
    find "$work/all" -name "heapprof.prefork.*.$pid.*" >>"$work/theirs"
done <"$work/pids"
[[ $(dumps_in "$work/all" | wc -l) == $(wc -l <"$work/theirs") ]] || fail "more than the workers' dumps: $(ls "$work/all")"
for dump in $(dumps_in "$work/all" limit95 | head -n 2) $(dumps_in "$work/all" signal | tail -n 1); do
    read_raw "$dump" >/dev/null
    pid=$(comment_of "$dump" pid)
    [[ $dump == *".$pid."* ]] || fail "$dump says it is from process $pid"
done

HEAPPROF_DUMP_DIR=$work/few HEAPPROF_KEEP=5 quietly run_in_mode "$1" prefork 45 8 >"$work/pids"
no_partial_files "$work/few"
[[ $(dumps_in "$work/few" | wc -l) -le 5 ]] || fail "more than HEAPPROF_KEEP=5: $(ls "$work/few")"
