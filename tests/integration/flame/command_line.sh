#!/usr/bin/env bash
# command_line.sh HEAPPROF HEAPPROF_WITHOUT_PAGE WRITE_PROFILE PAGE_SOURCES
#
# What `heapprof flame` writes where, its exit statuses, and what it says when it was built without npm.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../../verdicts.sh"
heapprof=$1 without=$2 write_profile=$3 sources=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

run() { # STATUS ARGUMENT…
    local expected=$1 status=0
    shift
    "$heapprof" "$@" >out 2>err </dev/null || status=$?
    [[ $status == "$expected" ]] || fail "heapprof $*: status $status, not $expected: $(cat err)"
    [[ $expected == 0 || $(wc -l <err) == 1 ]] || fail "heapprof $*: not one line: $(cat err)"
    what="heapprof $*"
}
says() { # FILE TEXT
    grep -qF -e "$2" "$1" || fail "$what: no \"$2\" in $1: $(cat "$1")"
}

mkdir in
"$write_profile" in/good.pb.gz
head -c 100 in/good.pb.gz >cut.pb.gz
: >none.pb.gz

run 2 flame
says err "flame needs a file"
run 2 flame --format svg in/good.pb.gz
says err '--format takes html, folded or speedscope, not "svg"'
run 2 flame --format speedscope --base in/good.pb.gz in/good.pb.gz
says err "--base needs html or folded"
run 1 flame -f folded cut.pb.gz
says err "heapprof: cut.pb.gz: is cut short"
run 1 flame -f folded in/good.pb.gz none.pb.gz
says err "none.pb.gz: is empty"
run 1 flame -f folded --type wall in/good.pb.gz
says err "in/good.pb.gz: has no sample type wall; it has alloc_objects, alloc_space, inuse_objects, inuse_space"
run 1 flame -f folded -o missing/out in/good.pb.gz
says err "missing/out: No such file or directory"
left=$(find . -mindepth 1 ! -path './in*' ! -name out ! -name err ! -name cut.pb.gz ! -name none.pb.gz)
[[ -z $left ]] || fail "a failure left files: $left"
run 0 flame --help
grep -qE '^.{81}' out && fail "the help is wider than 80 columns"
says out "Example: heapprof flame"

# The name is made of the input's; what was there before is replaced.
echo old >good.folded
run 0 flame -f folded in/good.pb.gz
says out "good.folded: "
[[ $(head -n 1 good.folded) == "main;app::add(int);grab 100" ]] || fail "good.folded: $(cat good.folded)"
run 0 flame -f folded -o - in/good.pb.gz
cmp -s out good.folded || fail "standard output differs from the file"
[[ ! -s err ]] || fail "it said: $(cat err)"
"$heapprof" flame -f folded -o - - <in/good.pb.gz | cmp -s - good.folded || fail "standard input differs"
run 0 flame -f speedscope in/good.pb.gz
says out "good.speedscope.json: "

# Built without npm: the page is missing, and all else is there.
heapprof=$without
run 1 flame in/good.pb.gz
says err "this heapprof can make no HTML: npm and node were not found when it was built; --format folded and speedscope work"
[[ ! -e good.html ]] || fail "an empty page"
run 0 flame -f folded -o other.folded in/good.pb.gz
cmp -s other.folded good.folded || fail "other folded stacks without the page"
run 0 flame -f speedscope -o other.json in/good.pb.gz

# npm is there but can't install: the same, with another reason.
if command -v node >/dev/null; then
    cmake -DNPM="$(type -P false)" -DNODE=node -DSOURCE="$sources" -DOUTPUT="$work/page" -P "$sources/make_page.cmake" >out 2>&1 || fail "the build ended: $(cat out)"
    grep -q "npm could not install" page/page.missing || fail "page.missing: $(cat page/page.missing)"
    [[ ! -s page/page.head && ! -s page/page.tail ]] || fail "half a page"
fi

heapprof=$1
status=0
"$heapprof" flame in/good.pb.gz >out 2>err || status=$?
[[ $status == 0 ]] || skip "$(cat err)"
[[ $(head -n 1 good.html) == '<!doctype html>' && $(tail -n 1 good.html) == '</html>' ]] || fail "good.html is no page"
run 0 flame --base in/good.pb.gz in/good.pb.gz in/good.pb.gz -o - -t alloc_space
says out '"base":"in/good.pb.gz"'
says out '"shown":1,'
echo "all as expected"
