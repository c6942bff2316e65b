#!/usr/bin/env bash
# G16: out of descriptors a dump is written all the same, or there is none and one line says so; when there are some
# again, the next one is written.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
export HEAPPROF_LIMIT=32M HEAPPROF_DUMP_DIR=$work/dumps
mkdir "$work/dumps"

grow fds +40 .1200
no_partial_files "$work/dumps"
[[ $(wc -l <"$work/said") -le 2 ]] || fail "more than a line for each cause: $(<"$work/said")"
if [[ -z $(dumps_in "$work/dumps") ]]; then
    [[ -s $work/said ]] || fail "no dump, and not a word"
else
    read_raw "$(dumps_in "$work/dumps" | tail -n 1)" >/dev/null
    rm "$work"/dumps/*
fi

grow fds .10 fds- +40 .100
says_nothing
[[ $(reasons_in "$work/dumps") == *limit95* ]] || fail "no dump with descriptors again"
