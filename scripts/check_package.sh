#!/usr/bin/env bash
# check_package.sh FOLDER: fails unless the sums of the packages in FOLDER hold, lintian (where it is installed) has no complaint about the Debian package, and
# the program inside answers.
set -euo pipefail
cd "$1"
for sum in *.sha256; do sha256sum --quiet --check "$sum"; done
package=$(echo headroom_*.deb)
said='lintian is not installed'
if command -v lintian >/dev/null; then
    lintian --fail-on error,warning "$package"
    said='lintian is content'
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
dpkg-deb --extract "$package" "$folder"
"$folder/usr/bin/headroom" laws --serial 0.05 --workers 64 --brief >/dev/null
gzip -t "$folder"/usr/share/man/man1/*.gz
test -s "$folder/usr/share/doc/headroom/headroom.cdx.json"
echo "package: $package, $(du -h "$package" | cut -f1), $said"
