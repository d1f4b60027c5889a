#include "collective_sketch.hpp"

#include <algorithm>

// Sums along a chain and up a binomial tree, and the way back.

namespace headroom::laws::builders {
namespace {

using Held = std::vector<std::optional<TaskId>>; ///< by rank: the task that made what the rank holds now

double hops(Given given) { return static_cast<double>(given[0] - 1); }

/// Rank 0 hands its vector to rank 1, which adds its own and hands on; the sum is on the last rank.
void reduce_along_chain(CollectiveSketch& sketch, Held& held) {
    for (std::size_t to = 1; to < held.size(); ++to) {
        TaskId const message = sketch.message(to - 1, held[to - 1]);
        held[to] = sketch.combine(to, message, held[to]);
    }
}

/// In round s every rank that is an odd multiple of 2^s sends to the rank 2^s below it; the sum is on rank 0.
void reduce_up_tree(CollectiveSketch& sketch, Held& held) {
    for (std::size_t distance = 1; distance < held.size(); distance *= 2) {
        for (std::size_t to = 0; to + distance < held.size(); to += 2 * distance) {
            TaskId const message = sketch.message(to + distance, held[to + distance]);
            held[to] = sketch.combine(to, message, held[to]);
        }
    }
}

/// Sends the last rank's result back to rank 0.
void send_back_chain(CollectiveSketch& sketch, Held& held) {
    for (std::size_t from = held.size(); from-- > 1;) { held[from - 1] = sketch.message(from, held[from]); }
}

/// The rounds of `reduce_up_tree` backwards.
void send_down_tree(CollectiveSketch& sketch, Held& held) {
    std::size_t distance = 1;
    while (distance < held.size()) { distance *= 2; }
    for (distance /= 2; distance > 0; distance /= 2) {
        for (std::size_t from = 0; from + distance < held.size(); from += 2 * distance) {
            held[from + distance] = sketch.message(from, held[from]);
        }
    }
}

using Phase = void (*)(CollectiveSketch&, Held&);

TaskGraph collective(Given given, GraphSize size, Phase first, Phase second = nullptr) {
    CollectiveSketch sketch{size, given[0], Reduces::whole_vectors};
    Held held(static_cast<std::size_t>(given[0]));
    first(sketch, held);
    if (second != nullptr) { second(sketch, held); }
    return std::move(sketch).finish();
}

TaskGraph broadcast(Given given, GraphSize size, Phase phase) {
    CollectiveSketch sketch{size, given[0], Reduces::nothing};
    Held held(static_cast<std::size_t>(given[0]));
    phase(sketch, held);
    return std::move(sketch).finish();
}

} // namespace

GraphSize reduce_size(Given given) {
    return {.tasks = 2.0 * hops(given), .edges = std::max(2.0 * hops(given) - 1.0, 0.0)};
}

/// A vector of each of P ranks summed along a line.
///
///     W = P-1,   D = P-1            P-1 messages in a chain
///
/// Holds for:  P >= 1.
/// Assumes:    adding two vectors is one operation; a message is none unless it is given a cost.
/// Source:     [Thakur2005]
TaskGraph chain_reduce(Given given) { return collective(given, reduce_size(given), reduce_along_chain); }

/// Reduction of P ranks' vectors by a binomial tree.
///
///     W = P-1,   D = ceil(log2 P)   P-1 messages, ceil(log2 P) in a chain
///
/// Holds for:  P >= 1.
/// Assumes:    as `chain_reduce`.
/// Source:     [Thakur2005]
TaskGraph tree_reduce(Given given) { return collective(given, reduce_size(given), reduce_up_tree); }

GraphSize all_reduce_size(Given given) {
    return {.tasks = 3.0 * hops(given), .edges = std::max(3.0 * hops(given) - 1.0, 0.0)};
}

/// The sum of `chain_reduce` handed back along the line: its work and depth, 2(P-1) messages in a chain.
/// Source: [Thakur2005]
TaskGraph chain_all_reduce(Given given) {
    return collective(given, all_reduce_size(given), reduce_along_chain, send_back_chain);
}

/// The sum of `tree_reduce` handed down the same tree: its work and depth, 2(P-1) messages.
/// Source: [Thakur2005]
TaskGraph tree_all_reduce(Given given) {
    return collective(given, all_reduce_size(given), reduce_up_tree, send_down_tree);
}

GraphSize broadcast_chain_size(Given given) {
    return {.tasks = hops(given), .edges = std::max(hops(given) - 1.0, 0.0)};
}

/// Broadcast along a line of P ranks.
///
///     W = 0,   D = 0                P-1 messages in a chain
///
/// Holds for:  P >= 1.
/// Assumes:    a message is no operation unless it is given a cost.
/// Source:     [Thakur2005]
TaskGraph broadcast_chain(Given given) { return broadcast(given, broadcast_chain_size(given), send_back_chain); }

GraphSize broadcast_tree_size(Given given) {
    return {.tasks = hops(given), .edges = hops(given) - static_cast<double>(levels_of(given[0]))};
}

/// Broadcast from rank 0 down a binomial tree.
///
///     W = 0,   D = 0                P-1 messages, floor(log2 P) in a chain, ceil(log2 P) through rank 0's port
///
/// Holds for:  P >= 1.
/// Assumes:    as `broadcast_chain`.
/// Source:     [Thakur2005]
TaskGraph broadcast_tree(Given given) { return broadcast(given, broadcast_tree_size(given), send_down_tree); }

} // namespace headroom::laws::builders
