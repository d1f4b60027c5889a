#pragma once

#include "headroom/laws/dag.hpp"
#include "headroom/laws/schedule.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::laws {

/// A graph with what its numbers and tasks are called: what a builder or a reader makes.
struct TaskGraph {
    std::string name;
    Dag dag;
    std::string unit = "operations";        ///< of a cost: "operations", "FLOPs", "seconds"; empty: the file names none
    double per_tick = 1.0;                  ///< `unit`s of one tick
    std::vector<std::string> kinds;         ///< "add", "GEMM", "all_reduce", ...
    std::vector<std::uint16_t> kind_of;     ///< by task, into `kinds`; empty: one kind
    std::vector<std::string> names;         ///< by task; empty: tasks are numbered
    std::vector<Resource> resources;        ///< empty: any worker takes any task
    std::vector<std::uint16_t> resource_of; ///< by task, into `resources`
    std::vector<std::string> notes;         ///< assumptions and omissions, for people
};

/// A graph that can be asked for by name: "sum-tree:1000000".
struct GraphBuilder {
    std::string_view name;       ///< "sum-tree"
    std::string_view parameters; ///< "N" or "N[:STEPS]"
    std::string_view summary;
    std::string_view source;                                 ///< a key of the bibliography
    TaskGraph (*build)(std::span<std::int64_t const> given); ///< given: the numbers after the name
};

/// Every builder, in the order of `--help`.
std::span<GraphBuilder const> graph_builders();

/// Builds "NAME:N[:M]". Errors: InputError{usage} for an unknown name, a missing or impossible size.
TaskGraph build_graph(std::string_view request, std::string_view where);

} // namespace headroom::laws
