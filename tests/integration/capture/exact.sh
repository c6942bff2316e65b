#!/usr/bin/env bash
# With every allocation sampled: what is live, what a window allocates and how it changes, to the byte and by name.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
export HEAPPROF_SAMPLE=1
cp "$HP_BUILD/target" "$work/target"
start_target "$work/target"

capture "$target"
read_functions inuse_space >"$work/functions"
expect 4194304 hold_first
expect 4194304 take
expect 4194304 main
grep -q "$service (pid $target): 4.0 MiB live, .* give or take 0.0%" "$work/said" || fail "it said: $(cat "$work/said")"
[[ $(cat "$work/stdout") == "$work/out.pb.gz" ]] || fail "its name: $(cat "$work/stdout")"
go tool pprof -top -lines -symbolize=none "$work/out.pb.gz" 2>/dev/null | grep -qE 'hold_first .*/target\.c:[0-9]+' || fail "no lines"

capture_while growth "grow 1000000" shrink "churn 3000000" "grow 500000"
read_functions inuse_space >"$work/functions"
expect 1500000 grow_here
expect -4194304 hold_first
expect -2694304 main
! grep -q churn_here "$work/functions" || fail "what was freed again did not grow: $(cat "$work/functions")"
[[ $(comment_of "$work/out.pb.gz" "profile type") == growth ]] || fail "no comment"
grep -q "$service (pid $target): -2.6 MiB live in " "$work/said" || fail "it said: $(cat "$work/said")"

capture_while allocs "grow 1000000" "churn 3000000" "grow 500000"
read_functions alloc_space >"$work/functions"
expect 1500000 grow_here
expect $(((3000000 + 65535) / 65536 * 65536)) churn_here
! grep -q hold_first "$work/functions" || fail "it allocated before: $(cat "$work/functions")"
go tool pprof -raw -symbolize=none "$work/out.pb.gz" 2>/dev/null | grep -A1 '^Samples' | grep -qE '^alloc_objects/count alloc_space/bytes(\[dflt\])?$' || fail "other types"

capture_while growth
grep -q "no sample came or went in " "$work/said" || fail "nothing happened, and it said: $(cat "$work/said")"

# Another program in the same process is no end of a window.
cp "$HP_BUILD/target" "$work/other"
"$HP_COMMAND" capture -t growth -d 3600000 "$target" -o "$work/none.pb.gz" >"$work/stdout" 2>"$work/said" &
tool=$!
until_true is_in_window $tool || fail "no window"
: >"$work/target.out"
echo "exec $work/other" >&3
until_true is_ready || fail "no other program"
kill -INT $tool
! wait $tool || fail "a window over two programs"
grep -q "has started another program in the meantime" "$work/said" || fail "it said: $(cat "$work/said")"
[[ ! -e $work/none.pb.gz ]] || fail "a file of nothing"

# One of a few large objects is known well, a hundred small ones in 4 MiB at half a MiB a sample are not.
HEAPPROF_SAMPLE=512K start_target "$work/target"
capture "$target"
grep -q "too few samples to trust: a smaller HEAPPROF_SAMPLE than 512.0 KiB" "$work/said" || fail "it said: $(cat "$work/said")"
tell "grow 32000000"
capture "$target"
! grep -q "too few" "$work/said" || fail "it said: $(cat "$work/said")"
