#!/usr/bin/env bash
# gcc and clang compile files of our own tree: the same objects, to the last byte.  own_tree.sh SAMPLE FILES…
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
shift
needs gcc clang
cd "$(dirname "$0")/../../.."
for file in "$@"; do
    for compiler in gcc clang; do
        for with in plain preloaded; do
            library=
            [[ $with == plain ]] || library=$HP_LIBRARY
            LD_PRELOAD=$library "$compiler" -std=c11 -D_GNU_SOURCE -O2 -g -I. -Iinclude -c "$file" -o "$work/$with.o" 2>"$work/said" ||
                fail "$compiler $file: $(<"$work/said")"
            [[ ! -s $work/said ]] || fail "$compiler $file said: $(<"$work/said")"
        done
        cmp "$work/plain.o" "$work/preloaded.o" || fail "$compiler makes another object of $file"
    done
done
[[ -z $(ls -A "$work/dumps" 2>/dev/null) ]] || fail "dumps: $(ls "$work/dumps")"
