#!/usr/bin/env bash
# A program that closes all descriptors and uses their numbers for its own files and sockets finds nothing of ours in
# them, and none taken.  closed_descriptors.sh preload|shared|static
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
for sample in 1 4096; do
    mkdir "$work/own"
    status=0
    HEAPPROF_LIMIT=4G HEAPPROF_SAMPLE=$sample HEAPPROF_DUMP_DIR=$work/dumps run_in_mode "$1" closer "$work/own" || status=$?
    [[ ! -e $work/own/trouble ]] || fail "$(<"$work/own/trouble")"
    [[ $status == 0 ]] || fail "status $status"
    rm -rf "$work/own"
done
