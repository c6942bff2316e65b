#!/usr/bin/env bash
# gcc and g++ with all they start: cc1, as, collect2, ld.  compiler.sh SAMPLE
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
needs gcc g++
cat >"$work/a.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void) { int n[] = {3, 1, 2}; qsort(n, 3, sizeof n[0], compare); printf("%d%d%d\n", n[0], n[1], n[2]); return 3; }
END
cat >"$work/b.cpp" <<'END'
#include <string>
int main() { return static_cast<int>(std::string("seven!!").size()); }
END
cd "$work"
same gcc -O2 -g -S -o - a.c
same gcc -O2 -fno-such-option -c a.c
echo 'int broken(' >c.c
same gcc -c c.c
for with in '' "$HP_LIBRARY"; do
    LD_PRELOAD=$with gcc -O2 -Wl,--build-id=none -o "a.${with:+with}" a.c 2>"$work/said" || fail "gcc: $(<"$work/said")"
    LD_PRELOAD=$with g++ -O1 -Wl,--build-id=none -o "b.${with:+with}" b.cpp 2>"$work/said" || fail "g++: $(<"$work/said")"
    [[ ! -s $work/said ]] || fail "said: $(<"$work/said")"
done
cmp a. a.with || fail "gcc makes another program"
cmp b. b.with || fail "g++ makes another program"
same ./a.with
same ./b.with
