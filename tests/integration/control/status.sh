#!/usr/bin/env bash
# A running program is listed, tells its state, and its socket goes with it.  status.sh preload|shared|static
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
mode=$1
export HEAPPROF_SERVICE=svc$$
hold "$mode" 40
comes answers "$pid"
socket=$XDG_RUNTIME_DIR/heapprof-$EUID/$pid.sock
[[ -S $socket ]] || fail "no socket"
expect "mode of the folder" 700 "$(stat -c %a "${socket%/*}")"

expect service "svc$$" "$(listed "$pid" 'p["service"]')"
expect reachable True "$(listed "$pid" 'p["reachable"]')"
"$HP_COMMAND" list >"$work/out"
grep -qE "^ *$pid  svc$$ +[0-9a-f]{8} +[0-9.]+ MiB +100.0 MiB +[0-9.]+ MiB +100.0 KiB +0$" "$work/out" || fail "the list: $(<"$work/out")"

expect limit 104857600 "$(state "$pid" 's["memory"]["limit"]')"
expect source HEAPPROF_LIMIT "$(state "$pid" 's["memory"]["source"]')"
expect period 102400 "$(state "$pid" 's["samples"]["period"]')"
# 40 MiB in 64 KiB pieces, one in 1.5 sampled or so; the rest of a process is a few MiB.
expect usage True "$(state "$pid" '40 << 20 < s["memory"]["usage"] < 60 << 20')"
expect samples True "$(state "$pid" '200 < s["samples"]["taken"] <= 700 and 200 < s["samples"]["live"] <= s["samples"]["taken"]')"
rss=$(awk '$1 == "VmRSS:" { print $2 * 1024 }' "/proc/$pid/status")
expect "usage beside the kernel's number" True "$(state "$pid" "abs(s['memory']['usage'] - $rss) < 4 << 20")"
expect "thresholds" "[80, 90, 95]" "$(state "$pid" '[t["percent"] for t in s["limits"][0]["thresholds"]]')"
expect "fired" "[0, 0, 0]" "$(state "$pid" '[t["fired"] for t in s["limits"][0]["thresholds"]]')"
build_id=$(readelf -n "/proc/$pid/exe" | sed -n 's/.*Build ID: //p')
expect "build id" "$build_id" "$(state "$pid" 's["build_id"]')"
"$HP_COMMAND" status "svc$$" >"$work/out" || fail "not found by its service"
grep -qF "svc$$, pid $pid on " "$work/out" || fail "the state: $(<"$work/out")"
! grep -qE '^.{81}' "$work/out" || fail "wider than 80 columns: $(<"$work/out")"

# Two of one service: which?
first=$pid
hold "$mode" 88
comes answers "$pid"
status=0
"$HP_COMMAND" status "svc$$" >"$work/out" 2>"$work/err" || status=$?
[[ $status == 1 && ! -s $work/out ]] || fail "status $status of two"
grep -qF "2 processes are called svc$$" "$work/err" || fail "two: $(<"$work/err")"
grep -qF "heapprof status $first" "$work/err" || fail "two: $(<"$work/err")"

# The second has passed 80 %, so fast that a higher threshold may be foreseen: the dump that it tells of is there.
has_dump() {
    [[ $(state "$pid" 's["dumps"]["written"]') -ge 1 ]]
}
comes has_dump
path=$(state "$pid" 's["dumps"]["last"]["path"]')
expect "size of the dump" "$(stat -c %s "$path")" "$(state "$pid" 's["dumps"]["last"]["bytes"]')"
expect "fired for the dump" True "$(state "$pid" '[t["fired"] >= 1 for t in s["limits"][0]["thresholds"] if s["dumps"]["last"]["reason"] == "limit%d" % t["percent"]][0]')"
expect "usage when it fired" True "$(state "$pid" 'all(20 << 20 < t["last"]["usage"] < 104857600 for t in s["limits"][0]["thresholds"] if t["fired"])')"
expect "peak and percentiles" True "$(state "$pid" 's["percentiles"]["p50"] <= s["percentiles"]["p999"] <= s["memory"]["peak"] == s["percentiles"]["max"]')"

# Before and after.
"$HP_COMMAND" status --json "$first" >"$work/before"
"$HP_COMMAND" status --json "$pid" >"$work/after"
"$HP_COMMAND" status --diff "$work/before" "$work/after" >"$work/out" || fail "no difference"
grep -qE '^max +[0-9.]+ MiB +[0-9.]+% +[0-9.]+ MiB +[0-9.]+%   \+[0-9.]+ MiB$' "$work/out" || fail "the difference: $(<"$work/out")"

# It is watched until its end, which is said.
"$HP_COMMAND" status --watch "$first" >"$work/out" 2>"$work/err" &
watcher=$!
sleep 1.5
kill -9 "$first"
status=0
wait "$watcher" || status=$?
[[ $status == 1 && $(grep -c '^usage  ' "$work/out") -ge 2 ]] || fail "the watch: status $status, $(<"$work/out")"
grep -qF "$first (svc$$) has exited" "$work/err" || fail "the watch: $(<"$work/err")"
says 1 "$first: " status "$first"

# A killed process leaves its socket; the next one takes it away.
[[ -S $socket ]] || fail "who removed it?"
hold "$mode" 1
comes answers "$pid"
[[ ! -e $socket ]] || fail "a dead process's socket is still there"
# One that ends by itself leaves none.
for ((i = 0; i < 3; i++)); do
    become "$mode" brief 200 &
    brief=$!
    wait "$brief" || fail "brief: $?"
    [[ ! -e ${socket%/*}/$brief.sock ]] || fail "a socket is left"
done
