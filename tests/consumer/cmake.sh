#!/usr/bin/env bash
# find_package(heapprof): a C and a C++ program, shared and static.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
needs go

build=$HP_BUILD/cmake
rm -rf "$build"
quietly "$HP_CMAKE" -S "$HP_PROJECT" -B "$build" -DCMAKE_PREFIX_PATH="$HP_PREFIX" -DCMAKE_C_COMPILER="$CC" \
    -DCMAKE_CXX_COMPILER="$CXX"
quietly "$HP_CMAKE" --build "$build"
for program in service_c_shared service_c_static service_cxx_shared service_cxx_static; do
    check_program "$build/$program"
done
expect "with heapprof" "$build/optional_shared"
expect "with heapprof" "$build/optional_static"
if readelf -d "$build/service_c_static" | grep -F libheapprof >"$work/needed"; then
    fail "service_c_static is not static: $(cat "$work/needed")"
fi
