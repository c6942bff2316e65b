#!/usr/bin/env bash
# Installs what heapprof needs to be built and tested, tools/packages.txt, with apt-get (Debian 12). As root or
# with sudo; says nothing and does nothing when all is there, so it may be run again and again.
set -euo pipefail

list=$(dirname "${BASH_SOURCE[0]}")/packages.txt
mapfile -t packages < <(grep -Ev '^[[:space:]]*(#|$)' "$list")

# What an installed package provides counts, too: nodejs of another source may bring npm along.
provided=$(dpkg-query -W -f '${db:Status-Status}, ${Provides}\n' |
    awk -F ', *' '$1 == "installed" { for (i = 2; i <= NF; i++) { sub(/ .*/, "", $i); print $i } }')
missing=()
for package in "${packages[@]}"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ $state == installed ]] || grep -qxF "$package" <<<"$provided" || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

command -v apt-get >/dev/null || {
    echo "setup.sh: there is no apt-get here; install by hand: ${missing[*]}" >&2
    exit 1
}
as_root=()
if [[ $EUID != 0 ]]; then
    command -v sudo >/dev/null || {
        echo "setup.sh: neither root nor sudo. Let an administrator run: apt-get install ${missing[*]}" >&2
        exit 1
    }
    as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() { # command…: what it says is shown only if it fails
    "$@" >"$log" 2>&1 && return 0
    cat "$log" >&2
    echo "setup.sh: failed: $*" >&2
    return 1
}

echo "Installing ${missing[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get)
install=("${apt[@]}" install -y --no-install-recommends "${missing[@]}")
# The package index of a fresh machine may be missing or old: then it is fetched, and the second try counts.
"${install[@]}" >"$log" 2>&1 || { quietly "${apt[@]}" update && quietly "${install[@]}"; }
