#!/usr/bin/env bash
# install.sh BUILD_FOLDER: installs into the prefix of the consumer tests, and looks whether all is there.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

rm -rf "$HP_PREFIX"
quietly "$HP_CMAKE" --install "$1" --prefix "$HP_PREFIX"
files=(
    bin/heapprof
    include/heapprof/heapprof.h
    "$HP_LIBDIR"/{libheapprof.so,libheapprof.so.0,libheapprof.a,pkgconfig/heapprof.pc}
    "$HP_LIBDIR"/cmake/heapprof/heapprof-{config,config-version,targets}.cmake
    share/doc/heapprof/{LICENSE,NOTICE}
    share/man/man1/heapprof.1 share/bash-completion/completions/heapprof share/zsh/site-functions/_heapprof
)
for file in "${files[@]}"; do
    [[ -e $HP_PREFIX/$file ]] || fail "$file is not installed"
done
soname=$(readlink "$HP_PREFIX/$HP_LIBDIR/libheapprof.so")
[[ $soname == libheapprof.so.0 ]] || fail "libheapprof.so links to $soname"

# The package may be moved: nothing in it may name the folders that it was made in.
if grep -rlF -e "$1" -e "$HP_PREFIX" "$HP_PREFIX/$HP_LIBDIR"/{cmake,pkgconfig} "$HP_PREFIX/include"; then
    fail "these name a folder of the build"
fi
