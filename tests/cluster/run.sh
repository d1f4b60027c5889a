#!/usr/bin/env bash
# run.sh BUILD FOLDER [HOSTS... | step]: builds what emulates hosts and measures on them, then compares; tables go to FOLDER.
# `step` is the training step alone, HOSTS the collectives alone; without either it is both.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1 folder=$2
shift 2

if [ "$(uname -s)" != Linux ] || [ "$(id -u)" -ne 0 ] || [ ! -c /dev/net/tun ]; then
    echo "cluster: not run: emulated hosts need Linux, root and /dev/net/tun"
    exit 0
fi
scripts/packages.sh packages-cluster.txt
cmake "$build" >/dev/null # MPI may be there only now
cmake --build "$build" -j "$(nproc)" --target cluster_programs headroom-step >/dev/null
mkdir -p "$folder"
# -w: OpenMPI's own headers warn
mpicxx -O2 -std=c++20 -w tests/cluster/mpi_collectives.cpp -o "$folder/mpi_collectives"
failed=0
if [ "${1:-}" != step ]; then /usr/bin/python3 tests/cluster/run.py "$build" "$folder" "$@" || failed=1; fi
if [ "${1:-step}" = step ]; then /usr/bin/python3 tests/cluster/training_step.py "$build" "$folder" || failed=1; fi
exit "$failed"
