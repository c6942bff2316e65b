#!/usr/bin/env bash
# vfork, posix_spawn, system and popen from a program whose threads allocate, every allocation sampled.
# spawn.sh preload|shared
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
HEAPPROF_LIMIT=4G HEAPPROF_SAMPLE=1 HEAPPROF_DUMP_DIR=$work quietly run_in_mode "$1" spawn 40
