#!/usr/bin/env bash
# heapprof's unwinder and libunwind see the same frames in the stacks of real programs: interpreters, compilers with
# their linker, plugins, threads, a library of a hundred megabytes.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
needs python3 git gcc g++ clang perl cmake xz
export TWO_UNWINDERS=$work/seen

watched() { # command…
    LD_PRELOAD=$HP_BUILD/two_unwinders.so "$@" >"$work/out" 2>"$work/err" || fail "'$*': $(tail -n 5 "$work/err")"
}
cat >"$work/a.cpp" <<'END'
#include <map>
#include <regex>
#include <string>
int main() { std::map<std::string, std::regex> m; m.emplace("a", std::regex("a+b*")); return std::regex_match("aab", m["a"]); }
END
export PYTHONMALLOC=malloc # none of its own pools
watched python3 -s -B -c 'import ast, ctypes, decimal, hashlib, json, re, sqlite3, ssl, threading, zlib
texts = [json.dumps({str(i): [i] * 9}) for i in range(2000)]
threads = [threading.Thread(target=lambda: [json.loads(t) for t in texts]) for _ in range(3)]
for t in threads: t.start()
for t in threads: t.join()
ast.parse("def f(a):\n  return [a for a in range(a) if a]\n" * 300)
db = sqlite3.connect(":memory:"); db.execute("create table t(a)")
db.executemany("insert into t values (?)", ((t,) for t in texts)); db.execute("select count(*) from t group by a").fetchall()
hit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: len(json.dumps([1])) and 0)
ctypes.CDLL(None).qsort(ctypes.create_string_buffer(64), 16, 4, hit)'
unset PYTHONMALLOC
watched git init -q "$work/repository"
cp "$0" "$work/repository/file"
watched git -C "$work/repository" add file
watched git -C "$work/repository" -c user.name=a -c user.email=a@example -c commit.gpgsign=false commit -qm one
watched git -C "$work/repository" log -p --stat
watched gcc -O2 -g -x c -o "$work/small" - <<<'int main(void) { return 0; }'
watched g++ -O1 -fsyntax-only "$work/a.cpp"
watched clang -O1 -x c -c -o "$work/small.o" - <<<'int main(void) { return 0; }'
# shellcheck disable=SC2016 # perl's variables
watched perl -e '%h = map { $_ => [$_ x 9] } 1..3000; print join ",", sort { $h{$a}[0] cmp $h{$b}[0] } keys %h'
watched cmake --help-full
watched xz -T2 -k -c "$HP_LIBRARY"

cat "$work/seen"
awk '/ compared / { n += $3; different += $4; programs++; name[$1] }
     END { for (i in name) kinds++; exit !(different == 0 && n > 20000 && kinds >= 10) }' "$work/seen" ||
    fail "the unwinders differ, or did not see enough"
