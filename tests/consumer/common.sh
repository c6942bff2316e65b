# Sourced by the consumer tests. ctest gives them, in the environment:
#   HP_PREFIX HP_LIBDIR  where heapprof is installed, and its folder for libraries below that
#   HP_PROJECT           the sources of the programs that use it
#   HP_BUILD             a folder to build in
#   HP_CMAKE CC CXX      the tools that heapprof itself was built with
# shellcheck shell=bash
set -euo pipefail

: "${HP_PREFIX:?}" "${HP_LIBDIR:?}" "${HP_PROJECT:?}" "${HP_BUILD:?}" "${HP_CMAKE:?}" "${CC:?}" "${CXX:?}"
unset LD_PRELOAD MALLOC_CONF "${!HEAPPROF@}"
export HEAPPROF_SAMPLE=1 HEAPPROF_LIMIT=off PPROF_TMPDIR=/nonexistent
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

. "$(dirname "${BASH_SOURCE[0]}")/../verdicts.sh"

quietly() { # command…: what it says is shown only if it fails
    "$@" >"$work/said" 2>&1 || fail "'$*': $(cat "$work/said")"
}

# Runs the program, which dumps, and reads the dump: the library is at work, and knows the program's functions
# from the one that allocates out to main.
check_program() { # program
    local name
    name=$(basename "$1")
    quietly "$1" "$work/$name.pb.gz"
    quietly go tool pprof -raw "$work/$name.pb.gz"
    grep -q 'inuse_space/bytes' "$work/said" || fail "$name: no inuse_space in its dump"
    "$HP_PREFIX/bin/heapprof" top --sort cum "$work/$name.pb.gz" >"$work/top" 2>&1 || fail "top: $(cat "$work/top")"
    for function in hold_the_memory serve_request main; do
        grep -qw "$function" "$work/top" || fail "$name: $function is not in its dump: $(cat "$work/top")"
    done
    echo "$name: as it should be"
}

# Runs project/optional.c's program, which says whether heapprof is there.
expect() { # text program
    local said
    said=$("$2" "$work/dump.pb.gz" 2>&1) || fail "$2: $said"
    [[ $said == "$1" ]] || fail "$2 said '$said' instead of '$1'"
}
