#!/usr/bin/env bash
# G16: out of descriptors there is no dump and one line; when there are some again, the next one is written.
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
export HEAPPROF_LIMIT=32M HEAPPROF_DUMP_DIR=$work/dumps
mkdir "$work/dumps"

grow fds +40 .1200
[[ -z $(ls -A "$work/dumps") ]] || fail "a file without a descriptor: $(ls -A "$work/dumps")"
[[ -s $work/said ]] || fail "in silence"
[[ $(grep -c '' "$work/said") -le 2 ]] || fail "more than a line for each cause: $(<"$work/said")"

grow fds .10 fds- +40 .100
says_nothing
[[ $(reasons_in "$work/dumps") == *limit95* ]] || fail "no dump with descriptors again"
