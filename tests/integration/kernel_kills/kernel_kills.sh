#!/usr/bin/env bash
# kernel_kills.sh LIBRARY COMMAND LEAKER MEMCG TIMES: the promise itself. TIMES runs of LEAKER in a real 128 MiB
# memory cgroup, each until the kernel kills it; each must leave a last dump that is whole, holds 80 MiB or more
# in use by go's pprof, and names the leaking function first. Prints a line a run.
set -euo pipefail
library=$1 command=$2 leaker=$3 memcg=$4 times=$5

command -v go >/dev/null || { echo "SKIP: go is not installed, and only its pprof counts as a witness"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Bytes in use: the fourth value of every sample, by another program than ours.
bytes_in_use() {
    go tool pprof -raw "$1" 2>"$work/stderr" |
        awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 } on && $1 ~ /^[0-9]+$/ { sum += $4 } END { print sum + 0 }'
    [[ ! -s $work/stderr ]] || { cat "$work/stderr"; return 1; }
}

fail() {
    echo "run $run: $*"
    exit 1
}

for run in $(seq "$times"); do
    dumps=$work/$run
    status=0
    bash "$memcg" -r "$work/ending" 128M env LD_PRELOAD="$library" HEAPPROF_DUMP_DIR="$dumps" "$leaker" || status=$?
    [[ $status != 77 ]] || exit 77
    ending=$(cat "$work/ending")
    [[ $ending == *"status=137 oom_kill=1 "* ]] || fail "not killed by the kernel for memory: $ending"
    last=$(find "$dumps" -name 'heapprof.*.pb.gz' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2-)
    [[ -n $last ]] || fail "no dump"
    [[ -z $(find "$dumps" -name '.*.tmp') ]] || fail "a partial file was left"
    "$command" check "$last" >/dev/null || fail "the last dump is not sound"
    bytes=$(bytes_in_use "$last") || fail "pprof warns"
    ((bytes >= 80 << 20)) || fail "only $bytes bytes in use"
    first=$("$command" top -n 1 "$last" | awk '/%/ { line = $0 } END { print line }')
    [[ $first == *leak_labels* ]] || fail "the leak is not first: $first"
    echo "run $run: killed; $(basename "$last" | cut -d. -f7) holds $((bytes >> 20)) MiB, leak_labels first"
done
