#!/usr/bin/env bash
# G20: signals storm while dumps are made: every dump is whole, no handler ever runs on a thread of heapprof's, and a
# program that waits for SIGTERM in sigwait() gets each one.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=common.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/common.sh"
status=0
env "${saw_settings[@]}" "$HP_BUILD/saw" 15 storm >"$work/out" 2>"$work/said" || status=$?
[[ $status == 42 && $(<"$work/out") == "done" ]] || fail "status $status: $(<"$work/said")"
all_are_whole
