#!/usr/bin/env bash
# An explicit limit, no cgroup: a dump at each threshold, named by its share, with the facts in its comments; the
# last one names what holds the memory.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
export HEAPPROF_SAMPLE=64K

# Slowly, so that each threshold has its own moment.
steps=()
for ((i = 0; i < 32; i++)); do steps+=(+2 .5); done
HEAPPROF_LIMIT=64M HEAPPROF_DUMP_DIR=$work/default HEAPPROF_SERVICE=my.service/1 grow "${steps[@]}"
says_nothing
[[ $(reasons_in "$work/default") =~ ^limit80\ (limit90\ )?(limit95\ ){1,3}$ ]] || fail "reasons: $(reasons_in "$work/default")"
dump=$(dumps_in "$work/default" limit95 | head -n 1)
[[ $(basename "$dump") =~ ^heapprof\.my_service_1\.[A-Za-z0-9_-]+\.[0-9]+\.[0-9]{8}T[0-9]{9}\.[0-9]\.limit95\.pb\.gz$ ]] || fail "the name: $dump"
[[ $(comment_of "$dump" reason) == limit95 && $(comment_of "$dump" limit) == $((64 << 20)) ]] || fail "the comments of $dump"
[[ $(comment_of "$dump" "limit source") == HEAPPROF_LIMIT ]] || fail "source: $(comment_of "$dump" "limit source")"
usage=$(comment_of "$dump" usage) threshold=$(comment_of "$dump" threshold)
# A fast climb is dumped a little early: what is seen is that it will be there in a moment.
((threshold == (64 << 20) * 95 / 100 && usage > (64 << 20) * 85 / 100 && usage < (64 << 20) * 103 / 100)) || fail "usage $usage, threshold $threshold"
# P16: the last one is near the peak.
dump=$(dumps_in "$work/default" limit95 | tail -n 1)
read_stacks "$dump" | awk '{ all += $4 } $5 ~ /^\[grow\];\[grow\];/ { ours += $4 }
    END { print ours, all; exit !(ours > 0.95 * all && ours > 50e6 && ours < 75e6) }' || fail "grow's memory is not what $dump shows"

HEAPPROF_LIMIT=64M HEAPPROF_THRESHOLDS='50%, 40M,75%' HEAPPROF_DUMP_DIR=$work/own grow "${steps[@]}"
says_nothing
[[ $(reasons_in "$work/own") =~ ^limit50\ (limit63\ )?(limit75\ ){1,3}$ ]] || fail "reasons: $(reasons_in "$work/own")"

# At the start one line says all of it, at level info.
HEAPPROF_LOG=info HEAPPROF_LIMIT=64M HEAPPROF_THRESHOLDS='50%, 40M,75%' HEAPPROF_DUMP_DIR=$work/start grow +1
grep -qxF "heapprof: watching 64 MiB (67108864 bytes, HEAPPROF_LIMIT); dumps at 50%, 40 MiB, 75%, to $work/start; a sample every 64 KiB" "$work/said" ||
    fail "the first line: $(<"$work/said")"

# All at once: what matters is the dump for the highest.
HEAPPROF_LIMIT=64M HEAPPROF_DUMP_DIR=$work/fast grow +70
[[ $(reasons_in "$work/fast") == *limit95* ]] || fail "reasons: $(reasons_in "$work/fast")"

# Under the limit: nothing.
HEAPPROF_LIMIT=256M HEAPPROF_DUMP_DIR=$work/under grow +60 .100
[[ -z $(ls -A "$work/under") ]] || fail "a dump without a reason"

# The end that was asked for.
for action in abort exit; do
    status=0
    (
        export HEAPPROF_LIMIT=64M HEAPPROF_ON_LIMIT=dump,$action HEAPPROF_DUMP_DIR=$work/$action LD_PRELOAD=$HP_LIBRARY
        exec "$HP_BUILD/grow" "${steps[@]}" .500 >"$work/out" 2>"$work/said"
    ) || status=$?
    [[ $action == abort && $status == 134 || $action == exit && $status == 137 ]] || fail "$action: status $status"
    says_one_line 'HEAPPROF_ON_LIMIT'
    [[ $(reasons_in "$work/$action") == *limit95* ]] || fail "$action without the last dump"
done
