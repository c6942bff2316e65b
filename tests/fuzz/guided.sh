#!/usr/bin/env bash
# guided.sh PROJECT BUILD PROTO RUNS SOURCE... -- TARGET...: libFuzzer, guided by coverage and with AddressSanitizer,
# over the command's readers, each for a fixed number of runs from fixed random numbers. Needs clang, whatever the
# build is by. SOURCE are those of the command's rooms in PROJECT/tools, PROTO the folder of profile.pb-c.*; objects
# stay in BUILD until a source is newer. TARGET is of fuzz_TARGET.c and starts from seeds/TARGET.
set -euo pipefail
project=$1 build=$2 proto=$3 runs=$4
shift 4
sources=("$proto/profile.pb-c.c")
while [[ $1 != -- ]]; do
    sources+=("$project/tools/$1")
    shift
done
shift
command -v clang >/dev/null || { echo "SKIP: clang is not installed"; exit 77; }
mkdir -p "$build"
cd "$build"
printf 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d[0] && n < 0; }' >try.c
clang -fsanitize=fuzzer,address try.c -o try 2>try.log || { echo "SKIP: clang has no libFuzzer here"; exit 77; }

flags="-g -O1 -std=gnu11 -D_GNU_SOURCE -I$project -I$project/tools -I$project/tests -I$proto"
flags+=" -DHP_LIBDIR=\"lib\" -DHP_FULL_LIBDIR=\"/lib\" -DHP_VERSION=\"0\" -fsanitize=fuzzer-no-link,address"
# A header may be newer than an object: then all are made again.
newest=$(find "$project/tools" "$project/heapprof" -name '*.[ch]' -newer built -print -quit 2>/dev/null || true)
if [[ ! -e built || -n $newest ]]; then
    rm -f ./*.c.o rooms.a
    # shellcheck disable=SC2086
    printf '%s\n' "${sources[@]}" | xargs -P 2 -I{} bash -c 'object=${1//\//_}; shift; exec clang "$@" -o "${object#_}.o"' \
        compile {} $flags -c {} 2>compile.log || { cat compile.log; exit 1; }
    ar rcs rooms.a ./*.c.o
    touch built
fi
for target in "$@"; do
    # shellcheck disable=SC2086
    clang ${flags/fuzzer-no-link/fuzzer} "$project/tests/fuzz/fuzz_$target.c" rooms.a -o "$target" \
        -lz -ljansson -lprotobuf-c -ldw -lelf -liberty -lm
    rm -rf "corpus.$target" "fault.$target".*
    mkdir "corpus.$target"
    echo "$target: $runs runs"
    # What it found stays: a fault is repeated by `TARGET FILE`.
    "./$target" -runs="$runs" -seed=1 -max_len=4096 -rss_limit_mb=2048 -timeout=20 -print_final_stats=1 \
        -artifact_prefix="$build/fault.$target." "corpus.$target" "$project/tests/fuzz/seeds/$target" >log 2>&1 ||
        { tail -n 60 log; exit 1; }
    grep -E 'cov:' log | tail -n 1
done
