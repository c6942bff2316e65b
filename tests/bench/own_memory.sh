#!/usr/bin/env bash
# own_memory.sh LIBRARY THREAD_HEAPS LIVE_HEAP [ROUNDS] [--check]: what heapprof needs for itself, as anonymous resident
# memory over plain jemalloc (Debian's libjemalloc.so.2), both with jemalloc's defaults, at a 128M limit and the period
# that follows from it: a process with 1, 64 and 256 sampling threads, and one with 100 MiB of live objects of 64 bytes.
# Medians, in turns in one run, as a Markdown table. With --check it fails when it is more than 1.5, 2.5 and 4 MiB, or
# 1.25 % of the 100 MiB; the threads' heaps are never the same twice, so a comparison that fails is made once more.
set -euo pipefail
library=$1 thread_heaps=$2 live_heap=$3 rounds=${4:-5} check=${5:-}

jemalloc=$(ldconfig -p | awk '/libjemalloc\.so\.2 / && !n++ { print $NF }') # to the end: ldconfig minds a closed pipe
[[ -n $jemalloc ]] || { echo "SKIP: libjemalloc.so.2 is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset MALLOC_CONF "${!HEAPPROF@}"
export HEAPPROF_LIMIT=128M HEAPPROF_THRESHOLDS=127M HEAPPROF_DUMP_DIR=$work/dumps

programs=("$thread_heaps 1" "$thread_heaps 64" "$thread_heaps 256" "$live_heap 100")
names=("1 sampling thread" "64 sampling threads" "256 sampling threads" "100 MiB of live 64 B objects")
most=(1536 2560 4096 1280)

median() { # file
    sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

measure() { # Prints the table; false when something is more than it may be.
    local status=0 i plain ours
    rm -f "$work"/*.kib
    for _ in $(seq "$rounds"); do
        for i in "${!programs[@]}"; do
            # shellcheck disable=SC2086 # a program and its argument
            LD_PRELOAD=$jemalloc ${programs[i]} >>"$work/plain$i.kib"
            # shellcheck disable=SC2086
            LD_PRELOAD=$library ${programs[i]} >>"$work/ours$i.kib"
        done
    done
    echo "| anonymous memory, KiB, median of $rounds | plain jemalloc | heapprof | more |"
    echo "|---|---|---|---|"
    for i in "${!programs[@]}"; do
        plain=$(median "$work/plain$i.kib") ours=$(median "$work/ours$i.kib")
        echo "| ${names[i]} | $plain | $ours | $((ours - plain)) |"
        ((ours - plain <= most[i])) || status=1
    done
    return $status
}

measure && exit
[[ $check == --check ]] || exit 0
echo "once more:"
measure || { echo "heapprof needs more memory than it may"; exit 1; }
