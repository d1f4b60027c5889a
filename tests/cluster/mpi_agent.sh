#!/usr/bin/env bash
# mpi_agent.sh ADDRESS COMMAND...: what mpirun calls in place of ssh. The last part of the address is the host's number.
host=${1##*.}
shift
exec "$HEADROOM_CLUSTER_PROGRAM" on "$host" sh -c "$*"
