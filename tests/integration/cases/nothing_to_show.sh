#!/usr/bin/env bash
# P28: where nothing was profiled that is said, with the reason; nothing is silently empty, by capture, status, top, check
# and the API.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
process=
# shellcheck disable=SC2317 # the trap calls it
end() {
    [[ -z $process ]] || kill "$process" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT

# Each command ends with 1 and one line that says why; no file is left.
refuses() { # reason environment…
    local reason=$1 command status
    shift
    env "$@" sleep 30 &
    process=$!
    for _ in {1..50}; do
        [[ $(<"/proc/$process/comm") != sleep ]] || break
        sleep 0.1
    done
    sleep 0.3
    for command in capture status; do
        status=0
        (cd "$work" && "$HP_COMMAND" "$command" "$process") >"$work/out" 2>"$work/said" || status=$?
        [[ $status == 1 && $(wc -l <"$work/said") == 1 && ! -s $work/out ]] || fail "$command: status $status: $(cat "$work/out" "$work/said")"
        grep -q "$process (sleep).*$reason" "$work/said" || fail "$command does not say '$reason': $(<"$work/said")"
    done
    [[ -z $(find "$work" -name '*.pb.gz') ]] || fail "a profile of nothing: $(ls "$work")"
    kill "$process"
    wait "$process" 2>/dev/null || true
    process=
}
refuses 'started without libheapprof.so' A=b
refuses 'HEAPPROF=off' LD_PRELOAD="$HP_LIBRARY" HEAPPROF=off
refuses 'sampled nothing yet' LD_PRELOAD="$HP_LIBRARY" HEAPPROF_LIMIT=1T

# By the API: an error when it is off; a profile that says that it has no samples when there are none.
status=0
HEAPPROF=off "$HP_BUILD/dump_cost_shared" "$work/off.pb.gz" >"$work/out" 2>"$work/said" || status=$?
[[ $status == 1 && ! -e $work/off.pb.gz ]] || fail "a dump while off"
HEAPPROF_LIMIT=off HEAPPROF_SAMPLE=1G "$HP_BUILD/dump_cost_shared" "$work/none.pb.gz" >"$work/out"
"$HP_COMMAND" check "$work/none.pb.gz" >"$work/out" || fail "check: $(<"$work/out")"
grep -q 'has no samples' "$work/out" || fail "check does not say that there are no samples: $(<"$work/out")"
"$HP_COMMAND" top "$work/none.pb.gz" >"$work/out" || fail "top: $(<"$work/out")"
grep -q '0 B in 0 stacks' "$work/out" || fail "top does not say that there is nothing: $(<"$work/out")"
