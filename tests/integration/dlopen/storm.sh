#!/usr/bin/env bash
# P1: dlopen and dlclose in eight threads while eight allocate, every allocation sampled; nothing hangs.
# storm.sh preload|shared SECONDS
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
HEAPPROF_LIMIT=4G HEAPPROF_SAMPLE=1 HEAPPROF_DUMP_DIR=$work quietly run_in_mode "$1" loader "$2" "$HP_BUILD"/plugin[1-4].so
[[ -z $(dumps_in "$work") ]] || fail "dumps without a reason: $(ls "$work")"
