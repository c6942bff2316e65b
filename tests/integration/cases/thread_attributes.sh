#!/usr/bin/env bash
# P4: a hook inside pthread_getattr_np, whose lock the caller holds, does not want that lock: every allocation sampled,
# no deadlock.  thread_attributes.sh preload|shared
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
HEAPPROF_LIMIT=4G HEAPPROF_SAMPLE=1 HEAPPROF_DUMP_DIR=$work quietly run_in_mode "$1" thread_attributes 2
[[ -z $(dumps_in "$work") ]] || fail "dumps without a reason: $(ls "$work")"
