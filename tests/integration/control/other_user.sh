#!/usr/bin/env bash
# Another user's process: refused in one line, from both sides; root may ask everybody.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
[[ $EUID == 0 ]] || skip "only root can be two users"
needs setpriv
chmod 755 "$work"
cp "$HP_COMMAND" "$HP_LIBRARY" "$HP_BUILD/holder" "$work"
library=$work/${HP_LIBRARY##*/}
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --)
"${nobody[@]}" "$work/heapprof" --version >/dev/null 2>&1 || skip "another user can't run the command here"

# Ours, asked by nobody.
hold preload 4
comes answers "$pid"
status=0
"${nobody[@]}" "$work/heapprof" status "$pid" >"$work/out" 2>"$work/err" || status=$?
[[ $status == 1 ]] || fail "status $status"
expect "what it says" "heapprof: $pid belongs to root: ask as that user, or as root" "$(<"$work/err")"
"${nobody[@]}" "$work/heapprof" list >"$work/out" || fail "no list for another user"
grep -qE '[0-9]+ processes of other users could not be looked at; root sees them\.' "$work/out" || fail "the list: $(<"$work/out")"
! grep -qE "^ *$pid " "$work/out" || fail "the list shows it: $(<"$work/out")"
# The folder itself keeps nobody out.
! "${nobody[@]}" ls "$XDG_RUNTIME_DIR/heapprof-0" 2>/dev/null || fail "the folder is open"

# Nobody's, asked by root and by nobody.
install -d -m 700 -o 65534 "$work/theirs"
rm -f "$work/theirs/ready"
XDG_RUNTIME_DIR=$work/theirs HEAPPROF_DUMP_DIR=$work/theirs "${nobody[@]}" env LD_PRELOAD="$library" "$work/holder" "$work/theirs/ready" 4 &
pid=$!
started+=("$pid")
comes test -e "$work/theirs/ready"
comes answers "$pid"
[[ -S $work/theirs/heapprof-65534/$pid.sock ]] || fail "the socket lies elsewhere: $(find "$work/theirs")"
expect "its place in root's list" True "$(listed "$pid" 'p["reachable"]')"
"${nobody[@]}" "$work/heapprof" status "$pid" >/dev/null || fail "its own user can't ask"

# A set-user-id program takes no folder from the environment of who runs it.
cp "$HP_BUILD/holder_static" "$work/set-uid"
chown 65534 "$work/set-uid"
chmod 4755 "$work/set-uid"
install -d -m 700 -o 65534 "$work/chosen" "$work/secure"
HEAPPROF_SOCKET=$work/chosen "$work/set-uid" "$work/secure/ready" 4 2>"$work/err" &
pid=$!
started+=("$pid")
comes test -e "$work/secure/ready"
if [[ $(awk '$1 == "Uid:" { print $3 }' "/proc/$pid/status") == 65534 ]]; then # not where set-user-id is ignored
    comes answers "$pid"
    [[ -z $(ls -A "$work/chosen") ]] || fail "it took the folder from the environment"
    [[ -S /tmp/heapprof-65534/$pid.sock ]] || fail "the socket lies elsewhere"
    rm -f "/tmp/heapprof-65534/$pid.sock"
    rmdir --ignore-fail-on-non-empty /tmp/heapprof-65534
fi
