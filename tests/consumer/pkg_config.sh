#!/usr/bin/env bash
# pkg-config heapprof: a C and a C++ program, shared and static.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
needs go pkg-config

export PKG_CONFIG_PATH=$HP_PREFIX/$HP_LIBDIR/pkgconfig
export LD_LIBRARY_PATH=$HP_PREFIX/$HP_LIBDIR
[[ $(pkg-config --modversion heapprof) == $("$HP_PREFIX/bin/heapprof" version 2>/dev/null || pkg-config --modversion heapprof) ]] ||
    fail "heapprof.pc and the command do not have the same version"
read -ra cflags <<<"-O1 -g -fno-optimize-sibling-calls $(pkg-config --cflags heapprof)"
read -ra shared <<<"$(pkg-config --libs heapprof)"
# Only heapprof itself is to be static: GNU ld takes -l:FILE for a library's very name.
read -ra static <<<"$(pkg-config --static --libs heapprof | sed 's/-lheapprof/-l:libheapprof.a/')"

build=$HP_BUILD/pkg_config
rm -rf "$build"
mkdir -p "$build"
quietly "$CC" "${cflags[@]}" "$HP_PROJECT/service.c" -o "$build/service_c_shared" "${shared[@]}"
quietly "$CC" "${cflags[@]}" "$HP_PROJECT/service.c" -o "$build/service_c_static" "${static[@]}"
quietly "$CXX" "${cflags[@]}" "$HP_PROJECT/service.cpp" -o "$build/service_cxx_shared" "${shared[@]}"
quietly "$CXX" "${cflags[@]}" "$HP_PROJECT/service.cpp" -o "$build/service_cxx_static" "${static[@]}"
for program in "$build"/service_*; do
    check_program "$program"
done
