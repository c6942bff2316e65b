#!/bin/sh
# run.sh HEAPPROF
#
# `heapprof run`: what the program finds in its environment, and what is said when it can't be run. A stand-in
# for the library will do: run only has to find and preload it.
set -eu
command -v gcc >/dev/null || { echo "SKIP: gcc is not installed"; exit 77; }
work=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p build installed/bin installed/lib "with blank"
cp "$1" build/heapprof
cp "$1" installed/bin/heapprof
cp "$1" "with blank/heapprof"
echo 'int stand_in;' | gcc -shared -fPIC -x c - -o build/libheapprof.so
cp build/libheapprof.so installed/lib/
cp build/libheapprof.so "with blank/"
cp build/libheapprof.so other.so

fail() {
    echo "FAILED: $*"
    cat out err
    exit 1
}
run() { # STATUS COMMAND ARGUMENT...
    expected=$1
    shift
    status=0
    "$@" >out 2>err </dev/null || status=$?
    what=$*
    [ "$status" = "$expected" ] || fail "$what: status $status, not $expected"
}
says() { # FILE LINE
    grep -qxF -e "$2" "$1" || fail "$what: no line \"$2\" in $1"
}
hints() { # FILE TEXT
    grep -qF -e "$2" "$1" || fail "$what: no \"$2\" in $1"
    [ "$(wc -l <"$1")" = 1 ] || fail "$what: not one line"
}
unset LD_PRELOAD

run 0 build/heapprof run env
says out "LD_PRELOAD=$work/build/libheapprof.so"
run 0 installed/bin/heapprof run env
says out "LD_PRELOAD=$work/installed/lib/libheapprof.so"
run 0 env LD_PRELOAD="$work/other.so" build/heapprof run env
says out "LD_PRELOAD=$work/build/libheapprof.so:$work/other.so"

run 0 env HEAPPROF_LIMIT=1G HEAPPROF_KEEP=3 build/heapprof run --limit 128M --dump-dir=/tmp/x --service "a b" \
    --thresholds 50% --sample 64K --on-limit dump --gate-ms 0 --program all --log info --signal none \
    --dump-budget 1M -- env
for line in HEAPPROF_LIMIT=128M HEAPPROF_KEEP=3 HEAPPROF_DUMP_DIR=/tmp/x "HEAPPROF_SERVICE=a b" \
    HEAPPROF_THRESHOLDS=50% HEAPPROF_SAMPLE=64K HEAPPROF_ON_LIMIT=dump HEAPPROF_GATE_MS=0 HEAPPROF_PROGRAM=all \
    HEAPPROF_LOG=info HEAPPROF_SIGNAL=none HEAPPROF_DUMP_BUDGET=1M; do
    says out "$line"
done

# The program's own options, arguments and status are its own.
run 0 build/heapprof run echo --limit -h -- x
says out "--limit -h -- x"
run 7 build/heapprof run -- sh -c 'exit 7'

run 1 build/heapprof run ./missing
hints err "heapprof: ./missing: No such file or directory"
run 1 build/heapprof run no-such-program-anywhere
hints err "heapprof: no-such-program-anywhere: there is no such program in PATH"
: >plain
run 1 build/heapprof run ./plain
hints err "heapprof: ./plain: not an executable file"
run 1 build/heapprof run ./build
hints err "not an executable file"
run 1 build/heapprof run ""
run 1 "with blank/heapprof" run true
hints err "a path with a blank or a colon can't be preloaded"
if echo 'int main(void) { return 0; }' | gcc -static -x c - -o static 2>/dev/null; then
    run 1 build/heapprof run ./static
    hints err "./static: is linked statically"
fi
printf '#!/bin/sh\necho script\n' >script
chmod +x script
run 0 build/heapprof run ./script
says out script

rm build/libheapprof.so
run 1 build/heapprof run true
hints err "heapprof: libheapprof.so is neither beside this command nor in "
echo "all as expected"
