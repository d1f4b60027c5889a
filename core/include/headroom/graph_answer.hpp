#pragma once

#include "headroom/task_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

// ---- how many workers a graph is worth ----------------------------------------------------------------------------

/// The largest K on which every greedy schedule has at least `share` of a speed-up of K.
///
///     W / ((W-D)/K + D) >= q K     as long as     K - 1 <= W (1-q) / (q D)
///
/// Holds for:  0 < q < 1; empty without depth, where any K has it.
/// Assumes:    Graham's bound; starting a task costs nothing.
/// Source:     [Graham1969]
std::optional<std::int64_t> workers_surely_efficient(Ticks work, Ticks depth, double share);

/// The largest K on which any schedule can have `share` of a speed-up of K: K <= W / (q D), as no speed-up exceeds W/D.
/// Holds for:  0 < q <= 1; empty without depth. Source: [Brent1974]
std::optional<std::int64_t> workers_perhaps_efficient(Ticks work, Ticks depth, double share);

/// 1, 2, 4, ... up to one past the first power of two at which depth is the larger half of Brent's bound.
std::vector<std::int64_t> telling_worker_counts(Ticks work, Ticks depth);

// ---- what the numbers are made of ---------------------------------------------------------------------------------

/// One kind of task: its part of the work and of the critical path.
struct KindShare {
    std::string_view kind; ///< of the graph's `kinds`
    std::uint64_t tasks = 0, critical_tasks = 0;
    Ticks work = 0, critical_work = 0;
};
/// Every kind that has tasks, in the graph's order; the parts add up to work and depth. Empty where kinds have no names.
std::vector<KindShare> kind_shares(TaskGraph const& graph, DagMeasure const& measured);

/// Neighbouring levels of a profile together, for graphs of more levels than a page has room for.
struct LevelBin {
    std::size_t first = 0, last = 0;     ///< levels, both included
    std::uint64_t tasks = 0, widest = 0; ///< of all its levels, of the fullest one
    Ticks work = 0;
};
/// At most `most` bins of equally many levels (the last may have fewer); tasks and work add up to the profile's.
std::vector<LevelBin> level_bins(LevelProfile const& profile, std::size_t most);

// ---- questions about the same graph otherwise ---------------------------------------------------------------------

/// The kind of what collectives send.
constexpr std::string_view message_kind = "message";

/// The graph with a cost for each message in place of what it has.
/// Holds for:  messages x cost + work <= 2^62. Errors: InputError{usage} at `where` when it has no messages, or more.
TaskGraph with_message_cost(TaskGraph graph, Ticks cost, std::string_view where);

/// A greedy time that is known without a schedule: W on one worker; D on as many as there are tasks, or, where all
/// tasks cost the same, as many as the fullest level has. Empty where it takes a schedule.
/// Source: [Graham1969]
std::optional<Ticks> known_greedy_time(Dag const& dag, DagMeasure const& measured, LevelProfile const& profile,
                                       std::int64_t workers);

/// What no schedule on typed resources is below, and what no greedy one exceeds.
struct ResourceBounds {
    double lower = 0.0;           ///< max of D and of each W_r / c_r
    double upper = 0.0;           ///< sum of W_r / c_r, and D
    std::vector<Ticks> work = {}; ///< by resource
    std::vector<std::uint64_t> tasks = {};
};
/// Source: [Graham1969]
ResourceBounds resource_bounds(Dag const& dag, std::span<Resource const> resources,
                               std::span<std::uint16_t const> resource_of, Ticks depth);

} // namespace headroom
