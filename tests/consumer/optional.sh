#!/usr/bin/env bash
# HEAPPROF_OPTIONAL: one program, without heapprof and with it preloaded. (cmake.sh and pkg_config.sh link it.)
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build=$HP_BUILD/optional
rm -rf "$build"
mkdir -p "$build"
quietly "$CC" -O1 -g -fPIE -pie "-I$HP_PREFIX/include" "$HP_PROJECT/optional.c" -o "$build/optional"

expect "without heapprof" "$build/optional"
[[ ! -e $work/dump.pb.gz ]] || fail "a dump without heapprof?"
LD_PRELOAD="$HP_PREFIX/$HP_LIBDIR/libheapprof.so" expect "with heapprof" "$build/optional"
[[ -s $work/dump.pb.gz ]] || fail "no dump with heapprof preloaded"
