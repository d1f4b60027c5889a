#!/usr/bin/env bash
# run.sh BUILD FOLDER [HOSTS... | step | hot]: builds what emulates hosts and measures on them, then compares; tables go to
# FOLDER. `step` is the training step alone, `hot` messages of one host alone, HOSTS the collectives alone; without them it is all.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1 folder=$2
shift 2

if [ "$(uname -s)" != Linux ] || [ "$(id -u)" -ne 0 ] || [ ! -c /dev/net/tun ]; then
    echo "cluster: not run: emulated hosts need Linux, root and /dev/net/tun"
    exit 0
fi
scripts/packages.sh packages-cluster.txt
cmake "$build" >/dev/null # may find MPI only now
cmake --build "$build" -j "$(nproc)" --target cluster_programs headroom headroom-mpi headroom-step >/dev/null
mkdir -p "$folder"
# -w: OpenMPI's own headers warn
for program in mpi_collectives hot_messages; do
    mpicxx -O2 -std=c++20 -w "tests/cluster/$program.cpp" -o "$folder/$program"
done
failed=0
if [ "${1:-hot}" = hot ]; then /usr/bin/python3 tests/cluster/hot_messages.py "$build" "$folder" || failed=1; fi
if [ "${1:-}" != step ] && [ "${1:-}" != hot ]; then /usr/bin/python3 tests/cluster/run.py "$build" "$folder" "$@" || failed=1; fi
if [ "${1:-step}" = step ]; then /usr/bin/python3 tests/cluster/training_step.py "$build" "$folder" || failed=1; fi
exit "$failed"
