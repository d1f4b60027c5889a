#pragma once

#include "terms.hpp"

#include "headroom/network/collective_algorithm.hpp"

#include <bit>
#include <cstdint>

// Exchanges between ranks whose places differ in one bit, for any number of ranks: some hand their part to a neighbour first.

namespace headroom::network::algorithms {

constexpr std::uint32_t chunk(std::int64_t index) { return static_cast<std::uint32_t>(index); }

/// p = q + r ranks on q = 2^floor(lg p) places: of the first 2r ranks each odd one stands for the even one before it too.
class Folding {
public:
    explicit Folding(int ranks)
        : ranks_{ranks},
          doublings_{floor_log2(ranks)},
          places_{static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))},
          pairs_{ranks - places_} {}

    [[nodiscard]] int ranks() const { return ranks_; }
    [[nodiscard]] int doublings() const { return doublings_; } ///< lg q
    [[nodiscard]] int places() const { return places_; }       ///< q
    [[nodiscard]] int pairs() const { return pairs_; }         ///< r
    [[nodiscard]] bool folds() const { return pairs_ > 0; }
    [[nodiscard]] int rank_of(int place) const { return place < pairs_ ? 2 * place + 1 : place + pairs_; }
    /// The first rank that this place and those after it stand for.
    [[nodiscard]] int begin(int place) const { return place < pairs_ ? 2 * place : place + pairs_; }

    /// Ranks that the first 1, 2, 4 ... q/2 places stand for, in all: sum over t < lg q of 2^t + min(2^t, r). No other
    /// places stand for more.
    [[nodiscard]] double largest_groups() const {
        double const single = places_ - 1.0;
        if (!folds()) { return single; }
        int const whole = ceil_log2(pairs_ + 1); // rounds in which 2^t <= r
        return single + ((1 << whole) - 1.0) + (doublings_ - whole) * static_cast<double>(pairs_);
    }

private:
    int ranks_, doublings_, places_, pairs_;
};

/// A schedule of exchanges between places: the even ranks of pairs hand over what they have, the places exchange in steps,
/// and the even ranks get back what they need.
class FoldedSchedule : public MessageSchedule {
public:
    FoldedSchedule(CollectiveCall const& call, int steps_a_doubling = 1)
        : folding_{call.layout.ranks}, size_{call.size.size.base()}, steps_{steps_a_doubling * folding_.doublings()} {}

    [[nodiscard]] int participants() const final { return folding_.ranks(); }
    [[nodiscard]] std::int64_t rounds() const final { return steps_ + (folding_.folds() ? 2 : 0); }
    void write(std::int64_t index, Round& round) const final {
        int const step = static_cast<int>(index) - (folding_.folds() ? 1 : 0);
        if (step >= 0 && step < steps_) {
            for (int place = 0; place < folding_.places(); ++place) { exchange(step, place, round); }
            return;
        }
        for (int pair = 0; pair < folding_.pairs(); ++pair) {
            step < 0 ? fold(2 * pair, round) : unfold(2 * pair, round);
        }
    }

protected:
    /// Hands over an even rank's data: the whole vector, to be added, unless overridden.
    virtual void fold(int even, Round& round) const {
        round.send(even, even + 1, size_, {.first = 0, .length = chunks()}, true);
    }
    /// Adds the messages that a place sends in a step.
    virtual void exchange(int step, int place, Round& round) const = 0;
    /// Returns the result to an even rank: the whole vector, unless overridden.
    virtual void unfold(int even, Round& round) const {
        round.send(even + 1, even, size_, {.first = 0, .length = chunks()});
    }

    Folding folding_;
    double size_; ///< n

private:
    int steps_;
};

} // namespace headroom::network::algorithms
