#!/usr/bin/env bash
# Who can't be asked: one line says why, and the program itself runs on.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

HEAPPROF_SOCKET=off quietly true
HEAPPROF_SOCKET=off hold preload 4
says 1 "$pid (holder) has no control socket: HEAPPROF_SOCKET=off" status "$pid"
expect "why in the list" "has no control socket: HEAPPROF_SOCKET=off" "$(listed "$pid" 'p["why"]')"
! grep -q '^heapprof-socket' /proc/"$pid"/task/*/comm || fail "a thread for no socket"
[[ -z $(ls -A "$XDG_RUNTIME_DIR") ]] || fail "something was made all the same"

HEAPPROF=off hold preload 4
says 1 "$pid (holder) is not profiled: HEAPPROF=off" status "$pid"
expect "the list" "" "$(listed "$pid" 'p["why"]')"

sleep 60 &
started+=("$!")
comes grep -q sleep "/proc/$!/comm"
says 1 "$! (sleep) is not profiled: it was started without libheapprof.so" status "$!"
# … nor is one whose number a socket has that somebody else left, or listens on.
mkdir -p -m 700 "$TMPDIR/heapprof-$EUID"
python3 - "$TMPDIR/heapprof-$EUID/$!.sock" <<'END' &
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
time.sleep(60)
END
other=$!
started+=("$other")
comes test -S "$TMPDIR/heapprof-$EUID/${started[2]}.sock"
says 1 "${started[2]} (sleep) is not profiled: it was started without libheapprof.so" status "${started[2]}"
expect "the list" "" "$(listed "${started[2]}" 'p["why"]')"
kill -9 "$other"
wait "$other" 2>/dev/null || true
says 1 "${started[2]} (sleep) is not profiled: it was started without libheapprof.so" status "${started[2]}"
says 1 "no profiled process is called nothing-of-the-kind" status nothing-of-the-kind
says 1 "4194305: there is no such process" status 4194305

# A folder that others can enter, or that is a symlink: no socket, one line.
refused() { # folder words
    local socket=$1
    HEAPPROF_SOCKET=$socket hold preload 4 2>"$work/stderr"
    comes grep -q . "$work/stderr"
    expect "lines" 1 "$(wc -l <"$work/stderr")"
    grep -qF "heapprof: no control socket: $2" "$work/stderr" || fail "it says: $(<"$work/stderr")"
    says 1 "$pid (holder) has no control socket: it found no folder for one" status "$pid"
}
mkdir -m 777 "$work/open"
mkdir -m 700 "$work/real"
chmod 777 "$work/open"
ln -s real "$work/link"
refused "$work/open" "$work/open is open to others: its mode must be 0700; heapprof can't be asked"
refused "$work/link" "$work/link is no folder of its own (a symlink or a file); heapprof can't be asked"
refused "$work/not/there" "$work/not/there can't be used: No such file or directory; heapprof can't be asked"
[[ -z $(ls -A "$work/open" "$work/real" | grep sock) ]] || fail "a socket all the same"

# A relative one, or nonsense: the default stands.
HEAPPROF_SOCKET=here hold preload 4 2>"$work/stderr"
comes answers "$pid"
grep -qF 'HEAPPROF_SOCKET="here" is neither off, auto nor a folder' "$work/stderr" || fail "it says: $(<"$work/stderr")"

# A folder of one's choice, made with its mode.
HEAPPROF_SOCKET=$work/chosen hold preload 4
comes answers "$pid"
[[ -S $work/chosen/$pid.sock ]] || fail "it lies elsewhere"
expect "mode" 700 "$(stat -c %a "$work/chosen")"

# XDG_RUNTIME_DIR first; one that can't be used is passed over in silence.
XDG_RUNTIME_DIR=/proc/nothing hold preload 4 2>"$work/stderr"
comes answers "$pid"
[[ ! -s $work/stderr && -S $TMPDIR/heapprof-$EUID/$pid.sock ]] || fail "$(<"$work/stderr")"

# Nobody there at all: what to do.
if [[ $EUID == 0 ]] && unshare --mount --pid --fork --mount-proc true 2>/dev/null; then
    unshare --mount --pid --fork --mount-proc "$HP_COMMAND" list >"$work/out" || fail "an empty list is no fault"
    grep -qF 'heapprof run -- PROGRAM' "$work/out" || fail "an empty list: $(<"$work/out")"
fi
