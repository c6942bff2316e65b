#!/usr/bin/env bash
# The installed command finds the installed library, also after the whole tree was moved.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cp -a "$HP_PREFIX" "$work/moved"
for prefix in "$HP_PREFIX" "$work/moved"; do
    "$prefix/bin/heapprof" run --dump-dir "$work" -- cat /proc/self/maps >"$work/maps" 2>"$work/said" ||
        fail "heapprof run in $prefix: $(cat "$work/said")"
    grep -qF "$prefix/$HP_LIBDIR/libheapprof.so" "$work/maps" || fail "$prefix/bin/heapprof preloads another library"
done
