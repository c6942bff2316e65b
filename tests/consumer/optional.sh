#!/usr/bin/env bash
# HEAPPROF_OPTIONAL: one program, without heapprof, with it preloaded, and linked.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build=$HP_BUILD/optional
rm -rf "$build"
mkdir -p "$build"
flags=(-O1 -g -fPIE -pie "-I$HP_PREFIX/include")
quietly "$CC" "${flags[@]}" "$HP_PROJECT/optional.c" -o "$build/optional"
quietly "$CC" "${flags[@]}" "$HP_PROJECT/optional.c" -o "$build/optional_linked" "-L$HP_PREFIX/$HP_LIBDIR" \
    "-Wl,-rpath,$HP_PREFIX/$HP_LIBDIR" -lheapprof

expect() { # text command…
    local said
    said=$("${@:2}" "$work/dump.pb.gz" 2>&1) || fail "'${*:2}': $said"
    [[ $said == "$1" ]] || fail "'${*:2}' said '$said' instead of '$1'"
}
expect "without heapprof" "$build/optional"
[[ ! -e $work/dump.pb.gz ]] || fail "a dump without heapprof?"
expect "with heapprof" env LD_PRELOAD="$HP_PREFIX/$HP_LIBDIR/libheapprof.so" "$build/optional"
[[ -s $work/dump.pb.gz ]] || fail "no dump with heapprof preloaded"
rm "$work/dump.pb.gz"
expect "with heapprof" "$build/optional_linked"
[[ -s $work/dump.pb.gz ]] || fail "no dump with heapprof linked"
