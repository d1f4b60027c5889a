#!/usr/bin/env bash
# check_static.sh PROGRAM: fails unless the program needs no file of the system it runs on. It answers in a folder that holds it alone where that can be
# tried (root), and serves a page. The program of its archive (packages/ next to it) answers, too.
set -euo pipefail
program=$1
if readelf --program-headers "$program" | grep -q INTERP || readelf --dynamic "$program" | grep -q NEEDED; then
    echo "static: $program asks for a loader or a shared object" >&2
    exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$program" "$folder/headroom"
alone=("$folder/headroom")
where='in its folder'
if chroot "$folder" /headroom --version >/dev/null 2>&1; then
    alone=(chroot "$folder" /headroom)
    where='in a root folder that holds it alone'
fi
"${alone[@]}" plan llama-3-8b --cluster dgx-h100 --workers 8,16 --brief --quiet
mkdir "$folder/tmp" # for uploads
mkfifo "$folder/said"
"${alone[@]}" serve --port 0 >"$folder/said" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
address=$(grep -m1 -oE 'http://[0-9.:]+' <"$folder/said")
python3 -c 'import sys, urllib.request as u; sys.exit(b"<html" not in u.urlopen(sys.argv[1] + "/", timeout=60).read())' "$address"
(cd "$(dirname "$program")/packages" && sha256sum --quiet --check ./*.sha256)
archive=$(echo "$(dirname "$program")"/packages/*.tar.gz)
mkdir "$folder/archive"
tar -xzf "$archive" -C "$folder/archive"
"$folder/archive/bin/headroom" laws --serial 0.05 --workers 64 --brief >/dev/null
gzip -t "$folder"/archive/share/man/man1/*.gz
test -s "$folder/archive/share/doc/headroom/headroom.cdx.json"
echo "static: $(du -h "$program" | cut -f1), answers and serves $where; $(basename "$archive"): $(du -h "$archive" | cut -f1)"
