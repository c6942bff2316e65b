#!/usr/bin/env bash
# While clients do what they can to be in the way, a process that runs into its limit makes its dumps, and has no more
# threads or descriptors than it may.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
hold preload 20 grows
comes answers "$pid"
python3 "$(dirname "$0")/hostile.py" "$XDG_RUNTIME_DIR/heapprof-$EUID/$pid.sock" "$pid" || fail "see above"
has_last_dump() {
    [[ -n $(dumps_in "$work/dumps" limit95) ]]
}
comes has_last_dump
no_partial_files "$work/dumps"
expect "the last threshold fired" True "$(state "$pid" 's["limits"][0]["thresholds"][2]["fired"] >= 1')"
