#include "machine/system_files.hpp"

#include "headroom/probe/machine_facts.hpp"

#include <algorithm>
#include <hwloc.h>
#include <memory>
#include <sched.h>
#include <unistd.h>

namespace headroom::probe {
namespace {

struct DestroyTopology {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;
struct FreeSet {
    void operator()(hwloc_bitmap_t set) const { hwloc_bitmap_free(set); }
};
using Set = std::unique_ptr<hwloc_bitmap_s, FreeSet>;

/// Where the process may run: what containers leave to it, and what its first thread was bound to (taskset). The calling
/// thread may be one that we have pinned.
Set allowed(hwloc_topology_t topology) {
    Set set{hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology))};
    cpu_set_t bound;
    CPU_ZERO(&bound);
    if (::sched_getaffinity(::getpid(), sizeof bound, &bound) != 0) { return set; } // more processors than fit: all
    Set own{hwloc_bitmap_alloc()};
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &bound)) { hwloc_bitmap_set(own.get(), static_cast<unsigned>(cpu)); }
    }
    hwloc_bitmap_and(set.get(), set.get(), own.get());
    return set;
}

/// The first processor of each core that may be used, as the system numbers them.
std::vector<int> core_ids(hwloc_topology_t topology, hwloc_const_bitmap_t may) {
    std::vector<int> ids;
    int const cores = std::max(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE), 0);
    for (int i = 0; i < cores; ++i) {
        auto const* core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
        Set both{hwloc_bitmap_dup(core->cpuset)};
        hwloc_bitmap_and(both.get(), both.get(), may);
        if (int const first = hwloc_bitmap_first(both.get()); first >= 0) { ids.push_back(first); }
    }
    if (ids.empty()) { ids.push_back(std::max(hwloc_bitmap_first(may), 0)); } // a system that tells of no cores
    return ids;
}

std::vector<CacheLevel> caches_of(hwloc_topology_t topology, int core_id) {
    std::vector<CacheLevel> caches;
    auto const* object = hwloc_get_pu_obj_by_os_index(topology, static_cast<unsigned>(core_id));
    for (; object != nullptr; object = object->parent) {
        if (!hwloc_obj_type_is_dcache(object->type)) { continue; }
        int const cores = hwloc_get_nbobjs_inside_cpuset_by_type(topology, object->cpuset, HWLOC_OBJ_CORE);
        CacheLevel cache{.level = static_cast<int>(object->attr->cache.depth), .bytes = object->attr->cache.size};
        cache.cores = std::max(cores, 1);
        if (object->attr->cache.linesize > 0) { cache.line_bytes = static_cast<int>(object->attr->cache.linesize); }
        if (cache.bytes > 0) { caches.push_back(cache); }
    }
    return caches;
}

/// Nothing where hwloc cannot look.
Topology load_topology() {
    hwloc_topology_t made = nullptr;
    if (hwloc_topology_init(&made) != 0) { return nullptr; }
    Topology topology{made};
    if (hwloc_topology_load(made) != 0) { return nullptr; }
    return topology;
}

/// Threads beyond a limit of processor time are stopped and started again, so that what they reach is no rate.
void keep_to(ContainerLimits const& limits, MachineShape& shape) {
    if (limits.cpus && *limits.cpus < shape.cores) {
        shape.cores = std::max(static_cast<int>(*limits.cpus), 1);
        shape.core_ids.resize(static_cast<std::size_t>(shape.cores));
    }
    if (limits.memory_bytes) { shape.memory_bytes = std::min(shape.memory_bytes, *limits.memory_bytes); }
}

} // namespace

MachineShape machine_shape() {
    MachineShape shape;
    SystemFiles const files;
    auto const topology = load_topology();
    if (!topology) {
        shape.core_ids = {0};
        return shape;
    }
    auto const may = allowed(topology.get());
    shape.core_ids = core_ids(topology.get(), may.get());
    shape.cores = static_cast<int>(shape.core_ids.size());
    shape.caches = caches_of(topology.get(), shape.core_ids.front());
    // memory that was plugged in later may be missing from what nodes say
    shape.memory_bytes = std::max<std::uint64_t>(hwloc_get_root_obj(topology.get())->total_memory, memory_total(files));
    shape.packages = std::max(hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PACKAGE), 1);
    shape.memory_nodes = std::max(hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE), 1);
    int const cores = std::max(hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE), 1);
    shape.threads_a_core = std::max(hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PU) / cores, 1);
    keep_to(container_limits(files), shape);
    return shape;
}

bool pin_to(int core_id) {
    if (core_id < 0 || core_id >= CPU_SETSIZE) { return false; }
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core_id, &set);
    return ::sched_setaffinity(0, sizeof set, &set) == 0; // 0: the calling thread
}

} // namespace headroom::probe
