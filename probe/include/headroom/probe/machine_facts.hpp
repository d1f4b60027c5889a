#pragma once

#include "headroom/measurement.hpp"

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

/// What hwloc finds, and what the operating system says beside it.
struct MachineShape {
    int cores = 1;                  ///< whole cores that this process may use
    std::vector<int> core_ids;      ///< a number that a thread can be pinned to, one a core
    std::vector<CacheLevel> caches; ///< data and unified ones, from the core outwards
    std::uint64_t memory_bytes = 0;
};
MachineShape machine_shape();

/// What has to be known to believe a measurement later: CPU, instruction sets, caches, cores, memory, governor and clock as
/// the system reports it, kernel, load, containers' limits, library versions, and every variable of the environment that
/// changes the speed of libraries (OPENBLAS_CORETYPE, OMP_NUM_THREADS, ...).
Facts machine_facts();

/// The load average of the last minute; 0 where the system does not say.
double load_now();
/// Nanoseconds since 1970.
std::int64_t now_ns();
/// Pins the calling thread; false where the system refuses.
bool pin_to(int core_id);

} // namespace headroom::probe
