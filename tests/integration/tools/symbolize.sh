#!/usr/bin/env bash
# symbolize.sh HEAPPROF RECORD_LIBRARY SOURCE INCLUDE_DIRECTORY LIBRARY...
#
# `heapprof symbolize` on the profile of a real program whose binary was stripped, moved, deleted or replaced, with
# its debug info in every place where it may be. What it writes is read by pprof.
set -euo pipefail
heapprof=$1 record=$2 source=$3 include=$4
shift 4
libraries=("$@")
# shellcheck source-path=SCRIPTDIR source=../../verdicts.sh
. "$(dirname "$0")/../../verdicts.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/pprof.sh
. "$(dirname "$0")/../lib/pprof.sh"
needs g++ go objcopy readelf
work=$(mktemp -d)
server=
cleanup() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
cd "$work"
unset DEBUGINFOD_URLS
export HOME=$work PPROF_TMPDIR=$work GOCACHE=${HP_GO_CACHE:-$work/cache} PPROF_BINARY_PATH=$work/nowhere

need_pprof
pprofs=("go tool pprof" "$HP_TOOLS/pprof")

build() { # compiler flags…
    "$1" -Wl,--build-id=sha1 "${@:2}" -I"$include" "$source" "$record" "${libraries[@]}" -o program/leaky
}

symbolize() { # arguments…
    rm -f out.pb.gz
    "$heapprof" symbolize "$@" -o out.pb.gz profile.pb.gz >out 2>err || fail "symbolize $*: $(cat err)"
}

said() { # text
    grep -qF -e "$1" err || fail "nothing like \"$1\" was said but: $(cat err)"
}

# The program's three sites, by the lines in the source, through inlined calls; read by tools that look nothing up.
expect_names() { # what
    local pprof
    for pprof in "${pprofs[@]}"; do
        $pprof -top -lines -symbolize=none -unit=B -nodecount=1000 out.pb.gz >top 2>complaints || fail "$1: $pprof refuses it"
        grep -v '^Generating\|^$' complaints >&2 && fail "$1: $pprof complains"
        sed -E 's/ +/ /g' top >top.short
        grep -qE "^ ?8000B 100% 100% 8000B 100% shop::grab(\(long\))? $source:13" top.short || fail "$1: grab is missing: $(cat top)"
        grep -qE " 0 0% 100% 5000B 62.50% shop::load_catalog\(?\)? $source:24" top.short || fail "$1: load_catalog is missing: $(cat top)"
        grep -qE " 0 0% 100% 3000B 37.50% shop::Cart<?.*add.* $source:18" top.short || fail "$1: Cart::add is missing: $(cat top)"
    done
    $heapprof check --strict out.pb.gz >/dev/null || fail "$1: check"
}

expect_no_names() { # what
    go tool pprof -raw -symbolize=none out.pb.gz >raw 2>/dev/null || fail "$1: pprof refuses it"
    ! grep -q 'shop::' raw || fail "$1: names from nowhere: $(cat raw)"
}

# pprof, left to itself, neither overwrites the names nor complains about the mapping.
expect_left_alone() {
    go tool pprof -raw out.pb.gz >raw 2>complaints || fail "pprof refuses it"
    ! grep -i 'leaky' complaints || fail "pprof looks at leaky again"
    grep -q "shop::grab.* $source:13" raw || fail "pprof lost the inlined call: $(cat raw)"
    sed -n '/^Mappings/,$ p' raw | grep 'program/leaky' | grep -q '\[FN\]\[FL\]\[LN\]\[IN\]' || fail "the mapping is not marked: $(cat raw)"
}

mkdir program
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || continue
    for flags in "-O0 -g" "-O2 -g" "-O2 -g -no-pie"; do
        # shellcheck disable=SC2086
        build $compiler $flags
        program/leaky profile.pb.gz
        symbolize
        expect_names "$compiler $flags"
    done
done

# Where the names come from makes no difference to a reader: one is enough from here.
pprofs=("$HP_TOOLS/pprof")
build g++ -O2 -g
program/leaky profile.pb.gz
symbolize
expect_names "as it is"
expect_left_alone
[[ $(cat out) == out.pb.gz ]] || fail "the file's name was not printed"
id=$(readelf -n program/leaky | sed -n 's/.*Build ID: //p')
ab=${id:0:2} rest=${id:2}
objcopy --only-keep-debug program/leaky leaky.debug
objcopy --strip-all program/leaky stripped
mv program/leaky full

# Gone, and nothing known about it: said, with what would mend it; the profile is written nevertheless.
symbolize
said "program/leaky: No such file or directory: its functions are shown as offsets"
said "to mend it: --search-path with a folder that has leaky or .build-id/$ab/$rest.debug"
expect_no_names "gone"

layout() { # name file path-in-the-folder
    rm -rf folder
    mkdir -p "folder/$(dirname "$3")"
    cp "$2" "folder/$3"
    symbolize --search-path folder
    expect_names "$1"
}
layout "flat" full leaky
layout "a copy of /" full "$work/program/leaky"
layout "build-id folder" full ".build-id/$ab/$rest"
layout "ids right in the folder" full "$ab/$rest"
layout "debug info alone, flat" leaky.debug leaky
layout "debug info alone, build-id folder" leaky.debug ".build-id/$ab/$rest.debug"
layout "debug info alone, ids right in the folder" leaky.debug "$ab/$rest.debug"

# The same for one that is not position independent, and one whose code lies at the start of the file.
for flags in "-no-pie" "-Wl,-z,noseparate-code"; do
    build g++ -O2 -g "$flags"
    program/leaky profile.pb.gz
    other=$(readelf -n program/leaky | sed -n 's/.*Build ID: //p')
    objcopy --only-keep-debug program/leaky other.debug
    rm program/leaky
    layout "debug info alone, $flags" other.debug "${other:0:2}/${other:2}.debug"
done
build g++ -O2 -g
program/leaky profile.pb.gz

# There, but stripped.
cp stripped program/leaky
symbolize
said "program/leaky: has no symbols: its functions are shown as offsets"
said "to mend it: --search-path with a folder that has .build-id/$ab/$rest.debug"
layout "stripped, build-id folder" leaky.debug ".build-id/$ab/$rest.debug"
layout "stripped, ids right in the folder" leaky.debug "$ab/$rest.debug"
objcopy --add-gnu-debuglink=leaky.debug stripped program/leaky
layout "debuglink, in a folder" leaky.debug leaky.debug
cp leaky.debug program/
symbolize
expect_names "debuglink, beside it"
rm program/leaky.debug

# Only names of functions.
objcopy --strip-debug full program/leaky
symbolize
said "program/leaky: has no debug info: its functions are named, without lines"

# Split debug info: beside the program; packed, which is not read; gone.
g++ -Wl,--build-id=sha1 -O2 -g -gsplit-dwarf -I"$include" -c "$source" -o part.o
g++ -Wl,--build-id=sha1 part.o "$record" "${libraries[@]}" -o program/leaky
program/leaky profile.split.pb.gz
split() { # what is said
    "$heapprof" symbolize profile.split.pb.gz -o out.pb.gz >out 2>err || fail "split: $(cat err)"
    [[ -z $1 ]] || said "program/leaky: its split debug info $1: inlined functions are not shown"
}
split ""
expect_names "split"
mv part.dwo program/
split ""
expect_names "split, beside the program"
mv program/part.dwo program/leaky.dwp
split "is in a .dwp file, which is not read"
said "to mend it: put the .dwo files where the compiler wrote them, or beside the program"
rm program/leaky.dwp
split "(.dwo files) is missing"

# Without a build id nothing is proven: the folder that the user names comes first.
build g++ -O2 -g -Wl,--build-id=none
program/leaky profile.plain.pb.gz
rm -rf folder && mkdir folder && mv program/leaky folder/
cp full program/leaky
"$heapprof" symbolize -p folder profile.plain.pb.gz -o out.pb.gz >out 2>err || fail "no build id: $(cat err)"
expect_names "no build id"
rm program/leaky

# Another build of the same name, there and in the folder: not taken.
build g++ -O1 -g
rm -rf folder && mkdir folder && cp program/leaky folder/
symbolize -p folder
said "program/leaky: another build than the one that ran (its build id is"
expect_no_names "another build"

# A second try adds what the first could not find, also in a binary of which it found something.
objcopy --strip-debug --strip-symbol=_ZN4shop12load_catalogEv full folder/leaky
symbolize -p folder
cp out.pb.gz profile.half.pb.gz
go tool pprof -raw -symbolize=none out.pb.gz >raw 2>/dev/null
grep -q 'shop::Cart' raw || fail "it should know a half: $(cat raw)"
! grep -q load_catalog raw || fail "it should know only a half: $(cat raw)"
cp full folder/leaky
"$heapprof" symbolize -p folder profile.half.pb.gz >out 2>err || fail "the second try: $(cat err)"
[[ $(cat out) == profile.half.symbolized.pb.gz ]] || fail "the default name is $(cat out)"
go tool pprof -raw -symbolize=none profile.half.symbolized.pb.gz >raw 2>/dev/null
grep -q "shop::load_catalog.* $source:24" raw || fail "the second try found nothing: $(cat raw)"
symbolize -p folder
cp profile.pb.gz same.pb.gz
"$heapprof" symbolize -p folder same.pb.gz -o same.pb.gz >/dev/null 2>err || fail "in place: $(cat err)"
cmp -s same.pb.gz out.pb.gz || fail "in place: something else"
"$heapprof" symbolize -p folder -o - - <profile.pb.gz 2>err | cmp -s - out.pb.gz || fail "standard input and output"

# debuginfod on loopback: with the binary, and with its debug info alone.
rm -f program/leaky
from_server() { # what file
    rm -rf served && mkdir served && cp "$2" served/
    local port=$((20000 + (BASHPID + RANDOM) % 20000)) i
    debuginfod --disable-source-scan -p "$port" -d "$work/served.sqlite" -F served >served.log 2>&1 &
    server=$!
    # It answers before it has looked at its files, and the client remembers a no.
    for ((i = 0; i < 100; i++)); do
        DEBUGINFOD_CACHE_PATH=$work/cache.$1.$i DEBUGINFOD_URLS=http://127.0.0.1:$port DEBUGINFOD_TIMEOUT=10 symbolize
        grep -q 'leaky: No such file' err || break
        sleep 0.1
    done
    expect_names "debuginfod with the $1"
    DEBUGINFOD_CACHE_PATH=$work/cache.none DEBUGINFOD_URLS=http://127.0.0.1:$port symbolize --no-debuginfod
    expect_no_names "--no-debuginfod"
    kill "$server"
    wait "$server" 2>/dev/null || true
    server=
    rm -f "$work"/served.sqlite*
}
if command -v debuginfod >/dev/null; then
    from_server binary full
    from_server debug-info leaky.debug
    by_debuginfod=", from debuginfod"
fi

# What is wrong is said before the work.
refused() { # status text arguments…
    local status=0
    "$heapprof" symbolize "${@:3}" >out 2>err || status=$?
    [[ $status == "$1" ]] || fail "symbolize ${*:3}: status $status"
    said "$2"
    [[ $(wc -l <err) == 1 ]] || fail "more than one line: $(cat err)"
}
refused 1 "--search-path nowhere: No such file or directory" -p nowhere profile.pb.gz
refused 1 "--search-path full: not a folder" -p full profile.pb.gz
refused 1 "nowhere/out: No such file or directory" -o nowhere/out profile.pb.gz
refused 1 "missing.pb.gz: No such file or directory" missing.pb.gz
refused 1 "full: " full
refused 2 "name the output with -o" -
refused 2 "symbolize needs a file"
[[ ! -e full.symbolized.pb.gz ]] || fail "a refused file left something behind"
echo "all as expected${by_debuginfod:-}"
