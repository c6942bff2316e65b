#!/usr/bin/env bash
# From outside a process is found that has namespaces of its own for mounts and pids, by its number here; and two with
# the same number and a folder in common are told apart.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
needs unshare mount
container=(unshare --mount --pid --fork --kill-child)
[[ $EUID == 0 ]] && "${container[@]}" true 2>/dev/null || skip "no namespaces of one's own here"
export HP_LIBRARY HP_BUILD

# Its /run is another one than ours, and the folder lies behind an absolute symlink that means nothing here.
cat >"$work/inside" <<'END'
mount -t proc proc /proc && mount -t tmpfs tmpfs /run && mkdir /run/real && ln -s /run/real /run/by-link || exit
[[ $1 == own ]] && export XDG_RUNTIME_DIR=/run/by-link
LD_PRELOAD=$HP_LIBRARY "$HP_BUILD/holder" "$2" 20 &
wait
END
inner_pid() { # pid of unshare: the holder's number here
    local shell
    shell=$(ps -o pid= --ppid "$1" | tr -d ' ')
    ps -o pid= --ppid "$shell" | tr -d ' '
}
contain() { # own|shared: leaves the holder's number in $pid
    local i outer
    rm -f "$work/ready.$2"
    HEAPPROF_SERVICE=contained$2 "${container[@]}" bash "$work/inside" "$1" "$work/ready.$2" &
    outer=$!
    started+=("$outer")
    for ((i = 0; i < 600; i++)); do
        [[ ! -e $work/ready.$2 ]] || break
        sleep 0.05
    done
    pid=$(inner_pid "$outer")
    [[ -n $pid ]] || fail "no holder in the container"
}

contain own 1
comes answers "$pid"
own=$(state "$pid" 's["pid"]')
[[ $own != "$pid" && $own -lt 20 ]] || fail "its own number is $own, here it is $pid"
expect "service in the list" contained1 "$(listed "$pid" 'p["service"]')"
"$HP_COMMAND" status contained1 >"$work/out" || fail "not found by its service"
grep -qF "contained1, pid $pid ($own in its container) on " "$work/out" || fail "the state: $(<"$work/out")"
[[ ! -e /run/by-link && ! -e /run/real ]] || fail "it is not in a mount namespace"

# Two containers with one folder.
contain shared 2
second=$pid
comes answers "$second"
contain shared 3
third=$pid
comes answers "$third"
own=$(state "$second" 's["pid"]')
expect "the same number" "$own" "$(state "$third" 's["pid"]')"
expect "two sockets" "$own.2.sock $own.sock" "$(cd "$XDG_RUNTIME_DIR/heapprof-0" && echo "$own".*)"
expect "the second" contained2 "$(state "$second" 's["service"]')"
expect "the third" contained3 "$(state "$third" 's["service"]')"
