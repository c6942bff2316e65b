# Sourced by this folder's tests after common.sh.
# shellcheck shell=bash disable=SC2154 # $work is of common.sh
export HEAPPROF_DUMP_DIR=$work/dumps
export HEAPPROF_GATE_MS=20000 # the victim ends right after: on a busy machine no dump shall be cut off by that

# The victim under heapprof: as it is without, on time, and what heapprof says are few lines, its own. What it says
# is $work/said.
endure() { # what-for command…
    local what=$1 status=0
    shift
    timeout -s KILL 60 "$@" >"$work/out" 2>"$work/said" </dev/null || status=$?
    [[ $status != 77 ]] || skip "seccomp's user notification is not to be had here"
    [[ $status == 42 && $(<"$work/out") == "done" ]] || fail "$what: status $status, '$(<"$work/out")': $(<"$work/said")"
    [[ $(wc -l <"$work/said") -le ${LINES_MAX:-3} ]] || fail "$what: more than ${LINES_MAX:-3} lines: $(<"$work/said")"
    if grep -v '^heapprof: ' "$work/said"; then fail "$what: not heapprof's line"; fi
}

# A real dump from before, which has to stay as it is.
make_old_dump() {
    mkdir -p "$work/dumps"
    HEAPPROF_LIMIT=48M LD_PRELOAD=$HP_LIBRARY "$HP_BUILD/victim" >"$work/out" || true
    local dump
    dump=$(dumps_in "$work/dumps" | tail -n 1)
    [[ -n $dump ]] || fail "the victim makes no dump"
    mv "$dump" "$work/old"
    rm -rf "$work/dumps"
}
restore_old_dump() {
    rm -rf "$work/dumps" "$TMPDIR"
    mkdir "$work/dumps" "$TMPDIR"
    old=$work/dumps/heapprof.victim.old.1.20200101T000000000.1.limit80.pb.gz
    cp -p "$work/old" "$old"
}

# Whatever is there is whole: by heapprof check, and the old dump to the byte. Sets `new` to the new ones.
expect_whole() { # what-for
    cmp "$work/old" "$old" || fail "$1: the old dump is not as it was"
    new=$(find "$work/dumps" "$TMPDIR" -name '*.pb.gz' ! -path "$old")
    local dump
    for dump in $new; do
        "$HP_COMMAND" check "$dump" >"$work/checked" 2>&1 || fail "$1: $dump is not whole: $(<"$work/checked")"
    done
}
