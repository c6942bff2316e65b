#!/usr/bin/env bash
# Over 30 runs with sampling, each site's mean and spread are those of the theory (sites.h) around what the program
# counted; and at the end nothing is live, to the last byte (P19, P22).  sampled.sh PROGRAM PERIOD|auto
#
# Chance alone puts one in some hundred comparisons beyond its bounds: what is beyond gets a second and a third
# series of its own, and fails when it is beyond each time.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
program=$1
runs=30

export HEAPPROF_SAMPLE=$2 HEAPPROF_LIMIT=off HEAPPROF_DUMP_DIR=$work
if [[ $2 == auto ]]; then
    export HEAPPROF_LIMIT=128M SITES_PERIOD=131072 # a 1,024th of it
fi

series() {
    local i
    : >"$work/joined"
    for ((i = 0; i < runs; i++)); do
        quietly run_in_mode shared "$program" 5 "$work/sites" "$work/first.pb.gz" "$work/second.pb.gz"
        read_sites "$work/first.pb.gz" "$work/sites" >"$work/dumped"
        grep '^site ' "$work/sites" | paste -d' ' "$work/dumped" - >>"$work/joined"
        read_sites "$work/second.pb.gz" "$work/sites.end" >"$work/dumped"
        awk '$4 != 0 || $5 != 0' "$work/dumped" | grep . && fail "live, though all is freed"
    done
    python3 "$(dirname "$0")/judge.py" "$work/joined" "$runs" >"$work/verdict" || fail "judge.py: $(cat "$work/verdict")"
}

series
cat "$work/verdict"
grep '^FAILED' "$work/verdict" && fail "all comparisons together"
grep '^BEYOND' "$work/verdict" >"$work/suspects" || true
for ((again = 0; again < 2; again++)); do
    [[ -s $work/suspects ]] || break
    echo "once more, for:"
    series
    grep '^BEYOND' "$work/verdict" | grep -Fx -f "$work/suspects" >"$work/still" || true
    mv "$work/still" "$work/suspects"
done
[[ ! -s $work/suspects ]] || fail "beyond three times: $(cat "$work/suspects")"
