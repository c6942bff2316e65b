#!/usr/bin/env bash
# MALLOC_CONF configures jemalloc.  malloc_conf.sh preload|shared|static
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
mode=$1
export HEAPPROF_LIMIT=off HEAPPROF_SAMPLE=1 HEAPPROF_DUMP_DIR=$work

MALLOC_CONF=narenas:1,dirty_decay_ms:1234 quietly run_in_mode "$mode" malloc_conf >"$work/out"
[[ $(<"$work/out") == "narenas 1 dirty_decay_ms 1234" ]] || fail "MALLOC_CONF is not heard: $(<"$work/out")"

MALLOC_CONF=stats_print:true run_in_mode "$mode" malloc_conf >"$work/out" 2>"$work/stats" || fail "status $?"
grep -q 'Begin jemalloc statistics' "$work/stats" || fail "stats_print prints nothing at exit"

MALLOC_CONF=junk:true,zero:false run_in_mode "$mode" malloc_conf >"$work/out" 2>"$work/stats" || fail "junk: status $?"

# What jemalloc does not know it complains of itself, once, and goes on.
MALLOC_CONF=no_such:1 run_in_mode "$mode" malloc_conf >"$work/out" 2>"$work/stats" || fail "unknown: status $?"
grep -q 'no_such' "$work/stats" || fail "an unknown option passes in silence"
