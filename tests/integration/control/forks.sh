#!/usr/bin/env bash
# Children have sockets of their own, and one that execs takes its old name; a program that closes all descriptors, or
# writes a title over its environment, is found all the same.  forks.sh preload|shared|static
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
mode=$1

hold "$mode" 4 forks
comes answers "$pid"
mapfile -t children < <(ps -o pid= --ppid "$pid" | tr -d ' ')
started+=("${children[@]}")
[[ ${#children[@]} == 3 ]] || fail "children: ${children[*]}"
for child in "${children[@]}"; do
    comes answers "$child"
    expect "a child's number" "$child" "$(state "$child" 's["pid"]')"
    expect "a child's name" holder "$(state "$child" 's["service"].split("_")[0]')"
    expect "its place" True "$(listed "$child" 'p["reachable"]')"
done
kill -9 "${children[0]}"
answers "$pid" >/dev/null || fail "the parent's socket went with the child"
answers "${children[1]}" >/dev/null || fail "a sibling's socket went with the child"

hold "$mode" 4 closes
comes answers "$pid"
answers "$pid" >/dev/null || fail "no second answer"
expect "descriptors" 0 "$(find "/proc/$pid/fd" -type l | wc -l)"

# Its folder is known from its environment only, and that is gone: the kernel's list of sockets has it.
TMPDIR=$work/tmp XDG_RUNTIME_DIR='' hold "$mode" 4 titles
comes answers "$pid"
! grep -qa TMPDIR "/proc/$pid/environ" || fail "the environment is still there"
[[ -S $work/tmp/heapprof-$EUID/$pid.sock ]] || fail "the socket lies elsewhere"

hold "$mode" 4 execs
comes answers "$pid"
expect "its socket" "$pid.sock" "$(cd "$XDG_RUNTIME_DIR/heapprof-$EUID" && ls | grep "^$pid\.")"
