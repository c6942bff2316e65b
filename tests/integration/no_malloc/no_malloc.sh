#!/usr/bin/env bash
# P10. no_malloc.sh limit|api: a dump under the library whose dumps abort at a malloc; it is made, whole and readable.
source "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"
: "${HP_TRAP:?}"
needs go

check_dump() { # file
    go tool pprof -raw "$1" >"$work/raw" 2>"$work/raw-errors" || fail "pprof can't read $1: $(cat "$work/raw-errors")"
    grep -q 'inuse_space/bytes' "$work/raw" || fail "no inuse_space in $1"
    "$HP_COMMAND" top "$1" >"$work/top" || fail "heapprof top fails on $1"
    grep -q leak_block "$work/top" || fail "leak_block is not in $1: $(cat "$work/top")"
}

# The line would be there if the trap had sprung: silence proves that it did not.
run_trapped() { # arguments…
    local status=0
    HEAPPROF_SAMPLE=1 LD_PRELOAD=$HP_TRAP "$HP_BUILD/dump_under_trap" "$@" 2>"$work/stderr" || status=$?
    [[ $status == 0 ]] || fail "status $status: $(cat "$work/stderr")"
    [[ ! -s $work/stderr ]] || fail "it said: $(cat "$work/stderr")"
}

grep -qa "malloc on the dump path" "$HP_TRAP" || fail "$HP_TRAP has no trap"
case $1 in
limit)
    mkdir "$work/dumps"
    HEAPPROF_LIMIT=64M HEAPPROF_DUMP_DIR=$work/dumps run_trapped limit 80
    shopt -s nullglob
    dumps=("$work/dumps"/*.limit*.pb.gz)
    [[ ${#dumps[@]} -ge 1 ]] || fail "no dump at a limit of 64M"
    for dump in "${dumps[@]}"; do
        check_dump "$dump"
    done
    ;;
api)
    HEAPPROF_LIMIT=off run_trapped api "$work/api.pb.gz"
    check_dump "$work/api.pb.gz"
    ;;
esac
