#include "collective_sketch.hpp"

#include <bit>

// All-reduces in which pairs of ranks exchange.

namespace headroom::laws::builders {
namespace {

/// P ranks as 2^rounds that exchange and `extra` that hand in and are handed back.
struct Exchange {
    int rounds = 0;
    std::int64_t members = 1, extra = 0;
    explicit Exchange(std::int64_t ranks)
        : rounds{static_cast<int>(std::bit_width(static_cast<std::uint64_t>(ranks))) - 1},
          members{std::int64_t{1} << rounds},
          extra{ranks - members} {}
    /// The rank of a member: of each of the first `extra` pairs the odd one, then the others.
    [[nodiscard]] std::size_t rank(std::int64_t member) const {
        return static_cast<std::size_t>(member < extra ? 2 * member + 1 : member + extra);
    }
};

} // namespace

GraphSize recursive_doubling_size(Given given) {
    Exchange const exchange{given[0]};
    auto const members = static_cast<double>(exchange.members), extra = static_cast<double>(exchange.extra);
    double const rounds = exchange.rounds;
    double const later = rounds > 0.0 ? rounds - 1.0 : 0.0; // rounds in which every member has something to wait for
    double const first = rounds > 0.0 ? members + 2.0 * extra : 0.0;
    return {.tasks = 3.0 * extra + 2.0 * members * rounds, .edges = 2.0 * extra + first + 3.0 * members * later};
}

/// All-reduce by recursive doubling: in round s ranks 2^s apart swap their vectors and both add them.
///
///     W = 2^k k + e,   D = k + [e > 0]        k = floor(log2 P), e = P - 2^k
///
/// e ranks hand their vector to a neighbour before the rounds and are handed the sum after them.
/// Holds for:  P >= 1.
/// Assumes:    adding two vectors is one operation; a message is none unless it is given a cost.
/// Source:     [Thakur2005]
TaskGraph recursive_doubling(Given given) {
    Exchange const exchange{given[0]};
    CollectiveSketch sketch{recursive_doubling_size(given), given[0], Reduces::whole_vectors};
    std::vector<std::optional<TaskId>> held(static_cast<std::size_t>(exchange.members));
    for (std::int64_t i = 0; i < exchange.extra; ++i) {
        TaskId const message = sketch.message(exchange.rank(i) - 1, std::nullopt);
        held[i] = sketch.combine(exchange.rank(i), message, std::nullopt);
    }
    for (std::int64_t distance = 1; distance < exchange.members; distance *= 2) {
        std::vector<TaskId> sent;
        for (std::int64_t i = 0; i < exchange.members; ++i) {
            sent.push_back(sketch.message(exchange.rank(i), held[i]));
        }
        for (std::int64_t i = 0; i < exchange.members; ++i) {
            held[i] = sketch.combine(exchange.rank(i), sent[i ^ distance], held[i]);
        }
    }
    for (std::int64_t i = 0; i < exchange.extra; ++i) { sketch.message(exchange.rank(i), held[i]); }
    return std::move(sketch).finish();
}

GraphSize halving_doubling_size(Given given) {
    Exchange const exchange{given[0]};
    auto const ranks = static_cast<double>(given[0]);
    double const rounds = exchange.rounds;
    double const halving = rounds > 0.0 ? rounds + 2.0 * (rounds - 1.0) : 0.0;
    return {.tasks = 3.0 * ranks * rounds, .edges = ranks * (halving + rounds + rounds * (rounds - 1.0) / 2.0)};
}

/// All-reduce by recursive halving, then doubling: partners swap halves of what they still add up, then gather.
///
///     W = P(P-1) chunks,   D = P-1 chunks      a chunk is a P-th of the vector; 2 log2 P rounds of messages
///
/// Holds for:  P a power of two.
/// Assumes:    adding two chunks is one operation; a message is none unless it is given a cost.
/// Source:     [Rabenseifner2004]
TaskGraph halving_doubling(Given given) {
    auto const ranks = static_cast<std::size_t>(given[0]);
    CollectiveSketch sketch{halving_doubling_size(given), given[0], Reduces::chunks};
    std::vector<std::optional<TaskId>> held(ranks);
    std::vector<TaskId> sent(ranks);
    std::vector<std::vector<TaskId>> arrived(ranks);
    for (std::size_t chunks = ranks / 2; chunks > 0; chunks /= 2) {
        for (std::size_t rank = 0; rank < ranks; ++rank) { sent[rank] = sketch.message(rank, held[rank]); }
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            held[rank] = sketch.combine(rank, sent[rank ^ chunks], held[rank], static_cast<Ticks>(chunks));
        }
    }
    for (std::size_t chunks = 1; chunks < ranks; chunks *= 2) {
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            sent[rank] = sketch.message(rank, held[rank]);
            for (TaskId const message : arrived[rank]) { sketch.also_after(sent[rank], message); }
        }
        for (std::size_t rank = 0; rank < ranks; ++rank) { arrived[rank].push_back(sent[rank ^ chunks]); }
    }
    return std::move(sketch).finish();
}

} // namespace headroom::laws::builders
