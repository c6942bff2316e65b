#!/usr/bin/env bash
# Surroundings in which little is as usual; the application goes on, what is lost is said in a line, the rest is whole.
# hostile.sh no_proc|no_threads|no_sockets|bare|set_user_id|small_stack|no_memory_left
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
make_old_dump
restore_old_dump
export HEAPPROF_LIMIT=48M HEAPPROF_SAMPLE=16K
preloading=(/usr/bin/env LD_PRELOAD="$HP_LIBRARY" "$HP_BUILD/victim")

has_dump() {
    [[ -n $new ]] || fail "no dump: $(<"$work/said")"
}

# Without /proc nobody knows how much is in use. That is said; what malloc hands out still goes well.
no_proc() {
    needs unshare mount
    unshare --mount true 2>/dev/null || skip "no mount namespace of one's own without leave"
    # shellcheck disable=SC2016
    endure "no /proc" unshare --mount bash -c 'mount -t tmpfs none /proc && exec "$@"' - "${preloading[@]}"
    expect_whole "no /proc"
    grep -q 'could not be read' "$work/said" || has_dump
}

# A filter that forbids new threads: the application's are refused as well; allocating threads do all the work.
no_threads() {
    local error
    for error in EPERM EAGAIN; do
        restore_old_dump
        endure "no threads: $error" "$HP_BUILD/inject" "1+:$error" start:clone3 /dev/null "${preloading[@]}"
        expect_whole "no threads: $error"
        has_dump
        grep -q "can't be made" "$work/said" || fail "not a word of it: $(<"$work/said")"
    done
    restore_old_dump
    endure "no clone at all" "$HP_BUILD/inject" 1+:ENOSYS start:clone3 /dev/null "${preloading[@]}" # then clone() it is
    expect_whole "no clone3"
    has_dump
}

no_sockets() {
    local error
    for error in EPERM EACCES; do
        restore_old_dump
        endure "no sockets: $error" "$HP_BUILD/inject" "1+:$error" start:socket /dev/null "${preloading[@]}"
        expect_whole "no sockets: $error"
        has_dump
    done
}

# Not one variable but ours: no HOME, no TMPDIR, no PATH; and where dumps should go nothing can be made.
bare() {
    mkdir "$work/here"
    (
        cd "$work/here"
        endure "bare" env -i HEAPPROF_LIMIT=48M HEAPPROF_SAMPLE=16K "${preloading[@]}"
    ) >/dev/null || exit 1
    [[ -n $(dumps_in "$work/here") ]] || fail "no dump in the working folder: $(<"$work/said")"
    "$HP_COMMAND" check "$(dumps_in "$work/here" | tail -n 1)" >/dev/null || fail "not whole"
}

# What whoever runs a set-user-id program has set is not heard: no dump where they say, no limit of theirs, no word.
set_user_id() {
    needs setpriv
    [[ $EUID == 0 ]] || skip "only root can make a set-user-id program of another's"
    chmod 755 "$work"
    cp "$HP_BUILD/victim_static" "$work/victim"
    chmod 4755 "$work/victim"
    mkdir "$work/theirs"
    chmod 777 "$work/theirs"
    local as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    endure "as its owner" env HEAPPROF_DUMP_DIR="$work/theirs" "$work/victim"
    [[ -n $(dumps_in "$work/theirs") ]] || fail "root's own settings are not heard: $(<"$work/said")"
    rm "$work/theirs"/*
    endure "set-user-id" "${as[@]}" env HEAPPROF_DUMP_DIR="$work/theirs" HEAPPROF_LOG=info TMPDIR="$work/theirs" "$work/victim"
    [[ ! -s $work/said && -z $(ls -A "$work/theirs") ]] || fail "heard: $(<"$work/said") $(ls "$work/theirs")"

    # Nor is where they stand, when there is a dump to make (of a limit that they can set): it is the owner's alone.
    local name=victim$$ dumps
    cp "$work/victim" "$work/$name"
    chmod 4755 "$work/$name"
    cd "$work/theirs"
    endure "set-user-id, in a folder of theirs" prlimit --data=48000000 "${as[@]}" env HEAPPROF_DUMP_DIR="$work/theirs" \
        HEAPPROF_THRESHOLDS=50% HEAPPROF_SERVICE=theirs HEAPPROF_LOG=info HEAPPROF_SOCKET="$work/theirs" \
        MALLOC_CONF=nonsense TMPDIR="$work/theirs" XDG_RUNTIME_DIR="$work/theirs" HEAPPROF_ON_LIMIT=abort "$work/$name"
    [[ ! -s $work/said && -z $(ls -A "$work/theirs") ]] || fail "heard: $(<"$work/said") $(ls "$work/theirs")"
    dumps=$(find /tmp -maxdepth 1 -name "heapprof.$name.*" ! -name '*.limit50.*' -user root -perm 600 -type f)
    [[ -n $dumps && $dumps == "$(find /tmp -maxdepth 1 -name "*heapprof.$name.*")" ]] ||
        fail "its dumps: $(find /tmp -maxdepth 1 -name "*heapprof.$name.*" -ls)"
    find /tmp -maxdepth 1 -name "heapprof.$name.*" -delete
}

small_stack() {
    # shellcheck disable=SC2016
    endure "64 KiB of stack" bash -c 'ulimit -s 64 && exec "$@"' - "${preloading[@]}"
    expect_whole "64 KiB of stack"
    has_dump
}

# When the threshold is crossed there is not a page of address space left: the guard's thread may not be the one that
# falls over it (jemalloc needs some for a thread that comes to it first).
no_memory_left() {
    export HEAPPROF_THRESHOLDS=30%
    endure "no mmap" "$HP_BUILD/inject" 1+:ENOMEM window:mmap /dev/null "${preloading[@]}"
    expect_whole "no mmap"
}

LINES_MAX=${LINES_MAX:-4} "$1"
