#!/usr/bin/env bash
# C++ exceptions work while every allocation is sampled, in threads, through plugins.
# exceptions.sh preload|shared|static
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
HEAPPROF_LIMIT=4G HEAPPROF_SAMPLE=1 HEAPPROF_DUMP_DIR=$work \
    quietly run_in_mode "$1" exceptions "$HP_BUILD/plugin_throwing.so" 2
