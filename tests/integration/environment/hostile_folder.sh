#!/usr/bin/env bash
# A dump folder where others write, too: what they have put in the place of the next dumps is not followed, opened or
# deleted, what looks like our dumps and is theirs drives none of ours out; and what we make is ours alone.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
[[ $EUID == 0 ]] || skip "only root can be two users"
needs setpriv python3
theirs=(setpriv --reuid=65534 --regid=65534 --clear-groups --)
chmod 755 "$work"
process=
trap 'exec 3>&-; [[ -z $process ]] || kill -KILL "$process" 2>/dev/null || true; rm -rf "$work"' EXIT

# One that dumps when it is told to, with the umask of many a daemon.
mkfifo "$work/in"
umask 0
mkdir -m 1777 "$work/shared"
LD_PRELOAD=$HP_LIBRARY HEAPPROF_DUMP_DIR=$work/shared HEAPPROF_SERVICE=svc HEAPPROF_KEEP=2 HEAPPROF_SIGNAL=USR2 HEAPPROF_SAMPLE=4K \
    HEAPPROF_LIMIT=1G python3 -c 'import sys; kept = [bytes(9000) for _ in range(1000)]; print("ready", flush=True); sys.stdin.read()' \
    <"$work/in" >"$work/out" 2>"$work/said" &
process=$!
exec 3>"$work/in"
wait_for() { # condition…
    local i
    for ((i = 0; i < 600; i++)); do
        ! "$@" || return 0
        sleep 0.05
    done
    fail "$*: not in 30 s: $(ls -la "$work/shared")"
}
is_ready() { [[ -s $work/out ]]; }
wait_for is_ready

ours() { find "$work/shared" -name 'heapprof.svc.*.signal.pb.gz' -type f -links 1 -user root | sort -V; } # the trap has two
newest=
has_newer() { [[ $(ours | tail -n 1) != "$newest" ]]; }
dump() {
    kill -USR2 "$process"
    wait_for has_newer
    newest=$(ours | tail -n 1)
}
dump
first=$newest
[[ $(stat -c %a "$first") == 600 ]] || fail "the dump's mode: $(stat -c %a "$first")"

# Now the names of the next ones are known. A symlink to a file, one to nothing, a FIFO, a folder, a hard link.
name() { echo "${first%.1.signal.pb.gz}.$1.signal.pb.gz"; }
[[ $(name 1) == "$first" ]] || fail "not the first: $first"
echo safe >"$work/victim"
touch "$work/shared/target" && chmod 666 "$work/shared/target"
"${theirs[@]}" ln -s "$work/victim" "$(name 2)"
"${theirs[@]}" ln -s "$work/made" "$(name 3)"
"${theirs[@]}" mkfifo "$(name 4)"
"${theirs[@]}" mkdir "$(name 5)"
"${theirs[@]}" ln "$work/shared/target" "$(name 6)" # a file that they may write to
for n in {1..9}; do # newer than all that will come, and larger
    # shellcheck disable=SC2016
    "${theirs[@]}" bash -c 'head -c 99999 /dev/zero >"$1" && touch -d 2040-01-01 "$1"' - "$work/shared/heapprof.svc.h.$n.20260101T000000000.1.limit95.pb.gz"
done
find "$work/shared" ! -user root -printf '%p %y %s %T@\n' | sort >"$work/before"
dump
[[ $newest == "$(name 7)" ]] || fail "the next dump is $newest"
dump
[[ $(<"$work/victim") == safe && ! -e $work/made && ! -s $work/shared/target ]] || fail "a link was followed"
find "$work/shared" ! -user root -printf '%p %y %s %T@\n' | sort >"$work/after"
cmp "$work/before" "$work/after" || fail "what is theirs is not as it was"
# Just after it has its name: the newest stays, and the larger of the two before.
is_rotated() { [[ $(ours | wc -l) == 2 && -e $(name 8) ]]; }
wait_for is_rotated
for file in $(ours); do
    "$HP_COMMAND" check "$file" >/dev/null || fail "$file is not whole"
done
[[ ! -s $work/said ]] || fail "said: $(<"$work/said")"

# A folder that is made, and the files in it, are ours alone whatever the umask. One that is a symlink is where it leads:
# that was its owner's wish.
mkdir "$work/real"
ln -s "$work/real" "$work/link"
HEAPPROF_DUMP_DIR=$work/link/made/below HEAPPROF_LIMIT=32M LD_PRELOAD=$HP_LIBRARY "$HP_BUILD/grow" +40 .100 >/dev/null 2>&1 || true
[[ -n $(dumps_in "$work/real/made/below") ]] || fail "no dump: $(ls -R "$work/real")"
[[ -z $(find "$work/real/made" -perm /022) ]] || fail "others may write: $(find "$work/real/made" -perm /022)"
