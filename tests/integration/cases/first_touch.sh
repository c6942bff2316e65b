#!/usr/bin/env bash
# P5: a thread's first allocation, or first touch of thread-local memory, does not recurse: in a program that preloads
# heapprof, and in one that loads it late, beside the malloc that it has.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
export HEAPPROF_LIMIT=4G HEAPPROF_DUMP_DIR=$work
for sample in 1 4096; do
    HEAPPROF_SAMPLE=$sample quietly preloaded "$HP_BUILD/first_touch" "$HP_LIBRARY" "$HP_BUILD/touched_plugin.so" >"$work/out"
    [[ $(<"$work/out") == "done" ]] || fail "preloaded: $(<"$work/out")"
    status=0
    HEAPPROF_SAMPLE=$sample "$HP_BUILD/first_touch" "$HP_LIBRARY" "$HP_BUILD/touched_plugin.so" >"$work/out" 2>"$work/stderr" || status=$?
    # The loader may have no room for the library's thread-local block by then: it says so, and the program goes on.
    [[ $status == 0 && $(<"$work/out") == "done" || ($status == 3 && $(<"$work/out") == *"static TLS"*) ]] ||
        fail "loaded late: status $status: $(cat "$work/out" "$work/stderr")"
    echo "loaded late: $(<"$work/out")"
done
