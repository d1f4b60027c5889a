#include "trace/path_join.hpp"

#include <cstdint>
#include <limits>
#include <utility>

namespace headroom::trace {

using namespace headroom::laws;

namespace {

constexpr double seconds_of_a_tick = 1e-9;
constexpr std::uint16_t delay_kind = span_kinds.size(), meeting_kind = delay_kind + 1;

/// A lane of a rank runs one thing at a time; delays and meetings are nobody's.
void add_resources(std::vector<StepGraph> const& ranks, path::JoinedSteps const& joined, TaskGraph& graph) {
    std::vector<std::size_t> first;
    for (auto const& rank : ranks) {
        first.push_back(graph.resources.size());
        for (auto const& lane : rank.lanes) {
            std::string const prefix = ranks.size() > 1 ? "rank " + std::to_string(rank.rank) + ", " : std::string();
            graph.resources.push_back({prefix + lane, 1});
        }
    }
    auto const nobody = graph.resources.size();
    if (nobody >= std::numeric_limits<std::uint16_t>::max()) {
        graph.resources.clear();
        graph.notes.emplace_back("too many threads and streams to be resources: any worker takes any task");
        return;
    }
    graph.resources.push_back({"delays", static_cast<std::int64_t>(joined.vertices.size())});
    for (auto const& vertex : joined.vertices) {
        auto resource = nobody;
        if (!vertex.delay && vertex.task != path::no_task) {
            auto const rank = joined.rank_of(vertex.task);
            resource = first[rank] + ranks[rank].lane[vertex.task - joined.first_task[rank]];
        }
        graph.resource_of.push_back(static_cast<std::uint16_t>(resource));
    }
}

std::pair<std::uint16_t, std::string> told(std::vector<StepGraph> const& ranks, path::JoinedSteps const& joined,
                                           path::Vertex const& vertex) {
    if (vertex.delay) { return {delay_kind, "delay (" + std::string(name_of(vertex.edge)) + ")"}; }
    if (vertex.task == path::no_task) { return {meeting_kind, "ranks meet"}; }
    auto const rank = joined.rank_of(vertex.task);
    auto const task = vertex.task - joined.first_task[rank];
    return {static_cast<std::uint16_t>(vertex.kind), ranks[rank].names[ranks[rank].name[task]]};
}

} // namespace

TaskGraph task_graph_of(std::vector<StepGraph> const& ranks, std::vector<CollectiveLink> const& links,
                        std::vector<Ticks> const& clock_offset) {
    auto joined = path::join_steps(ranks, links, clock_offset);
    TaskGraph graph;
    graph.unit = "seconds";
    graph.per_tick = seconds_of_a_tick;
    for (auto const kind : span_kinds) { graph.kinds.emplace_back(name_of(kind)); }
    graph.kinds.emplace_back("delay");
    graph.kinds.emplace_back("meeting");
    for (auto const& vertex : joined.vertices) {
        auto [kind, name] = told(ranks, joined, vertex);
        graph.kind_of.push_back(kind);
        graph.names.push_back(std::move(name));
    }
    add_resources(ranks, joined, graph);
    graph.notes.insert(graph.notes.end(), joined.notes.begin(), joined.notes.end());
    for (auto const& rank : ranks) { graph.notes.insert(graph.notes.end(), rank.notes.begin(), rank.notes.end()); }
    graph.dag = std::move(joined.dag);
    return graph;
}

} // namespace headroom::trace
