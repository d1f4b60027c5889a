#!/usr/bin/env bash
# run_fuzz.sh FUZZER SOURCES WORK: runs FUZZER on SOURCES/corpus/NAME, with the dictionary SOURCES/NAME.dict where there is
# one. It tries the same inputs on every machine: each seed, then mutated ones from a fixed random seed, as many in all as
# SOURCES/runs states for NAME. With HEADROOM_FUZZ_SECONDS it explores for that long instead, from a new random seed.
# An input has 512 MB and 30 seconds, of which the slowest needs 2 on an idle machine. Inputs that fail are kept in WORK; the
# source tree is never written.
set -euo pipefail

fuzzer=$1 sources=$2 work=$3
name=$(basename "$fuzzer")
name=${name#fuzz_}

rm -rf "${work:?}/$name"
mkdir -p "$work/$name"
# A list, because libFuzzer takes the files of a folder in an order that differs between file systems.
find "$sources/corpus/$name" -type f | LC_ALL=C sort | paste -sd, | tr -d '\n' >"$work/$name.seeds"
options=("-seed_inputs=@$work/$name.seeds" -rss_limit_mb=512 -timeout=30 -verbosity=0 "-artifact_prefix=$work/$name-")
if [ -f "$sources/$name.dict" ]; then
    options+=("-dict=$sources/$name.dict")
fi
if [ -n "${HEADROOM_FUZZ_SECONDS:-}" ]; then
    options+=("-max_total_time=$HEADROOM_FUZZ_SECONDS")
else
    read -ra row < <(grep "^$name " "$sources/runs" || grep '^others ' "$sources/runs")
    options+=("-runs=${row[1]}" -seed=1 -reload=0 "${row[@]:2}")
fi
# Memory that was freed and is kept to find its later use counts as memory of the input.
export ASAN_OPTIONS="quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
# Comparisons guide the mutations, those of addresses too. A container may forbid to fix addresses.
fixed=(setarch --addr-no-randomize)
"${fixed[@]}" true 2>/dev/null || fixed=()
exec "${fixed[@]}" "$fuzzer" "${options[@]}" "$work/$name"
