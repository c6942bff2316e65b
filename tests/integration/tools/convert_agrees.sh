#!/bin/sh
# convert_agrees.sh HEAPPROF SOURCE
#
# `heapprof convert` on dumps that real jemalloc writes: `heapprof top` then shows what jeprof, which comes with
# jemalloc, shows of the dump itself; to the byte, but for rounding.
set -eu
heapprof=$1 source=$2
for tool in gcc jeprof; do
    command -v "$tool" >/dev/null || { echo "SKIP: $tool is not installed"; exit 77; }
done
jemalloc=$(/sbin/ldconfig -p | awk '/libjemalloc\.so\.2 / { print $NF; exit }')
[ -n "$jemalloc" ] || { echo "SKIP: libjemalloc.so.2 is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset DEBUGINFOD_URLS

fail() {
    echo "FAILED: $*"
    cat theirs ours 2>/dev/null || true
    exit 1
}
gcc -O0 -g -Wl,--build-id "$source" -o hold
dump() { # NAME OPTIONS
    MALLOC_CONF=prof:true,prof_final:true,lg_prof_sample:13,prof_prefix:$1,$2 LD_PRELOAD=$jemalloc ./hold
    mv "$1".*.heap "$1.heap"
}
dump ever prof_accum:true
dump now prof_accum:false
head -n 1 ever.heap | grep -q '^heap_v2/8192$' || { echo "SKIP: this jemalloc has no profiler"; exit 77; }

compared=0
compare() { # DUMP TYPE
    jeprof --text --show_bytes --"$2" ./hold "$1.heap" 2>jeprof.log | awk 'NF == 6 { print $6, $1, $4 }' >theirs
    "$heapprof" top --exact -n 0 --type "$2" "$1.pb.gz" 2>top.log | awk 'seen { print $5, $1, $3 } /flat%/ { seen = 1 }' >ours
    for function in small_ones middle large passing __libc_start_call_main; do
        awk -v f="$function" '$1 == f && FNR == NR { flat = $2; cum = $3; next }
            $1 == f { if ($2 - flat > 5 || flat - $2 > 5 || $3 - cum > 5 || cum - $3 > 5) exit 1; found++ }
            END { exit cum > 0 && !found }' theirs ours || fail "$1 $2 $function"
        compared=$((compared + 1))
    done
    grep -qE '^(small_ones|large) [0-9]*[1-9]' theirs || fail "jeprof shows nothing of $1"
}

for name in ever now; do
    "$heapprof" convert "$name.heap" || fail "convert of $name"
    mv "$name.heap.pb.gz" "$name.pb.gz"
    "$heapprof" check --strict "$name.pb.gz" >checked 2>&1 || { cat checked; fail "check refuses $name"; }
    for type in inuse_space inuse_objects; do
        compare $name $type
    done
done
compare ever alloc_space
compare ever alloc_objects
"$heapprof" top --type alloc_space now.pb.gz >out 2>err && fail "a dump without prof_accum has alloc_space"
grep -q 'it has inuse_objects, inuse_space$' err || fail "what it has is not said"
grep -q libjemalloc ours && fail "jemalloc's own frames are left"

# By a pipe; and what it is is said where a profile is expected.
"$heapprof" convert - <ever.heap >piped.pb.gz || fail "standard input"
"$heapprof" diff piped.pb.gz ever.pb.gz -o same.pb.gz
"$heapprof" check same.pb.gz | grep -q '^  samples  *0 stacks' || fail "the pipe makes a difference"
"$heapprof" top ever.heap >out 2>err && fail "top takes a raw dump"
grep -q 'is a raw jemalloc heap dump, not a pprof profile: heapprof convert makes one of it' err || fail "no hint"
if command -v go >/dev/null; then
    go tool pprof -raw -symbolize=none ever.pb.gz >out 2>err || fail "pprof refuses it"
fi
echo "$compared functions agree"
