#!/usr/bin/env bash
# compare_pairs.sh LIBRARY PAIR_LOOPS [ROUNDS] [--check]: pair_loops under plain jemalloc (Debian's
# libjemalloc.so.2), under jemalloc's own profiler, and under ours at the same period of 512 KiB, in turns in one
# run; prints the medians as a Markdown table. With --check it fails when ours costs more than 1.5 ns a pair over
# plain jemalloc in the first loop, or more than jemalloc's own profiler in the two others. Noise only ever adds,
# so a comparison that fails is made once more before it counts.
set -euo pipefail
library=$1 loops=$2 rounds=${3:-5} check=${4:-}

jemalloc=$(ldconfig -p | awk '/libjemalloc\.so\.2 / { print $NF; exit }')
[[ -n $jemalloc ]] || { echo "SKIP: libjemalloc.so.2 is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

measure() {
    rm -f "$work"/*
    for _ in $(seq "$rounds"); do
        LD_PRELOAD=$jemalloc "$loops" >>"$work/plain"
        MALLOC_CONF=prof:true,lg_prof_sample:19 LD_PRELOAD=$jemalloc "$loops" >>"$work/prof"
        HEAPPROF_SAMPLE=512K HEAPPROF_DUMP_DIR=$work LD_PRELOAD=$library "$loops" >>"$work/ours"
    done
}

median() { # file column
    awk -v c="$2" '{ print $c }' "$work/$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

row() { # name file
    echo "| $1 | $(median "$2" 1) | $(median "$2" 2) | $(median "$2" 3) |"
}

print_table() {
    echo "| ns a malloc+free pair, median of $rounds | 64 B pair | random 16..1039 B | 4096 B |"
    echo "|---|---|---|---|"
    row "plain jemalloc" plain
    row "jemalloc prof, 512 KiB" prof
    row "heapprof, 512 KiB" ours
}

holds() {
    awk -v a="$(median ours 1)" -v b="$(median plain 1)" -v c="$(median ours 2)" -v d="$(median prof 2)" \
        -v e="$(median ours 3)" -v f="$(median prof 3)" 'BEGIN { exit !(a - b <= 1.5 && c <= d && e <= f) }'
}

measure
print_table
if [[ $check == --check ]] && ! holds; then
    echo "once more:"
    measure
    print_table
    holds || { echo "heapprof costs more than it may"; exit 1; }
fi
