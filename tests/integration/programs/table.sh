#!/usr/bin/env bash
# Prints the table of docs/programs.md as of this machine: what the tests of this folder run, in which version. Fails
# when a script of the folder runs a program that docs/programs.md does not list.  table.sh SAMPLE
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
here=$(cd "$(dirname "$0")" && pwd)
listed=$here/../../../docs/programs.md
PATH=$PATH:/usr/sbin

row() { # script program what command…
    local script=$1 program=$2 what=$3 said
    shift 3
    said=$("$@" 2>&1 </dev/null | grep -oE '[0-9]+\.[0-9]+[0-9a-z.+~-]*' | head -n 1) || said="not here"
    printf '| %s | %s | %s | `%s` |\n' "$program" "$said" "$what" "$script"
    grep -qF "| $program |" "$listed" || fail "docs/programs.md does not list $program"
    grep -qF "\`$script\`" "$listed" || fail "docs/programs.md does not name $script"
}
folders=(/usr/lib/postgresql/*/bin)
rustc=/usr/bin/rustc
[[ -x $rustc ]] || rustc=rustc
echo '| program | version | what it does | script |'
echo '|---|---|---|---|'
row redis.sh redis-server "load, BGSAVE, MEMORY, active defragmentation" redis-server --version
row nginx.sh nginx "three workers, gzip and proxy under load, two reloads, daemon" nginx -v
row postgres.sh PostgreSQL "initdb, pgbench, parallel queries, exceptions" "${folders[-1]}/postgres" --version
row sqlite.sh sqlite3 "indexes, triggers, JSON, full text, vacuum" sqlite3 --version
row suite.sh "CPython's test suite" "threading, subprocess, ctypes, multiprocessing by fork and spawn" /usr/bin/python3 --version
row python.sh python3 "threads, pools, subprocesses, big arrays" /usr/bin/python3 --version
row perl.sh perl "regular expressions, fork, ithreads, signals" perl -e 'printf "%vd", $^V'
row shells.sh bash "pipelines with hundreds of short children, traps" bash --version
row compiler.sh gcc "cc1, as, ld; the same programs to the byte" gcc -dumpfullversion
row own_tree.sh clang "our own tree by gcc and clang; the same objects" clang --version
row git.sh git "commit, gc --aggressive, fsck, log, grep" git --version
row filters.sh xz "with sort, tar, awk, sed, gzip, find; threads" xz --version
row rust.sh "a Rust program" "threads, channels, panics" "$rustc" --version
row node.sh node "generated code, worker threads, children, thread pool" node --version
for script in "$here"/*.sh; do
    name=$(basename "$script")
    [[ $name == helpers.sh || $name == table.sh ]] || grep -qF "\`$name\`" "$listed" || fail "docs/programs.md does not name $name"
done
