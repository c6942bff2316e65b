# Sourced by the scripts of several folders: how a test written in bash ends early.
# shellcheck shell=bash

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

skip() {
    echo "SKIP: $*" >&2
    exit 77
}

needs() { # commands…
    local command
    for command in "$@"; do
        command -v "$command" >/dev/null || skip "there is no $command here"
    done
}
