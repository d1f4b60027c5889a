#include "binomial.hpp"
#include "one_level.hpp"
#include "terms.hpp"

#include <bit>

namespace headroom::network::algorithms {
namespace {

class RabenseifnerReduce final : public MessageSchedule {
public:
    explicit RabenseifnerReduce(CollectiveCall const& call)
        : ranks_{call.layout.ranks},
          halvings_{floor_log2(ranks_)},
          folded_{ranks_ - (1 << halvings_)},
          bytes_{call.size.size.base()},
          gather_{.ranks = 1 << halvings_,
                  .shard_bytes = bytes_ / (1 << halvings_),
                  .direction = ShardTree::Direction::to_root} {}

    [[nodiscard]] int participants() const override { return ranks_; }
    [[nodiscard]] std::int64_t rounds() const override { return folds() + 2 * std::int64_t{halvings_}; }
    [[nodiscard]] std::uint32_t chunks() const override { return static_cast<std::uint32_t>(gather_.ranks); }
    void write(std::int64_t index, Round& round) const override {
        if (index < folds()) {
            fold(round);
        } else if (index < folds() + halvings_) {
            halve(gather_.ranks >> (index - folds() + 1), round);
        } else {
            gather_.write(index - folds() - halvings_, round, [this](int place) { return rank_at(place); });
        }
    }

private:
    [[nodiscard]] int folds() const { return folded_ > 0 ? 1 : 0; }
    /// The rank of a place among the q that go on after folding.
    [[nodiscard]] int rank_at(int place) const { return place < folded_ ? 2 * place : place + folded_; }

    void fold(Round& round) const {
        for (int i = 0; i < folded_; ++i) { round.send(2 * i + 1, 2 * i, bytes_, {.length = chunks()}, true); }
    }
    /// Partners `half` places apart give each other the half that the other is to keep.
    void halve(int half, Round& round) const {
        for (int place = 0; place < gather_.ranks; ++place) {
            int const partner = place ^ half;
            int const first = partner & ~(half - 1);
            round.send(rank_at(place), rank_at(partner), half * gather_.shard_bytes,
                       {.first = static_cast<std::uint32_t>(first), .length = static_cast<std::uint32_t>(half)}, true);
        }
    }

    int ranks_, halvings_, folded_;
    double bytes_;
    ShardTree gather_;
};

} // namespace

CollectiveTime rabenseifner_reduce_time(CollectiveCall const& call) {
    auto const ranks = static_cast<unsigned>(call.layout.ranks);
    double const halvings = floor_log2(call.layout.ranks);
    double const places = std::bit_floor(ranks);
    double const folds = std::has_single_bit(ranks) ? 0.0 : 1.0;
    double const halved = (places - 1.0) / places;
    double const n = call.size.size.base();
    return terms(2.0 * halvings + folds, (2.0 * halved + folds) * n, (halved + folds) * n, call.layout.outermost(),
                 call.reduction);
}
std::unique_ptr<MessageSchedule> rabenseifner_reduce_schedule(CollectiveCall const& call) {
    return std::make_unique<RabenseifnerReduce>(call);
}

} // namespace headroom::network::algorithms
