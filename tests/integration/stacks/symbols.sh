#!/usr/bin/env bash
# P27: the addresses, mappings and build ids are such that `go tool pprof`, pprof and llvm-symbolizer each name the
# sites as the program does, for a PIE and for a program at fixed addresses, started by the kernel or through ld.so.
# symbols.sh [loader]: with it, through ld.so
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
needs llvm-symbolizer readelf
export HEAPPROF_LIMIT=off HEAPPROF_SAMPLE=1 HEAPPROF_DUMP_DIR=$work HEAPPROF_SIGNAL=USR2

# Address in the file of an address in the process, by the dump's mapping and the file's program headers.
check_program() { # program
    local file=$HP_BUILD/$1 start=()
    if [[ ${2:-} == loader ]]; then
        start=("$(readelf -l "$file" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')")
        [[ -x ${start[0]} ]] || skip "no dynamic loader ${start[0]}"
    fi
    LD_PRELOAD=$HP_LIBRARY quietly "${start[@]}" "$file" "$work/sites" "$work/dump.pb.gz"
    read_raw "$work/dump.pb.gz" >"$work/raw.kept"
    local first build_id
    first=$(sed -n '/^Mappings/,$ s/^1: //p' "$work/raw.kept")
    build_id=$(readelf -n "$file" | sed -n 's/.*Build ID: //p')
    [[ $first == *" $file $build_id "* ]] || fail "the first mapping is not $file: $first"

    local name start_hex vaddr pc
    IFS=' /' read -r start_hex _ <<<"$first"
    "$HP_TOOLS/pprof" -raw "$work/dump.pb.gz" >"$work/by.pprof" 2>/dev/null
    go tool pprof -raw "$work/dump.pb.gz" >"$work/by.go" 2>/dev/null
    vaddr=$(readelf -lW "$file" | awk '$1 == "LOAD" && / R E / { print $3; exit }')
    grep '^site ' "$work/sites" | while read -r _ name low high _; do
        [[ $name == leaf_* ]] || continue
        # the location that lies in the site
        pc=$(awk -v m=M=1 '/^Locations/ { part = 1 } part && $3 == m { print $2 }' "$work/raw.kept" |
            while read -r each; do
                ((each >= 0x$low && each < 0x$high)) && echo "$each" && break
            done) || true
        [[ -n $pc ]] || fail "no location in $name"
        llvm-symbolizer --obj="$file" "$(printf '0x%x' $((pc - start_hex + vaddr)))" | head -n 1 >"$work/named"
        [[ $(<"$work/named") == "$name" ]] || fail "llvm-symbolizer names $name $(<"$work/named")"
        # the readers find the name in the file themselves
        for reader in pprof go; do
            awk -v pc="$pc" '/^Locations/ { part = 1 } part && $2 == pc { print $4 }' "$work/by.$reader" >"$work/named"
            [[ $(<"$work/named") == "$name" ]] || fail "$reader names $name '$(<"$work/named")'"
        done
    done
    # Nothing to complain about when reading with symbols either.
    for reader in "$HP_TOOLS/pprof" "go tool pprof"; do
        $reader -top "$work/dump.pb.gz" >"$work/top" 2>"$work/stderr" || fail "$reader -top: $(cat "$work/stderr")"
        grep -vE '^Some binary filenames not available|^Local symbolization failed for (libc|ld-linux)' "$work/stderr" && fail "$reader -top complains"
        grep -q "^File: $1\$" "$work/top" || fail "$reader does not know the program: $(head -n 3 "$work/top")"
    done
    return 0
}
for program in chain chain_no_pie chain_frame_pointer; do
    check_program "$program" "$@"
done
