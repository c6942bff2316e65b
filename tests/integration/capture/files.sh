#!/usr/bin/env bash
# Names come from the process's own files: a program and a library that were deleted, or replaced by other builds.
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
export HEAPPROF_SAMPLE=1
mkdir "$work/bin"
cp "$HP_BUILD/target" "$work/bin/target"
cp "$HP_BUILD/plugin.so" "$work/bin/plugin.so"
start_target "$work/bin/target"
tell "plugin $work/bin/plugin.so"

expect_names() { # what
    [[ $(wc -l <"$work/said") == 1 ]] || fail "$1: it said: $(cat "$work/said")"
    read_functions inuse_space >"$work/functions"
    expect 4194304 hold_first
    expect 300000 plugin_grab
    expect 300000 plugin_hold
}

capture "$target"
expect_names "in place"
capture --raw "$target"
read_functions inuse_space >"$work/functions"
! grep -q hold_first "$work/functions" || fail "--raw has names"
mv "$work/bin" "$work/away"
capture "$target"
expect_names "moved away"
rm -r "$work/away"
capture "$target"
expect_names "deleted"
mkdir "$work/bin"
cp "$HP_BUILD/plugin.so" "$work/bin/target"
cp "$HP_LIBRARY" "$work/bin/plugin.so"
capture "$target"
expect_names "replaced"

# Stripped, with debug info in a folder that is only named.
end_target
rm "$work/bin"/*
cp "$HP_BUILD/target" "$work/bin/target.full"
objcopy --strip-all "$work/bin/target.full" "$work/bin/target"
id=$(readelf -n "$work/bin/target" | sed -n 's/.*Build ID: //p')
mkdir -p "$work/debug/.build-id/${id:0:2}"
objcopy --only-keep-debug "$work/bin/target.full" "$work/debug/.build-id/${id:0:2}/${id:2}.debug"
rm "$work/bin/target.full"
start_target "$work/bin/target"
capture "$target"
grep -q "$work/bin/target: has no symbols" "$work/said" || fail "it said: $(cat "$work/said")"
capture -p "$work/debug" "$target"
read_functions inuse_space >"$work/functions"
expect 4194304 hold_first
