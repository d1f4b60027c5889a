#!/usr/bin/env bash
# packages.sh [FILE]: installs the Debian packages of FILE (default: packages.txt) that are missing; silent and instant
# when none is. `package@command` is wanted only where the command is missing; where it cannot be installed either, that
# is said, no error, and not tried again until FILE changes or build/ is removed: the build does without it.
set -euo pipefail
cd "$(dirname "$0")/.."
list=${1:-packages.txt}

mapfile -t entries < <(sed 's/#.*//' "$list" | tr -s ' \t' '\n' | grep .)
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
