#!/usr/bin/env bash
# check_reproducible.sh [TARGET]: builds TARGET (headroom, with its package and its archive) from the tracked files in two folders, without a compiler cache,
# and fails where a byte differs.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-headroom}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CCACHE_DISABLE=1 SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)

build() { # FOLDER
    mkdir -p "$1"
    git archive HEAD | tar -x -C "$1"
    cmake -S "$1" -B "$1/build" -G Ninja -DCMAKE_CXX_COMPILER=g++ -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" \
        -DHEADROOM_JOIN=ON -DHEADROOM_TESTS=OFF -DHEADROOM_CUDA=OFF >/dev/null
    cmake --build "$1/build" --target "$target" >/dev/null
    if [ "$target" = headroom ]; then
        cmake --build "$1/build" --target headroom_shell_files >/dev/null
        (cd "$1/build" && cpack -G DEB >/dev/null && cpack -G TGZ >/dev/null)
    fi
}
sums() { # FOLDER
    (cd "$1/build" && find "$target" packages shell -type f ! -path '*/_CPack_Packages/*' ! -name '*.sha256' -print0 2>/dev/null | sort -z | xargs -0 sha256sum)
}
umask 022
build "$work/one"
build "$work/another/place"
if ! diff <(sums "$work/one") <(sums "$work/another/place"); then
    echo "reproducible: two builds of $target differ" >&2
    exit 1
fi
echo "reproducible: $(sums "$work/one" | wc -l) files, the same bytes from two folders"
