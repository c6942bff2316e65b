#!/usr/bin/env bash
# A program that checks the contracts itself, with everything sampled, nearly everything, and the default; and
# with heapprof off.  in_mode.sh preload|shared|static PROGRAM
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"

export HEAPPROF_LIMIT=off HEAPPROF_DUMP_DIR=$work
for sample in 1 64 auto; do
    HEAPPROF_SAMPLE=$sample quietly run_in_mode "$@"
done
HEAPPROF=off quietly run_in_mode "$@"
