#!/usr/bin/env bash
# A C program that preloads heapprof, or is linked to it, does not get a C++ runtime with it.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
needs ldd

for file in "$HP_LIBRARY" "$HP_BUILD/contracts_shared" "$HP_BUILD/contracts_static"; do
    ldd "$file" >"$work/needed" || fail "ldd $file"
    if grep -E 'stdc\+\+|libc\+\+' "$work/needed"; then
        fail "$file brings a C++ runtime"
    fi
done
HEAPPROF_SAMPLE=1 HEAPPROF_LIMIT=off HEAPPROF_DUMP_DIR=$work preloaded cat /proc/self/maps >"$work/maps"
grep -q libheapprof "$work/maps" || fail "heapprof is not there"
if grep -E 'libstdc\+\+' "$work/maps"; then
    fail "a C++ runtime is loaded into cat"
fi
