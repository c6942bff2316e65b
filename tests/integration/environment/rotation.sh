#!/usr/bin/env bash
# G17, P8: twenty restarts on one folder, each as process 1 of a container of its own where that may be: no dump
# replaces another, and no more stay than HEAPPROF_KEEP and HEAPPROF_DUMP_BUDGET allow; other files are left alone.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
export HEAPPROF_LIMIT=32M HEAPPROF_THRESHOLDS=50%
container=()
if unshare --pid --fork true 2>/dev/null; then
    container=(unshare --pid --fork)
else
    echo "without process ids of their own: no leave for a namespace"
fi

run() { # folder
    local status=0
    HEAPPROF_DUMP_DIR=$1 "${container[@]}" env LD_PRELOAD="$HP_LIBRARY" "$HP_BUILD/grow" +20 .20 >"$work/out" 2>"$work/said" || status=$?
    [[ $status == 42 ]] || fail "status $status: $(<"$work/said")"
    says_nothing
}
mkdir "$work/all" "$work/few" "$work/small"
for folder in few small; do
    touch "$work/$folder/other.pb.gz" "$work/$folder/heapprof.another.h.1.20200101T000000000.1.limit80.pb.gz"
done
for _ in {1..20}; do
    HEAPPROF_KEEP=100 run "$work/all"
    HEAPPROF_KEEP=4 run "$work/few"
done
# A name is "heapprof.grow.HOST.PID.START.SEQUENCE.limit50.pb.gz": each process has its own beginning.
processes=$(dumps_in "$work/all" | sed 's/\.[0-9]*\.limit50\.pb\.gz$//' | sort -u | wc -l)
[[ $processes == 20 ]] || fail "20 restarts gave dumps of $processes processes: $(ls "$work/all")"
[[ $(dumps_in "$work/few" | grep -c /heapprof.grow.) == 4 ]] || fail "HEAPPROF_KEEP=4 keeps $(ls "$work/few")"
each=$(find "$work/all" -name '*.pb.gz' -printf '%s\n' | sort -n | tail -n 1)
for _ in {1..6}; do
    HEAPPROF_DUMP_BUDGET=$((each * 3)) run "$work/small"
done
total=$(find "$work/small" -name 'heapprof.grow.*' -printf '%s\n' | awk '{ n += $1 } END { print n }')
[[ $total -le $((each * 3)) && $total -gt 0 ]] || fail "$total bytes for a budget of $((each * 3))"
# The newest stays, whatever it costs.
HEAPPROF_DUMP_BUDGET=1 run "$work/small"
[[ $(dumps_in "$work/small" | grep -c /heapprof.grow.) == 1 ]] || fail "the newest alone should stay: $(ls "$work/small")"
for folder in few small; do
    [[ -e $work/$folder/other.pb.gz && -e $work/$folder/heapprof.another.h.1.20200101T000000000.1.limit80.pb.gz ]] ||
        fail "a file of somebody else's is gone"
done
