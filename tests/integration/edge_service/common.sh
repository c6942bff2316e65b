# Sourced by the tests of this folder. ctest gives them, in the environment:
#   EDGE_SERVICE  the example's program
#   EDGE_COMMAND  build/heapprof
#   EDGE_MEMCG    tools/memcg.sh
#   EDGE_LINKED   1: heapprof is linked into the program, nothing is preloaded
# A temporary folder $work, removed in the end, holds what a test writes.
# shellcheck shell=bash
set -euo pipefail

: "${EDGE_SERVICE:?}" "${EDGE_COMMAND:?}" "${EDGE_MEMCG:?}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# Runs the service with heapprof under a real limit of 128 MiB. Sets `status`; its output is $work/log, how it
# ended $work/ending, its dumps are in $work/dumps. Ends the test as skipped when there can be no cgroup.
run_limited() { # [service options…]
    local run=("$EDGE_COMMAND" run --limit auto --dump-dir "$work/dumps" --)
    [[ ${EDGE_LINKED:-0} == 0 ]] || run=(env HEAPPROF_LIMIT=auto HEAPPROF_DUMP_DIR="$work/dumps")
    status=0
    mkdir -p "$work/dumps"
    "$EDGE_MEMCG" -r "$work/ending" 128M "${run[@]}" "$EDGE_SERVICE" --exact "$@" >"$work/log" 2>&1 || status=$?
    cat "$work/log"
    [[ $status != 77 || -e $work/ending ]] || exit 77
    cat "$work/ending"
}

ending() { # key: its number in the last line of memcg.sh
    sed -n "s/.* $1=\([0-9]*\).*/\1/p" "$work/ending"
}

# The metrics' share that the program itself counted last, in percent.
exact_share() { # log
    sed -n 's/^exact: .* metrics_share=\([0-9.]*\)%$/\1/p' "$1" | tail -n 1
}

within() { # value low high: numbers that need not be whole
    awk -v v="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(v != "" && v + 0 >= low && v + 0 <= high) }'
}
