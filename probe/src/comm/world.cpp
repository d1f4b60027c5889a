#include "mpi_state.hpp"

#include <sched.h>
#include <thread>

namespace headroom::probe {

using namespace headroom::network;

namespace {

int usable_cores() {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    if (sched_getaffinity(0, sizeof cores, &cores) != 0) {
        return static_cast<int>(std::thread::hardware_concurrency());
    }
    return CPU_COUNT(&cores);
}

/// The launcher may have bound this process to one core: what counts is what all processes of the host have together.
std::vector<int> cores_of_hosts(MpiRank const& self) {
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(self.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    cpu_set_t mine, all;
    CPU_ZERO(&mine);
    int count = usable_cores();
    if (sched_getaffinity(0, sizeof mine, &mine) == 0) {
        MPI_Allreduce(&mine, &all, static_cast<int>(sizeof mine), MPI_BYTE, MPI_BOR, here);
        count = CPU_COUNT(&all);
    }
    MPI_Comm_free(&here);
    std::vector<int> counts(static_cast<std::size_t>(self.ranks));
    MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, self.comm);
    return counts;
}

std::vector<std::string> host_names(MpiRank const& self) {
    char mine[MPI_MAX_PROCESSOR_NAME] = {};
    int length = 0;
    MPI_Get_processor_name(mine, &length);
    std::vector<char> all(static_cast<std::size_t>(self.ranks) * sizeof mine);
    MPI_Allgather(mine, sizeof mine, MPI_CHAR, all.data(), sizeof mine, MPI_CHAR, self.comm);
    std::vector<std::string> names;
    for (int rank = 0; rank < self.ranks; ++rank) {
        names.emplace_back(&all[static_cast<std::size_t>(rank) * sizeof mine]);
    }
    return names;
}

std::string library_name() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string const whole{text, static_cast<std::size_t>(length)};
    return whole.substr(0, whole.find_first_of(",\n"));
}

} // namespace

CommWorld world_of(MpiRank const& self) {
    CommWorld world{.hosts = host_names(self),
                    .cores = cores_of_hosts(self),
                    .implementation = library_name(),
                    .algorithms = {},
                    .no_algorithms = {}};
    world.algorithms = forced_algorithms(world.no_algorithms);
    return world;
}

} // namespace headroom::probe
