#!/usr/bin/env bash
# A process that is stopped and continued (by a debugger, a freezer, job control) at any moment, while it crosses the
# thresholds and while it dumps: every dump is whole, and the process comes to its own end.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=common.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/common.sh"
held=0 # dumps in the middle of which it was stopped
for try in {1..5}; do
    rm -rf "$work/dumps"
    : >"$work/said"
    env HEAPPROF_SIGNAL=USR2 "${saw_settings[@]}" "$HP_BUILD/saw" 12 >"$work/out" 2>"$work/said" &
    pid=$!
    for ((i = 0; i < 200; i++)); do # until it is up, the signal would end it
        grep -q '^heapprof: dumped' "$work/said" && break
        sleep 0.02
    done
    while kill -STOP "$pid" 2>/dev/null; do
        sleep 0.05
        kill -CONT "$pid" || break
        kill -USR2 "$pid" || break # a dump of its own each time: it takes less than a millisecond
        sleep 0.00$((RANDOM % 2))$((RANDOM % 10))
    done 2>/dev/null
    status=0
    wait "$pid" || status=$?
    [[ $status == 42 && $(<"$work/out") == "done" ]] || fail "status $status: $(<"$work/said")"
    all_are_whole
    # It says how long each took: one that was stopped in it, 50 ms and more.
    held=$((held + $(grep -cE 'dumped .* ([5-9][0-9]|[0-9]{3,}) ms' "$work/said" || true)))
    [[ $held -lt 1 ]] || break
done
[[ $held -ge 1 ]] || fail "no dump was ever stopped in the middle: nothing is proven"
echo "$held dumps were stopped in the middle, in $try runs"
