#!/usr/bin/env bash
# Root looks at a container whose owner has arranged its files so that a visitor opens what it should not: no link leads
# out of the container, nothing but regular files is opened, nobody but the target is asked, and nothing is written there.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
needs unshare setpriv objcopy python3
unshare --mount --pid --fork true 2>/dev/null || skip "no namespaces may be made here"
# Who may open mapped files needs no path; this is about paths.
setpriv --bounding-set=-sys_admin,-checkpoint_restore --inh-caps=-all true 2>/dev/null || skip "capabilities can't be left out here"
command=$HP_COMMAND
printf '#!/bin/sh\nexec timeout 60 setpriv --bounding-set=-sys_admin,-checkpoint_restore --inh-caps=-all %s "$@"\n' "$command" >"$work/limited"
chmod +x "$work/limited"
HP_COMMAND=$work/limited
export HEAPPROF_SAMPLE=1
openers=()
end_openers() {
    [[ ${#openers[@]} == 0 ]] || kill -KILL "${openers[@]}" 2>/dev/null || true
    [[ ${#openers[@]} == 0 ]] || wait "${openers[@]}" 2>/dev/null || true
    openers=()
}
trap 'end_openers; end_target; rm -rf "$work"' EXIT

# The plugin as it is usually shipped: its debug info has a link.
make_root
objcopy --only-keep-debug "$HP_BUILD/plugin.so" "$work/plugin.debug"
objcopy --strip-debug --add-gnu-debuglink="$work/plugin.debug" "$HP_BUILD/plugin.so" "$work/plugin.so"
cp "$work/plugin.so" "$root/plugin.so"
start_in_root
tell "plugin /plugin.so"

has_names() { # yes|no what-for
    read_functions inuse_space >"$work/functions"
    expect 4194304 hold_first
    case $1 in
        yes) grep -q "^300000 plugin_grab" "$work/functions" || fail "$2: no names: $(cat "$work/said" "$work/functions")" ;;
        no) ! grep -q plugin_grab "$work/functions" || fail "$2: names from outside" ;;
    esac
}
has_line() { # yes|no what-for: of the debug info
    local has=no
    read_raw "$work/out.pb.gz" >"$work/text"
    ! grep -q 'plugin_grab.*plugin\.c:' "$work/text" || has=yes
    [[ $has == "$1" ]] || fail "$2: lines: $has"
}

capture "$inner"
has_names yes "a plain file"
has_line no "no debug file"
mkdir -p "$root/.debug"
cp "$work/plugin.debug" "$root/.debug/"
capture "$inner"
has_line yes "a debug file in .debug"
mv "$root/.debug/plugin.debug" "$root/plugin.debug"
capture "$inner"
has_line yes "a debug file beside it"
rm "$root/plugin.debug"

# A link to a file outside, with the right build id: not followed. The same in its root: that is its file.
ln -sf "$work/plugin.so" "$root/plugin.so"
capture "$inner"
has_names no "a link out of the root"
mkdir -p "$root$work"
cp "$work/plugin.so" "$root$work/plugin.so"
capture "$inner"
has_names yes "a link that has a meaning inside only"
rm -r "${root:?}$work" "$root/plugin.so"
cp "$work/plugin.so" "$root/plugin.so"
ln -s "$work/plugin.debug" "$root/plugin.debug"
capture "$inner"
has_line no "a link to debug info outside"
rm "$root/plugin.debug"

# FIFOs where a file is looked for. Whoever opened one would let the process behind it go on.
trap_at() { # path…
    local path
    for path in "$@"; do
        mkdir -p "$(dirname "$path")"
        rm -f "$path"
        mkfifo "$path"
        (exec 4>"$path" && touch "$work/opened") 2>/dev/null &
        openers+=($!)
    done
}
id=$(readelf -n "$work/plugin.so" | sed -n 's/.*Build ID: //p')
trap_at "$root/plugin.debug" "$root/.debug/plugin.debug" "$root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
capture "$inner"
has_names yes "FIFOs for debug info"
trap_at "$root/plugin.so"
capture "$inner"
grep -q 'plugin.so: not a regular file' "$work/said" || fail "a FIFO for a binary: $(cat "$work/said")"
[[ ! -e $work/opened ]] || fail "a FIFO was opened"
end_openers

# The socket: a link to another one, of somebody else, is not knocked at.
cat >"$work/listen.py" <<'END'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
open(sys.argv[1] + ".ready", "w").close()
s.accept()
open(sys.argv[1] + ".asked", "w").close()
END
python3 "$work/listen.py" "$work/other.sock" &
openers+=($!)
until_true test -e "$work/other.sock.ready" || fail "no listener"
sockets=$root/tmp/heapprof-0
mv "$sockets/1.sock" "$sockets/1.2.sock"
ln -s "$work/other.sock" "$sockets/1.sock"
capture "$inner"
rm "$sockets/1.2.sock"
status=0
"$HP_COMMAND" capture "$inner" -o "$work/none" >"$work/stdout" 2>"$work/said" || status=$?
[[ $status == 1 && $(wc -l <"$work/said") == 1 && ! -e $work/none ]] || fail "a link for a socket: status $status: $(cat "$work/said")"
"$HP_COMMAND" list >/dev/null || fail "no list"
rm "$sockets/1.sock"
ln "$work/other.sock" "$sockets/1.sock" # no link now: it is connected to, and found to be another's
"$HP_COMMAND" capture "$inner" -o "$work/none" >"$work/stdout" 2>"$work/said" && fail "another process was captured"
grep -q 'another process listens' "$work/said" || fail "said: $(cat "$work/said")"
until_true test -e "$work/other.sock.asked" || fail "the listener does not work: the test shows nothing"
end_openers

# Where the result goes is ours to say, whatever the target calls itself.
find "$root" -printf '%p %T@\n' | sort >"$work/before"
mkdir "$work/here"
end_target
HEAPPROF_SERVICE="../../..$root/x" start_in_root
(cd "$work/here" && "$HP_COMMAND" capture "$inner" >"$work/stdout" 2>"$work/said") || fail "$(cat "$work/said")"
[[ $(find "$work/here" -type f | wc -l) == 1 && $(ls "$work/here") != */* ]] || fail "the result: $(<"$work/stdout")"
find "$root" ! -path "$root/tmp*" -printf '%p %T@\n' | sort >"$work/after"
grep -v "^$root/tmp" "$work/before" | cmp - "$work/after" || fail "something was written in its root"
