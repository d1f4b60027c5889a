#pragma once

#include "headroom/trace/trace_path.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace headroom::trace::path {

constexpr std::uint32_t no_task = std::numeric_limits<std::uint32_t>::max();

/// Task, delay or meeting that a vertex of the joined graph stands for.
struct Vertex {
    std::uint32_t task = no_task;         ///< of all ranks' tasks: itself, or the one that a delay leads to
    bool delay = false;                   ///< of an edge
    SpanKind kind = SpanKind::annotation; ///< of a task
    TraceEdge edge = TraceEdge::program;  ///< of a delay
};

/// Steps of all ranks as one graph: tasks, a vertex for every delay, and one for each collective, where ranks meet.
struct JoinedSteps {
    laws::Dag dag;
    std::vector<Vertex> vertices;
    std::vector<std::size_t> first_task; ///< of each rank; one more than there are
    Ticks measured = 0;
    std::size_t tasks = 0, edges = 0, joined = 0;
    std::vector<std::string> notes;

    std::vector<std::uint32_t> rank; ///< by task of all ranks' tasks

    [[nodiscard]] std::uint32_t rank_of(std::uint32_t task) const { return rank[task]; }
};

JoinedSteps join_steps(std::vector<StepGraph> const& ranks, std::vector<CollectiveLink> const& links,
                       std::vector<Ticks> const& clock_offset, Executor const& run = {});

/// Duration of the step of each rank if it waited for no other: all begin at once, and each run of a collective costs
/// the transfer alone. Empty where steps are too long to be measured.
std::vector<Ticks> steps_alone(std::vector<StepGraph> const& ranks, std::vector<CollectiveLink> const& links);

} // namespace headroom::trace::path
