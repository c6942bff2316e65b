#!/bin/sh
# top_real.sh HEAPPROF RECORD_LIBRARY SOURCE INCLUDE_DIRECTORY LIBRARY...
#
# `heapprof top` on the unsymbolized profile of a real program: right functions, lines and numbers; and what
# it says when the program is gone, was built anew, or is stripped.
set -eu
heapprof=$1 record=$2 source=$3 include=$4
shift 4
command -v g++ >/dev/null || { echo "SKIP: g++ is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset DEBUGINFOD_URLS

fail() {
    echo "FAILED: $*"
    cat out err
    exit 1
}
# gcc leaves the linkage name, and so the parameters, out of some inlined functions.
expect() { # FILE LINE: with any number of blanks
    sed -E 's/ +/ /g; s/shop::grab\(long\)/shop::grab/' "$1" | grep -qF -e "$2" || fail "no \"$2\" in $1"
}

for flags in "-O2 -g" "-O0 -g" "-O2 -g -no-pie" "-O2 -g -gdwarf-4"; do
    # shellcheck disable=SC2086
    g++ -Wl,--build-id $flags -I"$include" "$source" "$record" "$@" -o leaky
    ./leaky profile.pb.gz
    "$heapprof" check --strict profile.pb.gz >out 2>err || fail "check"
    "$heapprof" top --exact -n 0 profile.pb.gz >out 2>err || fail "top"
    [ ! -s err ] || fail "top said something"
    expect out "8000 100.0% 8000 100.0% shop::grab $source:13"
    expect out "0 0.0% 5000 62.5% shop::load_catalog() $source:24"
    expect out "0 0.0% 3000 37.5% shop::Cart<long>::add(long) $source:18"
    expect out "0 0.0% 8000 100.0% main $source:"
    expect out "leaky, request, 20"
    "$heapprof" top --exact --lines -n 0 profile.pb.gz >out 2>err || fail "top --lines"
    expect out "0 0.0% 1000 12.5% main $source:32"
    expect out "0 0.0% 2000 25.0% main $source:33"
    expect out "0 0.0% 5000 62.5% main $source:34"
done

g++ -Wl,--build-id -O2 -g -gsplit-dwarf -I"$include" "$source" "$record" "$@" -o leaky
./leaky profile.pb.gz
"$heapprof" top --exact profile.pb.gz >out 2>err || fail "split debug info"
[ ! -s err ] || fail "top said something"
expect out "8000 100.0% 8000 100.0% shop::grab $source:13"
rm ./*.dwo
"$heapprof" top --exact profile.pb.gz >out 2>err || fail "split debug info missing"
expect err "leaky: its split debug info (.dwo files) is missing: inlined functions are not shown"
expect out "5000 62.5% 5000 62.5% shop::load_catalog() $source:"

g++ -Wl,--build-id -O2 -g -I"$include" "$source" "$record" "$@" -o leaky
./leaky profile.pb.gz
cp leaky kept
mkdir debug
objcopy --only-keep-debug leaky debug/leaky.debug
objcopy --strip-all leaky
"$heapprof" top --exact profile.pb.gz >out 2>err || fail "stripped"
expect err "leaky: has no symbols: its functions are shown as offsets"
expect out " leaky+0x"

mkdir .debug
cp debug/leaky.debug .debug/
objcopy --add-gnu-debuglink=.debug/leaky.debug leaky
"$heapprof" top --exact profile.pb.gz >out 2>err || fail "debuglink"
[ ! -s err ] || fail "top said something"
expect out "8000 100.0% 8000 100.0% shop::grab $source:13"

g++ -Wl,--build-id -O2 -g -DANOTHER=1 -I"$include" "$source" "$record" "$@" -x c++ - -o leaky <<'END'
int another;
END
"$heapprof" top --exact profile.pb.gz >out 2>err || fail "another build"
expect err "leaky: another build than the one that ran"
[ "$(wc -l <err)" = 1 ] || fail "more than one line"
expect out " leaky+0x"
if grep -q shop:: out; then fail "symbols of another build"; fi

rm leaky
"$heapprof" top --exact profile.pb.gz >out 2>err || fail "no binary"
expect err "leaky: No such file or directory: its functions are shown as offsets"
mkfifo leaky
timeout 20 "$heapprof" top --exact profile.pb.gz >out 2>err || fail "a FIFO in its place"
expect err "leaky: not a regular file"
rm leaky
cp kept leaky
"$heapprof" top - <profile.pb.gz >out 2>err || fail "standard input"
expect out "7.8 KiB 100.0% 7.8 KiB 100.0% shop::grab "
if command -v go >/dev/null; then
    go tool pprof -raw profile.pb.gz >out 2>err || fail "pprof refuses the test's own profile"
fi
echo "all as expected"
