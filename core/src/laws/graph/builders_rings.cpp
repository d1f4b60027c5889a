#include "collective_sketch.hpp"

#include <algorithm>

// Collectives of P(P-1) messages: round a ring, and from everyone to everyone.

namespace headroom::laws::builders {
namespace {

using Held = std::vector<std::optional<TaskId>>; ///< by rank: the task that made the chunk it sends next

double pairs(Given given) {
    auto const ranks = static_cast<double>(given[0]);
    return ranks * (ranks - 1.0);
}
/// Messages that wait for a step before them: all but those of the first.
double later(Given given) { return std::max(pairs(given) - static_cast<double>(given[0]), 0.0); }

/// P-1 steps: every rank sends a chunk to the next rank, which adds its own part and sends it on in the next step.
void reduce_round(CollectiveSketch& sketch, Held& held) {
    std::size_t const ranks = held.size();
    std::vector<TaskId> sent(ranks);
    for (std::size_t step = 1; step < ranks; ++step) {
        for (std::size_t rank = 0; rank < ranks; ++rank) { sent[rank] = sketch.message(rank, held[rank]); }
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            held[rank] = sketch.combine(rank, sent[(rank + ranks - 1) % ranks], std::nullopt);
        }
    }
}

/// P-1 steps: every rank sends the chunk that it has got last to the next rank.
void gather_round(CollectiveSketch& sketch, Held& held) {
    std::size_t const ranks = held.size();
    std::vector<TaskId> sent(ranks);
    for (std::size_t step = 1; step < ranks; ++step) {
        for (std::size_t rank = 0; rank < ranks; ++rank) { sent[rank] = sketch.message(rank, held[rank]); }
        for (std::size_t rank = 0; rank < ranks; ++rank) { held[rank] = sent[(rank + ranks - 1) % ranks]; }
    }
}

Held nothing_held(Given given) { return Held(static_cast<std::size_t>(given[0])); }

} // namespace

GraphSize reduce_scatter_ring_size(Given given) {
    return {.tasks = 2.0 * pairs(given), .edges = pairs(given) + later(given)};
}

/// Every rank ends with one chunk of the sum.
///
///     W = P(P-1) chunks,   D = P-1 chunks      a chunk is a P-th of the vector; P-1 messages in a chain
///
/// Holds for:  P >= 1.
/// Assumes:    adding two chunks is one operation; a message is none unless it is given a cost.
/// Source:     [PatarasukYuan2009]
TaskGraph reduce_scatter_ring(Given given) {
    CollectiveSketch sketch{reduce_scatter_ring_size(given), given[0], Reduces::chunks};
    Held held = nothing_held(given);
    reduce_round(sketch, held);
    return std::move(sketch).finish();
}

GraphSize all_gather_ring_size(Given given) { return {.tasks = pairs(given), .edges = later(given)}; }

/// Every rank ends with the chunks of all: W = 0, D = 0, P-1 messages in a chain.
/// Source: [PatarasukYuan2009]
TaskGraph all_gather_ring(Given given) {
    CollectiveSketch sketch{all_gather_ring_size(given), given[0], Reduces::nothing};
    Held held = nothing_held(given);
    gather_round(sketch, held);
    return std::move(sketch).finish();
}

GraphSize ring_all_reduce_size(Given given) {
    return {.tasks = 3.0 * pairs(given), .edges = 2.0 * pairs(given) + later(given)};
}

/// A reduce-scatter round the ring, then an all-gather.
///
///     W = P(P-1) chunks,   D = P-1 chunks      2(P-1) messages in a chain
///
/// Holds for:  P >= 1.
/// Assumes:    as `reduce_scatter_ring`.
/// Source:     [PatarasukYuan2009]
TaskGraph ring_all_reduce(Given given) {
    CollectiveSketch sketch{ring_all_reduce_size(given), given[0], Reduces::chunks};
    Held held = nothing_held(given);
    reduce_round(sketch, held);
    gather_round(sketch, held);
    return std::move(sketch).finish();
}

GraphSize all_to_all_size(Given given) { return {.tasks = pairs(given), .edges = 0.0}; }

/// Each of P ranks sends a part of its own to each other: in step s to the rank s places on.
///
///     W = 0,   D = 0                P(P-1) messages, none waits for another; P-1 through each port
///
/// Holds for:  P >= 1.
/// Assumes:    a message is no operation unless it is given a cost.
/// Source:     [Thakur2005]
TaskGraph all_to_all(Given given) {
    CollectiveSketch sketch{all_to_all_size(given), given[0], Reduces::nothing};
    auto const ranks = static_cast<std::size_t>(given[0]);
    for (std::size_t step = 1; step < ranks; ++step) {
        for (std::size_t rank = 0; rank < ranks; ++rank) { sketch.message(rank, std::nullopt); }
    }
    return std::move(sketch).finish();
}

} // namespace headroom::laws::builders
