#!/usr/bin/env bash
# run.sh HEAPPROF WORK TEST.mjs
#
# Runs a test in a real Chromium. What it needs from npm is installed into WORK, anew only when package-lock.json
# has changed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../verdicts.sh"

heapprof=$1 work=$2 test=$3
needs node npm chromium flock
mkdir -p "$work/modules" "$work/pages"
work=$(cd "$work" && pwd)
export HP_COMMAND=$heapprof HP_MODULES=$work/modules HP_WORK=$work/pages HP_CHROMIUM
HP_CHROMIUM=$(command -v chromium)

install_modules() {
    local lock
    lock=$(sha256sum <"$here/package-lock.json")
    [[ $(cat "$HP_MODULES/installed" 2>/dev/null) != "$lock" ]] || return 0
    cp "$here/package.json" "$here/package-lock.json" "$HP_MODULES"
    (cd "$HP_MODULES" && timeout 120 npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error \
        --fetch-retries=1 --fetch-retry-mintimeout=500 --fetch-timeout=30000) || return
    echo "$lock" >"$HP_MODULES/installed"
}

reason=$("$heapprof" flame -o "$HP_WORK/none.html" /dev/null 2>&1 || true)
[[ $reason != *"can make no HTML"* ]] || skip "$reason"
exec 9>"$work/lock" # another test may be installing
flock 9
install_modules || skip "npm could not install playwright-core and axe-core"
exec 9>&-
exec node "$here/$test"
