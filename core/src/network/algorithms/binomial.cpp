#include "binomial.hpp"

#include "terms.hpp"

namespace headroom::network::algorithms {
namespace {

double whole(CollectiveCall const& call) { return call.size.size.base(); }

/// The whole vector in every message: from rank 0 to all, or backwards.
class Binomial final : public MessageSchedule {
public:
    Binomial(CollectiveCall const& call, bool reduces)
        : ranks_{call.layout.ranks}, rounds_{ceil_log2(ranks_)}, bytes_{whole(call)}, reduces_{reduces} {}

    [[nodiscard]] int participants() const override { return ranks_; }
    [[nodiscard]] std::int64_t rounds() const override { return rounds_; }
    [[nodiscard]] std::uint32_t chunks() const override { return 1; }
    void write(std::int64_t index, Round& round) const override {
        int const span = 1 << (reduces_ ? rounds_ - 1 - index : index);
        for (int rank = 0; rank < span && rank < ranks_ - span; ++rank) {
            int const other = rank + span;
            round.send(reduces_ ? other : rank, reduces_ ? rank : other, bytes_, {}, reduces_);
        }
    }

private:
    int ranks_, rounds_;
    double bytes_;
    bool reduces_;
};

class BinomialShards final : public MessageSchedule {
public:
    BinomialShards(CollectiveCall const& call, ShardTree::Direction direction)
        : tree_{.ranks = call.layout.ranks, .shard_bytes = whole(call) / call.layout.ranks, .direction = direction} {}

    [[nodiscard]] int participants() const override { return tree_.ranks; }
    [[nodiscard]] std::int64_t rounds() const override { return tree_.rounds(); }
    [[nodiscard]] std::uint32_t chunks() const override { return static_cast<std::uint32_t>(tree_.ranks); }
    void write(std::int64_t index, Round& round) const override {
        tree_.write(index, round, [](int place) { return place; });
    }

private:
    ShardTree tree_;
};

} // namespace

int ShardTree::rounds() const { return ceil_log2(ranks); }

CollectiveTime binomial_broadcast_time(CollectiveCall const& call) {
    double const rounds = ceil_log2(call.layout.ranks);
    return terms(rounds, rounds * whole(call), 0.0, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> binomial_broadcast_schedule(CollectiveCall const& call) {
    return std::make_unique<Binomial>(call, false);
}

CollectiveTime binomial_reduce_time(CollectiveCall const& call) {
    double const rounds = ceil_log2(call.layout.ranks);
    return terms(rounds, rounds * whole(call), rounds * whole(call), call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> binomial_reduce_schedule(CollectiveCall const& call) {
    return std::make_unique<Binomial>(call, true);
}

CollectiveTime binomial_shards_time(CollectiveCall const& call) {
    int const ranks = call.layout.ranks;
    double const bytes = static_cast<double>(ranks - 1) / ranks * whole(call);
    return terms(ceil_log2(ranks), bytes, 0.0, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> binomial_scatter_schedule(CollectiveCall const& call) {
    return std::make_unique<BinomialShards>(call, ShardTree::Direction::from_root);
}
std::unique_ptr<MessageSchedule> binomial_gather_schedule(CollectiveCall const& call) {
    return std::make_unique<BinomialShards>(call, ShardTree::Direction::to_root);
}

} // namespace headroom::network::algorithms
