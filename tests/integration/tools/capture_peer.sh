#!/usr/bin/env bash
# capture_peer.sh HEAPPROF FAKE_PEER WRITE_PROFILE
#
# `heapprof capture` of processes that answer with anything but a profile, or with two known ones: what it says, and
# that it leaves nothing half-made behind.
set -euo pipefail
heapprof=$1 fake_peer=$2 write_profile=$3
# shellcheck source-path=SCRIPTDIR source=../../verdicts.sh
. "$(dirname "$0")/../../verdicts.sh"
python=$(python3 -c 'import sys; print(sys.executable)') || skip "there is no python3 here"
work=$(mktemp -d)
peer=
cleanup() {
    end_peer
    rm -rf "$work"
}
end_peer() {
    [[ -z $peer ]] || kill "$peer" 2>/dev/null || true
    [[ -z $peer ]] || wait "$peer" 2>/dev/null || true
    peer=
}
trap cleanup EXIT
trap 'echo "FAIL: line $LINENO: $BASH_COMMAND" >&2' ERR
cd "$work"
mkdir run out
unset DEBUGINFOD_URLS

start_peer() { # answers…
    end_peer
    : >peer.log
    XDG_RUNTIME_DIR=$work/run "$python" "$fake_peer" "$@" >peer.log 2>&1 &
    peer=$!
    await ready
}

await() { # a line of the peer's
    for ((i = 0; i < 300; i++)); do
        ! grep -q "$1" peer.log || return 0
        kill -0 "$peer" 2>/dev/null || break
        sleep 0.1
    done
    fail "the peer does not say $1: $(cat peer.log)"
}

refused() { # status text arguments…
    local status=0
    "$heapprof" capture "${@:3}" -o out/x.pb.gz >said 2>&1 || status=$?
    [[ $status == "$1" ]] || fail "capture ${*:3}: status $status: $(cat said)"
    grep -qF -e "$2" said || fail "capture ${*:3}: nothing like \"$2\" was said but: $(cat said)"
    [[ $(wc -l <said) == 1 ]] || fail "more than one line: $(cat said)"
    [[ -z $(ls -A out) ]] || fail "left behind: $(ls -A out)"
}

"$write_profile" heap.pb.gz
start_peer garbage
refused 1 "(pid $peer): sent a profile that is not a pprof profile" "$peer"
start_peer half
refused 1 "(pid $peer): " "$peer"
start_peer close
refused 1 "(pid $peer): " "$peer"
start_peer exit
refused 1 "(pid $peer): has exited" "$peer"
start_peer heap.pb.gz exit
refused 1 "(pid $peer): has exited" -t growth -d 10 "$peer"

# Gone during the window, which does not go on for an hour then.
start_peer heap.pb.gz
(await "answered 1" && kill "$peer") &
refused 1 "(pid $peer): has exited during the window" -t growth -d 3600000 "$peer"
peer=

start_peer heap.pb.gz
refused 2 "--duration-ms is for allocs and growth" -d 5 "$peer"
refused 2 "--profile-type takes heap, allocs or growth, not \"cpu\"" -t cpu "$peer"
refused 2 "--duration-ms takes 1 to 86400000 milliseconds (a day), not \"0\"" -t growth -d 0 "$peer"
refused 2 "--duration-ms takes 1 to" -t growth -d 99999999999999999999 "$peer"
refused 2 "capture takes one pid or service" "$peer" "$peer"
refused 1 "--search-path nowhere: No such file or directory" -p nowhere "$peer"
refused 1 "no profiled process is called nobody_here" nobody_here
refused 1 "$$ (bash) is not profiled" $$
refused 1 "4194304: there is no such process" 4194304
status=0
"$heapprof" capture "$peer" -o nowhere/x >said 2>&1 || status=$?
grep -qF "nowhere/x: No such file or directory" said || fail "a missing folder: status $status: $(cat said)"
[[ $status == 1 ]] || fail "a missing folder: status $status"

# Ctrl-C ends a window of an hour, and what there is is kept. Until it is asked for the start, the process is still a
# shell that has a handler of its own; after that it has one as soon as it waits: SIGINT is the second bit.
start_peer heap.pb.gz
"$heapprof" capture -t allocs -d 3600000 -o out/early.pb.gz "$peer" >said 2>&1 &
tool=$!
await "answered 1"
for ((i = 0; i < 300; i++)); do
    caught=$(sed -n 's/^SigCgt:\t*//p' /proc/$tool/status)
    (((0x$caught & 2) == 0)) || break
    sleep 0.1
done
kill -INT $tool
wait $tool || fail "Ctrl-C: $(cat said)"
grep -qF "nothing was sampled" said || fail "Ctrl-C: $(cat said)"
"$heapprof" check out/early.pb.gz >/dev/null || fail "Ctrl-C: no sound profile"
rm out/*

# The bytes as they came, and a name of its own in a folder.
"$heapprof" capture --raw "$peer" -o - 2>said | cmp - heap.pb.gz || fail "--raw changes the profile"
file=$("$heapprof" capture "$peer" -o out 2>said)
[[ -s $file && $file == out/heapprof.*.$peer.*.heap.pb.gz && $(ls -A out) == "${file#out/}" ]] || fail "the name is $file"
echo "all as expected"
