#!/usr/bin/env bash
# All that has to pass before a change goes in, from a fresh clone on, in a quarter of an hour on two cores: the rooms and
# the command under each sanitizer, programs with the order of locks checked, all of it built by clang, too, and every
# test on what is shipped. Installs the packages it needs (as root or by sudo). Goes on after a failure; status 1 when there was one.
#
# Left out: the label soak (ctest --preset release -L soak).
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
unset LD_PRELOAD MALLOC_CONF "${!HEAPPROF@}"
export CTEST_OUTPUT_ON_FAILURE=1
jobs=$(nproc)
failed=()

step() {
    printf '\n== %s (%d s)\n' "$*" "$SECONDS"
}

build() { # preset and what differs from it: what the build says is shown only if it fails
    local preset=$1 log
    log=$(mktemp)
    step "build: $*"
    if { cmake --preset "$@" && cmake --build --preset "$preset" --parallel "$jobs"; } >"$log" 2>&1; then
        rm -f "$log"
        return 0
    fi
    tail -n 60 "$log"
    rm -f "$log"
    failed+=("the build of $preset")
    return 1
}

run_tests() { # preset, how many at once, command and options in front of ctest's own…
    local preset=$1
    step "tests: $preset"
    # Many tests race with the kernel, or with a clock: on a busy machine one may need its second try, which ctest shows.
    "${@:3}" --preset "$preset" --no-tests=error --repeat until-pass:2 -j "$2" || failed+=("the tests of $preset")
}

tools/setup.sh || exit 1

# ThreadSanitizer of gcc 12 knows the address space of older kernels only: without randomization it fits.
unrandomized=(setarch "$(uname -m)" --addr-no-randomize)
"${unrandomized[@]}" true 2>/dev/null || unrandomized=()
# The rooms' tests sleep more than they work: four at once.
if build asan -DHEAPPROF_SANITIZE=address,undefined; then # one build is one build less than two
    run_tests asan 4 "${unrandomized[@]}" ctest -L 'unit|stress|fuzz'
fi
if build tsan; then
    run_tests tsan 4 "${unrandomized[@]}" ctest -L 'unit|stress'
fi
# The order of locks is checked in an unoptimised build: real programs where they nest, by threads, forks and loaders.
if build clang -DCMAKE_BUILD_TYPE=Debug; then
    run_tests clang 2 ctest -LE soak -R '^(stress\..*_threads|integration\.(atfork|control|dlopen|fork)\..*)$'
fi
if build release; then
    run_tests release 2 ctest -LE soak
fi

if [[ ${#failed[@]} -gt 0 ]]; then
    printf 'test.sh: failed: %s\n' "${failed[@]}" >&2
    exit 1
fi
