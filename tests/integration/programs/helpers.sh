# Sourced by this folder's tests after common.sh; $1 is the mean distance between samples.
# shellcheck shell=bash disable=SC2154 # $work is of common.sh
export HEAPPROF_SAMPLE=${1:?} HEAPPROF_LIMIT=8G HEAPPROF_DUMP_DIR=$work/dumps HEAPPROF_LOG=warn

# The command gives the same output, errors and status with heapprof as without it.
same() { # command…
    local plain=0 with=0
    "$@" >"$work/plain.out" 2>"$work/plain.err" </dev/null || plain=$?
    LD_PRELOAD=$HP_LIBRARY "$@" >"$work/with.out" 2>"$work/with.err" </dev/null || with=$?
    [[ $plain == "$with" ]] || fail "'$*': status $with, $plain without: $(tail -n 5 "$work/with.err")"
    cmp "$work/plain.out" "$work/with.out" || fail "'$*' prints something else"
    cmp "$work/plain.err" "$work/with.err" || fail "'$*' says something else: $(diff "$work/plain.err" "$work/with.err")"
    [[ ! -e $work/dumps ]] || fail "'$*' leaves dumps: $(ls "$work/dumps")"
}

