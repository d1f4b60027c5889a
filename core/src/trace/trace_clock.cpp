#include "headroom/trace/trace_clock.hpp"

#include <algorithm>
#include <limits>

namespace headroom::trace {
namespace {

Ticks offset_of(RankDigest const& rank, CollectiveAnswer const& collectives) {
    for (ClockOffset const& one : collectives.clocks) {
        if (one.rank == rank.rank) { return one.offset; }
    }
    return 0;
}

/// Whether times of all ranks that have a graph can be compared.
bool clocks_are_tied(TraceAnswer const& answer) {
    std::size_t graphs = 0, tied = 0;
    for (RankDigest const& rank : answer.ranks) {
        if (!rank.graph) { continue; }
        ++graphs;
        bool const aligned = std::ranges::any_of(
            answer.collectives.clocks, [&](ClockOffset const& one) { return one.rank == rank.rank && one.from > 0; });
        tied += rank.clock_is_absolute || aligned ? 1U : 0U;
    }
    return graphs > 1 && tied == graphs;
}

} // namespace

StepClock step_clock_of(TraceAnswer const& answer) {
    StepClock clock{std::vector<Ticks>(answer.ranks.size(), 0), 0};
    bool const tied = clocks_are_tied(answer);
    Ticks first = std::numeric_limits<Ticks>::max();
    for (std::size_t i = 0; i < answer.ranks.size(); ++i) {
        RankDigest const& rank = answer.ranks[i];
        if (!rank.graph) { continue; }
        clock.shift[i] = tied ? rank.epoch_ns - offset_of(rank, answer.collectives) : -rank.graph->step.begin;
        first = std::min(first, rank.graph->step.begin + clock.shift[i]);
    }
    for (std::size_t i = 0; i < answer.ranks.size(); ++i) {
        auto const& graph = answer.ranks[i].graph;
        if (!graph) { continue; }
        clock.shift[i] -= first;
        for (std::size_t task = 0; task < graph->cost.size(); ++task) {
            clock.end = std::max(clock.end, graph->begin[task] + graph->cost[task] + clock.shift[i]);
        }
    }
    return clock;
}

std::vector<Ticks> drawn_ends(PathAnswer const& path) {
    std::vector<Ticks> ends;
    for (std::size_t i = 0; i < path.pieces.size(); ++i) {
        PathPiece const& piece = path.pieces[i];
        Ticks const next = i + 1 < path.pieces.size() ? path.pieces[i + 1].begin : path.depth;
        Ticks const alone = piece.begin + piece.duration;
        ends.push_back(piece.tasks > 1 ? std::max(alone, next) : alone);
    }
    return ends;
}

} // namespace headroom::trace
