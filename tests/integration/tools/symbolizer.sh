#!/bin/sh
# symbolizer.sh COMPARE_WITH_ORACLE SOURCE TREATMENT COMPILER [FLAG...]
#
# Builds the fixture and compares what our resolver says about it with llvm-symbolizer.
# TREATMENT: plain; debuglink (stripped, debug info in a file beside it); stripped-debug (debug info and
# symbols without it: only .symtab); dwo-missing (split debug info whose .dwo files are gone).
set -eu
compare=$1 source=$2 treatment=$3 compiler=$4
shift 4

for tool in llvm-symbolizer "$compiler"; do
    command -v "$tool" >/dev/null || { echo "SKIP: $tool is not installed"; exit 77; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR="$work" # clang leaves .dwo files beside its temporary objects
if ! "$compiler" "$@" "$source" -o full 2>compiler.log; then
    cat compiler.log
    echo "SKIP: $compiler can't build this fixture with $*"
    exit 77
fi

case $treatment in
plain)
    "$compare" ./full
    ;;
debuglink)
    objcopy --only-keep-debug full full.debug
    objcopy --strip-all --add-gnu-debuglink=full.debug full stripped
    "$compare" ./stripped ./full
    ;;
stripped-debug)
    objcopy --strip-debug full nodebug
    "$compare" ./nodebug ./full
    ;;
dwo-missing)
    rm ./*.dwo
    "$compare" ./full
    ;;
esac
