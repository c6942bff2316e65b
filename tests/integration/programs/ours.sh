#!/usr/bin/env bash
# A program of this folder behaves as without heapprof.  ours.sh SAMPLE PROGRAM ARGUMENTS…
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
program=$2
shift 2
same "$HP_BUILD/$program" "$@"
