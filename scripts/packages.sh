#!/usr/bin/env bash
# packages.sh [FILE]: installs the Debian packages of FILE (default: packages.txt) that are missing; silent and instant
# when none is. `package@command` is wanted only where the command is missing; where it cannot be installed either, that
# is said, no error, and not tried again until FILE changes or build/ is removed: the build does without it.
# packages.sh --offer FILE PURPOSE: says what of FILE is missing for PURPOSE, and installs nothing.
# packages.sh --installed: what a build may find here, of the packages of all files: one line each.
set -euo pipefail
cd "$(dirname "$0")/.."

entries_of() { sed 's/#.*//' "$@" | tr -s ' \t' '\n' | grep .; }

if [ "${1:-}" = --offer ]; then
    mapfile -t wanted < <(entries_of "$2")
    command -v dpkg-query >/dev/null || exit 0
    if ! dpkg-query -W "${wanted[@]}" >/dev/null 2>&1; then
        echo "packages: for $3: sudo apt-get install ${wanted[*]}, then make build"
    fi
    exit
fi
if [ "${1:-}" = --installed ]; then
    mapfile -t wanted < <(entries_of packages*.txt | sed 's/@.*//')
    set +e # what is missing is missing
    command -v dpkg-query >/dev/null && dpkg-query -W -f='${Package} ${Version} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null
    command -v mpicxx nvcc ccache ld.lld npm node
    exit 0
fi
list=${1:-packages.txt}

mapfile -t entries < <(entries_of "$list")
without=build/without-$(basename "$list")
wanted=() optional=()
for entry in "${entries[@]}"; do
    if [[ $entry != *@* ]]; then
        wanted+=("$entry")
    elif ! command -v "${entry#*@}" >/dev/null; then
        optional+=("${entry%@*}")
    fi
done
if [ "$without" -nt "$list" ]; then
    optional=()
fi
if ! command -v dpkg-query >/dev/null; then
    echo "packages: not a Debian system, please install the counterparts of $list by hand" >&2
    exit 0
fi
missing=()
if [ "${#wanted[@]}" -gt 0 ]; then
    # sort -u: a package known under two architectures counts once
    installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
        sed -n 's/^installed //p' | sort -u || true)
    mapfile -t missing < <(comm -13 <(printf '%s\n' "$installed") <(printf '%s\n' "${wanted[@]}" | sort -u))
fi
if [ $((${#missing[@]} + ${#optional[@]})) -eq 0 ]; then
    exit 0
fi

root=()
if [ "$(id -u)" -ne 0 ]; then
    root=(sudo)
fi
options=(-qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
install() {
    echo "packages: installing $*"
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install -y --no-install-recommends "$@" </dev/null
}
if [ "${#missing[@]}" -gt 0 ]; then
    "${root[@]}" apt-get "${options[@]}" update </dev/null
    install "${missing[@]}"
fi
if [ "${#optional[@]}" -gt 0 ]; then
    if [ "${#missing[@]}" -eq 0 ]; then
        "${root[@]}" apt-get "${options[@]}" update </dev/null || true
    fi
    install "${optional[@]}" || {
        echo "packages: ${optional[*]} could not be installed; going on without" >&2
        mkdir -p build && touch "$without"
    }
fi
