#include "trace/path_pieces.hpp"

#include "headroom/quantity.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace headroom::trace::path {
namespace {

constexpr Ticks short_kernel = 10'000; ///< nanoseconds: starting a kernel takes about as long as such a one
constexpr std::size_t least_in_row = 8;

/// Kernels of one name in a row on a stream, by task.
using Row = std::vector<std::uint32_t>;

/// Rows of at least `least_in_row` short computing kernels.
std::vector<Row> rows_of(StepGraph const& graph) {
    std::vector<Row> open(graph.lanes.size()), rows;
    auto const close = [&](Row& row) {
        if (row.size() >= least_in_row) { rows.push_back(row); }
        row.clear();
    };
    for (std::uint32_t i = 0; i < graph.cost.size(); ++i) {
        if (!occupies_device(graph.kind[i])) { continue; }
        Row& row = open[graph.lane[i]];
        if (!row.empty() && graph.name[row.back()] != graph.name[i]) { close(row); }
        if (graph.kind[i] == SpanKind::compute && graph.cost[i] <= short_kernel) {
            row.push_back(i);
        } else {
            close(row);
        }
    }
    for (Row& row : open) { close(row); }
    return rows;
}

/// The call that launches each task; the task itself where none is known.
std::vector<std::uint32_t> launches_of(StepGraph const& graph) {
    std::vector<std::uint32_t> launch(graph.cost.size());
    for (std::uint32_t i = 0; i < launch.size(); ++i) { launch[i] = i; }
    for (std::size_t i = 0; i < graph.edges.size(); ++i) {
        if (graph.edge_kind[i] == TraceEdge::launch) { launch[graph.edges[i].to] = graph.edges[i].from; }
    }
    return launch;
}

/// Marks a row but for its first kernel, and what the launching thread does after the first launch, up to the last.
void mark(StepGraph const& graph, std::vector<std::uint32_t> const& launch, Row const& row, char* chosen) {
    for (std::size_t i = 1; i < row.size(); ++i) { chosen[row[i]] = 1; }
    std::uint32_t const first = launch[row.front()], last = launch[row.back()];
    if (first == row.front() || last == row.back() || graph.lane[first] != graph.lane[last]) { return; }
    for (std::uint32_t i = first + 1; i <= last; ++i) {
        if (graph.lane[i] == graph.lane[first] && !occupies_device(graph.kind[i])) { chosen[i] = 1; }
    }
}

} // namespace

std::string short_name(std::string_view name) {
    constexpr std::size_t most = 40;
    if (name.starts_with("void ")) { name.remove_prefix(5); }
    std::string_view const bare = name.substr(0, name.find_first_of("<("));
    if (!bare.empty()) { name = bare; }
    return std::string{name.substr(0, most)} + (name.size() > most ? ".." : "");
}

FusedTasks fused_tasks(std::vector<StepGraph> const& ranks, JoinedSteps const& joined) {
    FusedTasks fused;
    struct Saved {
        std::size_t kernels = 0, rows = 0;
        Ticks time = 0;
    };
    std::map<std::string, Saved> saved;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        auto const rows = rows_of(ranks[r]);
        if (rows.empty()) { continue; }
        fused.chosen.resize(joined.rank.size());
        auto const launch = launches_of(ranks[r]);
        for (Row const& row : rows) {
            mark(ranks[r], launch, row, &fused.chosen[joined.first_task[r]]);
            Saved& one = saved[ranks[r].names[ranks[r].name[row.front()]]];
            one.kernels += row.size();
            ++one.rows;
            for (auto const task : row) { one.time += ranks[r].cost[task]; }
            fused.kernels += row.size() - 1;
        }
    }
    if (saved.empty()) { return fused; }
    auto const most = std::ranges::max_element(saved, {}, [](auto const& one) { return one.second.kernels; });
    Saved const& one = most->second;
    fused.name = std::to_string(one.kernels) + " x " + short_name(most->first) + " of " +
                 format(Seconds{static_cast<double>(one.time) / static_cast<double>(one.kernels) / 1e9});
    return fused;
}

} // namespace headroom::trace::path
