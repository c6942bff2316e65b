#!/usr/bin/env bash
# Debian's redis-server, which is linked to libjemalloc.so.2 and uses its API: runs on heapprof's jemalloc instead,
# takes load, saves in a forked child, defragments, answers MEMORY, and ends as asked.  redis.sh SAMPLE
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
needs redis-server redis-cli redis-benchmark
export HEAPPROF_SIGNAL=USR2 HEAPPROF_SERVICE=redis
mkdir "$work/data" "$work/dumps"
socket=$work/data/socket
ask() {
    redis-cli -s "$socket" "$@"
}

server=
# shellcheck disable=SC2317 # the trap calls it
end() {
    [[ -z $server ]] || kill -KILL "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
LD_PRELOAD=$HP_LIBRARY redis-server --port 0 --unixsocket "$socket" --dir "$work/data" --save '' --logfile "$work/log" \
    --io-threads 2 >"$work/out" 2>"$work/said" &
server=$!
for _ in {1..100}; do
    [[ $(ask ping 2>/dev/null) == PONG ]] && break
    sleep 0.1
done
[[ $(ask ping) == PONG ]] || fail "redis does not come up: $(cat "$work/log" "$work/said")"
grep -q libheapprof "/proc/$server/maps" || fail "heapprof is not in redis-server"

redis-benchmark -s "$socket" -q -c 20 -n 4000 -r 2000 -d 100 -t set,get,incr,lpush,rpop,sadd,hset,zadd,mset >"$work/benchmark" ||
    fail "redis-benchmark: $(<"$work/benchmark")"
for i in {1..200}; do echo "SET key:$i $(printf "v%.0s" {1..50})$i"; done | ask >/dev/null
[[ $(ask get key:77) == v*77 ]] || fail "a value is lost"
[[ $(ask memory usage key:77) -gt 50 ]] || fail "MEMORY USAGE"
ask memory malloc-stats >"$work/stats"
grep -q 'Begin jemalloc statistics' "$work/stats" || fail "MEMORY MALLOC-STATS: $(head -n 3 "$work/stats")"
[[ $(ask memory purge) == OK ]] || fail "MEMORY PURGE"
ask memory doctor >"$work/answer"
[[ $(<"$work/answer") == *memory* || $(<"$work/answer") == *Sam* ]] || fail "MEMORY DOCTOR: $(<"$work/answer")"
ask memory stats >"$work/answer"
for key in peak.allocated allocator.allocated allocator.active allocator.resident; do
    value=$(grep -A1 -x "$key" "$work/answer" | tail -n 1)
    [[ $value =~ ^[0-9]+$ && $value -gt 500000 ]] || fail "MEMORY STATS, $key: $(<"$work/answer")"
done
[[ $(ask info memory | tr -d '\r' | sed -n 's/^mem_allocator://p') == jemalloc* ]] || fail "the allocator: $(ask info memory)"
allocated=$(ask info memory | tr -d '\r' | sed -n 's/^allocator_allocated://p')
[[ $allocated -gt 500000 ]] || fail "jemalloc's statistics do not reach redis: $allocated"
ask config set activedefrag yes >"$work/answer" # some builds can't
[[ $(<"$work/answer") == OK || $(<"$work/answer") == *"compiled"* ]] || fail "activedefrag: $(<"$work/answer")"

[[ $(ask bgsave) == *started* ]] || fail "BGSAVE"
for _ in {1..100}; do
    [[ $(ask info persistence | tr -d '\r' | sed -n 's/^rdb_bgsave_in_progress://p') == 0 ]] && break
    sleep 0.1
done
[[ $(ask info persistence | tr -d '\r' | sed -n 's/^rdb_last_bgsave_status://p') == ok && -s $work/data/dump.rdb ]] || fail "BGSAVE failed"

dump_on_demand() {
    kill -USR2 "$server"
    for _ in {1..100}; do
        [[ -n $(dumps_in "$work/dumps") ]] && break
        sleep 0.1
    done
    dump=$(only_dump_in "$work/dumps" signal)
    # jemalloc's background threads, which redis turns on, and the callback that jemalloc prints its statistics through
    # allocate with jemalloc on their stacks. It is never the leaf, and it is next to nothing.
    MAY_SHOW_HEAPPROF=1 read_stacks "$dump" >"$work/seen"
    awk '{ live += $4 } $5 ~ /\[libheapprof/ { ours += $4 } $5 ~ /^\[libheapprof/ { leaf++ }
         END { exit leaf > 0 || ours > 0.02 * live }' "$work/seen" || fail "heapprof in the stacks: $(grep libheapprof "$work/seen")"
    awk '{ live += $4; n++ } $5 ~ /\[redis-check-rdb\]|\[redis-server\]/ { theirs += $4 } END { print n " stacks, " live " bytes live, " theirs " in redis"
         exit !(n > 20 && theirs > 0.5 * live) }' "$work/seen" || fail "not redis's stacks: $(head "$work/seen")"
}
[[ $1 == off ]] || dump_on_demand
[[ $(ask flushall) == OK && $(ask dbsize) == 0 ]] || fail "FLUSHALL"
ask shutdown nosave || true
status=0
wait "$server" || status=$?
server=
[[ $status == 0 ]] || fail "redis-server ends with $status: $(tail -n 20 "$work/log")"
[[ ! -s $work/said ]] || fail "said: $(<"$work/said")"
if grep -iE 'crash|assert|bug report' "$work/log"; then fail "redis complains"; fi
