#!/usr/bin/env bash
# P3: beside a preloaded dl_iterate_phdr that calls dlsym and allocates, in front of heapprof or behind it,
# programs start, exceptions work, and stacks are whole.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
export HEAPPROF_LIMIT=off HEAPPROF_SAMPLE=1 HEAPPROF_DUMP_DIR=$work HEAPPROF_SIGNAL=USR2
wrapper=$HP_BUILD/phdr_wrapper.so

for order in "$wrapper:$HP_LIBRARY" "$HP_LIBRARY:$wrapper"; do
    LD_PRELOAD=$order timeout 20 true || fail "true does not start under $order: status $?"
    LD_PRELOAD=$order quietly timeout 50 "$HP_BUILD/exceptions" "$HP_BUILD/plugin_throwing.so" 1
    cp "$HP_BUILD/plugin1.so" "$work/gone.so"
    LD_PRELOAD=$order quietly timeout 20 "$HP_BUILD/gone" "$work/dump.pb.gz" 1000 "$work/gone.so" >/dev/null
    read_stacks "$work/dump.pb.gz" | grep -E '^1 1000 1 1000 \[gone.so\];\[gone\];\[libc' || fail "no whole stack under $order"
done
