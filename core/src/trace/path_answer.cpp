#include "trace/path_pieces.hpp"

namespace headroom::trace {

using namespace headroom::laws;

namespace {

/// Notes of all ranks, each once, with the rank where there are several.
void add_notes(std::vector<StepGraph> const& ranks, std::vector<std::string>& notes) {
    for (auto const& rank : ranks) {
        for (auto const& note : rank.notes) {
            notes.push_back(ranks.size() > 1 ? "rank " + std::to_string(rank.rank) + ": " + note : note);
        }
    }
}

} // namespace

std::string_view name_of(TraceEdge edge) {
    constexpr std::array<std::string_view, trace_edges.size()> names{"program", "launch",   "stream",
                                                                     "wait",    "handover", "collective"};
    return names[static_cast<std::size_t>(edge)];
}

std::string words_of(StepIf const& one) {
    switch (one.change) {
    case StepChange::free_communication: return "communication is free";
    case StepChange::faster_communication: return "communication twice as fast";
    case StepChange::faster_host: return "host twice as fast";
    case StepChange::faster_call:
    case StepChange::faster_kernel: return one.kernel + " twice as fast";
    case StepChange::faster_family: return one.kernel + " twice as fast";
    case StepChange::free_group: return "communication in " + one.kernel + " is free";
    case StepChange::free_allocator: return "no calls of the allocator";
    case StepChange::free_copies: return "copies are free";
    case StepChange::no_host_waits: return "the host waits for no device";
    case StepChange::no_launch_delays: return "no launch delays";
    case StepChange::no_late_ranks: return "no waiting for late ranks";
    }
    return {};
}

PathAnswer critical_path(std::vector<StepGraph> const& ranks, std::vector<CollectiveLink> const& links,
                         std::vector<Ticks> const& clock_offset, Executor const& run, RunSigns const& signs) {
    PathAnswer answer;
    auto const joined = path::join_steps(ranks, links, clock_offset, run);
    answer.tasks = joined.tasks;
    answer.edges = joined.edges;
    answer.measured = joined.measured;
    answer.notes = joined.notes;
    add_notes(ranks, answer.notes);
    if (joined.vertices.empty()) {
        if (joined.tasks > 0) { answer.notes.emplace_back("steps too long to be measured"); }
        return answer;
    }
    auto const measured = dag_measure(joined.dag);
    answer.work = measured.work;
    for (std::size_t v = 0; v < joined.vertices.size(); ++v) {
        if (joined.vertices[v].delay) { answer.work -= joined.dag.costs()[v]; }
    }
    answer.depth = measured.depth;
    if (answer.depth > 0) { answer.parallelism = static_cast<double>(answer.work) / static_cast<double>(answer.depth); }
    path::tell_path(ranks, joined, measured.critical_path, answer);
    path::tell_what_if(ranks, links, signs.groups, joined, run, answer);
    path::tell_advice(ranks, joined, signs, answer);
    return answer;
}

} // namespace headroom::trace
