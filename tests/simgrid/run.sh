#!/usr/bin/env bash
# run.sh BUILD FOLDER: compiles the program of MPI collectives for SimGrid and compares what it simulates with Headroom.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1 folder=$2

scripts/packages.sh packages-simgrid.txt
if ! command -v smpicxx >/dev/null; then
    echo "simgrid: not run: smpicxx is not here (packages-simgrid.txt)"
    exit 0
fi
cmake --build "$build" -j "$(nproc)" --target collective_times >/dev/null
mkdir -p "$folder"
smpicxx -O2 -std=c++20 tests/cluster/mpi_collectives.cpp -o "$folder/mpi_collectives"
exec /usr/bin/python3 tests/simgrid/run.py "$build" "$folder"
