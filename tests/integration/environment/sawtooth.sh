#!/usr/bin/env bash
# P15: up and down across the thresholds a hundred times gives a few dumps, not a hundred times three.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
export HEAPPROF_LIMIT=48M HEAPPROF_DUMP_DIR=$work/dumps HEAPPROF_KEEP=1000 HEAPPROF_LOG=info
steps=(+20)
for ((i = 0; i < 100; i++)); do steps+=(+26 .3 -26 .3); done
grow "${steps[@]}"
written=$(grep -c 'dumped ' "$work/said")
most=$((8 + 4 + SECONDS / 60 + SECONDS / 10)) # of the lower thresholds, of the last one; what comes in time (guard/decide.h)
[[ $written -ge 1 && $written -le $most ]] || fail "$written dumps of a sawtooth: $(<"$work/said")"
no_partial_files "$work/dumps"
