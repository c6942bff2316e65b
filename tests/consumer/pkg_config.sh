#!/usr/bin/env bash
# pkg-config heapprof: a C and a C++ program, shared and static.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
needs go pkg-config

export PKG_CONFIG_PATH=$HP_PREFIX/$HP_LIBDIR/pkgconfig
export LD_LIBRARY_PATH=$HP_PREFIX/$HP_LIBDIR
version="heapprof $(pkg-config --modversion heapprof)"
[[ $("$HP_PREFIX/bin/heapprof" --version) == "$version" ]] || fail "the command is not $version"
read -ra cflags <<<"-O1 -g -fno-optimize-sibling-calls $(pkg-config --cflags heapprof)"
read -ra shared <<<"$(pkg-config --libs heapprof)"
# Only heapprof itself is to be static: GNU ld takes -l:FILE for a library's very name.
read -ra static <<<"$(pkg-config --static --libs heapprof | sed 's/-lheapprof/-l:libheapprof.a/')"

build=$HP_BUILD/pkg_config
rm -rf "$build"
mkdir -p "$build"
build_program() { # compiler source program libraries…
    quietly "$1" "${cflags[@]}" "$HP_PROJECT/$2" -o "$build/$3" "${@:4}"
}
build_program "$CC" service.c service_c_shared "${shared[@]}"
build_program "$CC" service.c service_c_static "${static[@]}"
build_program "$CXX" service.cpp service_cxx_shared "${shared[@]}"
build_program "$CXX" service.cpp service_cxx_static "${static[@]}"
build_program "$CC" optional.c optional_shared "${shared[@]}"
build_program "$CC" optional.c optional_static "${static[@]}"
for program in "$build"/service_*; do
    check_program "$program"
done
expect "with heapprof" "$build/optional_shared"
expect "with heapprof" "$build/optional_static"
