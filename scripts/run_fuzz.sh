#!/usr/bin/env bash
# run_fuzz.sh FUZZER SOURCES WORK: fuzzes for HEADROOM_FUZZ_SECONDS (default 3) over a copy of
# SOURCES/corpus/NAME in WORK/NAME, with the dictionary SOURCES/NAME.dict where there is one.
# Inputs that fail are kept in WORK; the source tree is never written.
set -euo pipefail

fuzzer=$1 sources=$2 work=$3
name=$(basename "$fuzzer")
name=${name#fuzz_}

mkdir -p "$work/$name"
if [ -d "$sources/corpus/$name" ]; then
    cp -rT "$sources/corpus/$name" "$work/$name"
fi
dictionary=()
if [ -f "$sources/$name.dict" ]; then
    dictionary=("-dict=$sources/$name.dict")
fi
exec "$fuzzer" "-max_total_time=${HEADROOM_FUZZ_SECONDS:-3}" -rss_limit_mb=2048 -timeout=60 -verbosity=0 \
    "-artifact_prefix=$work/$name-" "${dictionary[@]}" "$work/$name"
