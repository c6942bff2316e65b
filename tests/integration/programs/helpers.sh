# Sourced by this folder's tests after common.sh; $1 is the mean distance between samples, or off.
# shellcheck shell=bash disable=SC2154 # $work is of common.sh
if [[ ${1:?} == off ]]; then
    export HEAPPROF=off
else
    export HEAPPROF_SAMPLE=$1
fi
export HEAPPROF_LIMIT=8G HEAPPROF_DUMP_DIR=$work/dumps HEAPPROF_LOG=warn

# The command gives the same output, errors and status with heapprof as without it.
same() { # command…
    local plain=0 with=0
    "$@" >"$work/plain.out" 2>"$work/plain.err" </dev/null || plain=$?
    LD_PRELOAD=$HP_LIBRARY "$@" >"$work/with.out" 2>"$work/with.err" </dev/null || with=$?
    [[ $plain == "$with" ]] || fail "'$*': status $with, $plain without: $(tail -n 5 "$work/with.err")"
    cmp "$work/plain.out" "$work/with.out" || fail "'$*' prints something else"
    cmp "$work/plain.err" "$work/with.err" || fail "'$*' says something else: $(diff "$work/plain.err" "$work/with.err")"
    [[ -z $(ls -A "$work/dumps" 2>/dev/null) ]] || fail "'$*' leaves dumps: $(ls "$work/dumps")"
}

# Debian's own interpreter, not one that a version manager has put before it.
python=/usr/bin/python3
[[ -x $python ]] || python=python3

# The library where every user may read it.
share_library() {
    chmod 755 "$work"
    cp "$HP_LIBRARY" "$work/libheapprof.so"
    chmod 755 "$work/libheapprof.so"
    HP_LIBRARY=$work/libheapprof.so
}

soon() { # command…: until it succeeds
    local i
    for ((i = 0; i < 300; i++)); do
        if "$@" >"$work/soon" 2>&1; then return 0; fi
        sleep 0.1
    done
    return 1
}
