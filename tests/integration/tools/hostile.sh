#!/usr/bin/env bash
# hostile.sh HEAPPROF WRITE_PROFILE HOSTILE_PY DUMP
#
# Hostile files to every command that reads one: status 0, or 1 with one line that names the file; in bounded time
# and memory; and no output file after a failure. What pprof refuses is refused by ours.
set -euo pipefail
heapprof=$1 write_profile=$2 make=$3 dump=$4
for tool in python3 /usr/bin/time; do
    command -v "$tool" >/dev/null || { echo "SKIP: $tool is not installed"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/files" "$work/out"
cd "$work/files"
"$write_profile" "$work/good.pb.gz"
python3 -B "$make" "$work/good.pb.gz" "$dump"

fail() {
    echo "FAILED: $*"
    head -c 2000 "$work/said"
    exit 1
}
most_memory=1000000 # KiB; a reader may take 768 MiB for the worst file
runs=0 refused=0
run() { # FILE ARGUMENT...
    file=$1
    shift
    status=0
    /usr/bin/time -q -o "$work/cost" -f '%M' timeout 60 "$heapprof" "$@" >/dev/null 2>"$work/said" || status=$?
    runs=$((runs + 1))
    [ "$(tail -n 1 "$work/cost")" -lt "$most_memory" ] || fail "heapprof $*: takes $(tail -n 1 "$work/cost") KiB"
    [ "$status" != 0 ] || return 0
    refused=$((refused + 1))
    [ "$status" = 1 ] || fail "heapprof $*: status $status"
    [ "$(wc -l <"$work/said")" = 1 ] || fail "heapprof $*: not one line"
    grep -q "^heapprof: $file: " "$work/said" || fail "heapprof $*: the file is not named"
    [ ! -e "$work/out/x" ] || fail "heapprof $*: left a file though it failed"
}
pprof_refuses() {
    command -v go >/dev/null || return 1
    ! PPROF_TMPDIR=$work go tool pprof -raw -symbolize=none "$1" >/dev/null 2>&1
}

for file in *; do
    run "$file" check "$file"
    checked=$status
    case $file in
    dump_*)
        run "$file" convert "$file" -o "$work/out/x"
        rm -f "$work/out/x"
        continue
        ;;
    esac
    run "$file" top -n 0 --focus 'm.*n' "$file"
    for command in merge diff; do
        run "$file" $command "$file" "$file" -o "$work/out/x"
        rm -f "$work/out/x"
    done
    case $file in
    many_*|*bomb*|a_group|same_offset|deepest_stack|long_name) continue ;; # pprof takes its time, and memory
    esac
    [ "$checked" = 1 ] || ! pprof_refuses "$file" || fail "pprof refuses $file, check does not"
done
[ "$refused" -gt 100 ] && [ "$refused" -lt "$runs" ] || fail "$refused of $runs refused: the files are not what they should be"
echo "$refused of $runs refused"
