#!/usr/bin/env bash
# A busy service with many threads: a hundred captures in a row, several at once, each sound, all merged by pprof; and
# the service goes on.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
need_pprof
export HEAPPROF_SAMPLE=64K
mkdir "$work/many"
LD_PRELOAD=$HP_LIBRARY "$1" --requests 100000000 --rate 4000 --threads 8 >"$work/log" 2>&1 &
target=$!
is_up() { "$HP_COMMAND" capture "$target" -o "$work/out.pb.gz" >/dev/null 2>&1; }
until_true is_up || fail "the service can't be captured: $(cat "$work/log")"

row() { # name number
    local i
    for ((i = 0; i < $2; i++)); do
        "$HP_COMMAND" capture --raw "$target" -o "$work/many/$1.$i.pb.gz" >/dev/null 2>>"$work/said" || echo "$1.$i" >>"$work/failed"
    done
}
row a 100
row b 10 &
row c 10 &
row d 10 &
wait %2 %3 %4
[[ ! -e $work/failed ]] || fail "failed: $(cat "$work/failed" "$work/said")"
[[ $(find "$work/many" -name '*.pb.gz' | wc -l) == 130 ]] || fail "not 130 files"
for pprof in "go tool pprof" "$HP_TOOLS/pprof"; do
    $pprof -raw -symbolize=none "$work/many"/*.pb.gz >/dev/null 2>"$work/complaints" || fail "$pprof: $(cat "$work/complaints")"
    ! grep -v '^Fetch\|^$' "$work/complaints" || fail "$pprof complains: $(cat "$work/complaints")"
done
for type in allocs growth; do
    values=inuse_space
    [[ $type != allocs ]] || values=alloc_space
    capture -t $type -d 1000 "$service"
    [[ $(wc -l <"$work/said") == 1 ]] || grep -q "too few" "$work/said" || fail "$type: it said: $(cat "$work/said")"
    read_functions $values >"$work/functions"
    grep -q 'labelset_intern\|text_reserve' "$work/functions" || fail "$type: no names in: $(cat "$work/functions")"
done
kill -0 "$target" || fail "the service has ended: $(cat "$work/log")"
! grep -q heapprof "$work/log" || fail "the service's heapprof said: $(cat "$work/log")"
