#!/usr/bin/env bash
# packages.sh: installs the Debian packages of packages.txt that are missing; silent and instant when none is.
# packages.sh optional: those with a question mark.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-needed} in
    optional) choose=(sed -n 's/?$//p') ;;
    *) choose=(grep -v '?$') ;;
esac
mapfile -t wanted < <(sed 's/#.*//' packages.txt | tr -s ' \t' '\n' | grep . | "${choose[@]}")
if ! command -v dpkg-query >/dev/null; then
    echo "packages: not a Debian system, please install the counterparts of packages.txt by hand" >&2
    exit 0
fi
# sort -u: a package known under two architectures counts once
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
    sed -n 's/^installed //p' | sort -u || true)
mapfile -t missing < <(comm -13 <(printf '%s\n' "$installed") <(printf '%s\n' "${wanted[@]}" | sort -u))
if [ "${#missing[@]}" -eq 0 ]; then
    exit 0
fi

echo "packages: installing ${missing[*]}"
root=()
if [ "$(id -u)" -ne 0 ]; then
    root=(sudo)
fi
options=(-qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
"${root[@]}" apt-get "${options[@]}" update </dev/null
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null
