#!/usr/bin/env bash
# P27: as symbols.sh, the programs started through ld.so.
exec "$(dirname "$0")/symbols.sh" loader
