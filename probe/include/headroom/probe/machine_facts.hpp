#pragma once

#include "headroom/measure/measurement.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom::probe {

/// A cache as one core sees it.
struct CacheLevel {
    int level = 1;
    std::uint64_t bytes = 0;
    int cores = 1; ///< that share it
    int line_bytes = 64;
};

/// Shape of the machine, as hwloc and the operating system report it.
struct MachineShape {
    int cores = 1;             ///< whole cores that this process may use
    std::vector<int> core_ids; ///< a number that a thread can be pinned to, one a core
    std::vector<CacheLevel>
        caches; ///< data and unified ones, from the core outwards; empty where the system lists none
    std::uint64_t memory_bytes = 0;                         ///< that this process may have; 0: not known
    int packages = 1, memory_nodes = 1, threads_a_core = 1; ///< of the whole machine
};
/// Cores are those of the process's first thread (taskset, cpusets of containers and batch systems), no more than a
/// container's limit of processor time gives: threads beyond it are stopped and started again. Never fails: where
/// nothing is known it is one core.
MachineShape machine_shape();

/// Facts by which a measurement can be judged later: CPU, instruction sets, caches, cores, memory, governor and clock
/// as the system reports it, kernel, load, containers' limits, library versions, and every variable of the environment
/// that changes the speed of libraries (OPENBLAS_CORETYPE, OMP_NUM_THREADS, ...).
measure::Facts machine_facts();

/// The clock that this core works at now: dependent additions of whole numbers, one a cycle, the fastest of `blocks` of
/// about 0.1 ms each. What systems report may be a name-plate's figure; this is what was seen, and too low where another
/// program had the core all the time. 0 where the processor is none whose additions take a cycle (x86-64, ARM 64).
double clock_seen(int blocks = 50);

/// The load average of the last minute, where the system says it.
std::optional<double> load_now();
/// Nanoseconds since 1970.
std::int64_t now_ns();
/// Pins the calling thread; false where the system refuses.
bool pin_to(int core_id);

} // namespace headroom::probe
