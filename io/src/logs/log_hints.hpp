#pragma once

#include "logs/log_builder.hpp"

#include "headroom/network/collective.hpp"

#include <optional>
#include <string_view>

namespace headroom::io {

/// Ranks and nodes of a run, from a command line or the name of a file; 0 where it states none.
struct RunHints {
    int ranks = 0, nodes = 0;
};

/// From the name of a file: "osu_allreduce_np64.txt", "64ranks", "ranks-64", "2nodes". Single letters ("n4", "p4") number hosts and
/// instances as often as ranks and are not read.
RunHints hints_of_name(std::string_view path);
/// From a launcher's command: "mpirun -np 64", "srun -N 2 -n 16", "mpiexec --ntasks=4".
RunHints hints_of_command(std::string_view line);

/// The collective that a program of nccl-tests measures, from its name in a text: "all_reduce" of "all_reduce_perf". The
/// last wins; empty when there is none.
std::string_view nccl_program_in(std::string_view text);

/// The collective that the name of a file ends with, its ending apart: "allgather" of "n5_allgather.log"; empty when none.
std::string_view collective_in_name(std::string_view path);

/// Collective by a tool's name of an operation. Operations whose ranks have different shares ("alltoallv") have none.
std::optional<network::Collective> collective_in_log(std::string_view name);

/// Ranks and nodes of a run: what the log states, else what was asked, else what the file's name says; 0 ranks when
/// nobody knows, 1 node with a note. Nodes that were asked go before those of the log, which are names of hosts.
struct RunShape {
    int ranks = 0, nodes = 1;
};
/// `most_of_node`: ranks of a node of an unknown system; 0: any number, as of benchmarks that run on processors, too.
RunShape run_shape(RunHints const& stated, LogBuilder& log, int most_of_node = 0);

/// Accelerators that a node has at most where nothing says more of it.
inline constexpr int most_of_usual_node = 8;

} // namespace headroom::io
