#include "folding.hpp"
#include "one_level.hpp"
#include "skew.hpp"
#include "terms.hpp"

namespace headroom::network::algorithms {
namespace {

/// Every rank sends to the rank 1, 2, 3 ... places on.
class Pairwise : public MessageSchedule {
public:
    explicit Pairwise(CollectiveCall const& call) : ranks_{call.layout.ranks} {}
    [[nodiscard]] int participants() const final { return ranks_; }
    [[nodiscard]] std::int64_t rounds() const final { return ranks_ - 1; }
    [[nodiscard]] std::uint32_t chunks() const final { return chunk(ranks_); }
    void write(std::int64_t index, Round& round) const final {
        for (int rank = 0; rank < ranks_; ++rank) { write_one(rank, static_cast<int>(index) + 1, round); }
    }
    void write_first(std::int64_t index, Round& round) const final { write_one(0, static_cast<int>(index) + 1, round); }

private:
    void write_one(int rank, int places, Round& round) const {
        send(rank, rank < ranks_ - places ? rank + places : rank + places - ranks_, places, round);
    }
    virtual void send(int from, int to, int places, Round& round) const = 0;

    int ranks_;
};

class ReduceScatter final : public Pairwise {
public:
    explicit ReduceScatter(CollectiveCall const& call)
        : Pairwise(call), shard_{call.size.size.base() / call.layout.ranks} {}
    [[nodiscard]] bool rotates() const override { return true; }

private:
    void send(int from, int to, int /*places*/, Round& round) const override {
        round.send(from, to, shard_, {.first = chunk(to)}, true);
    }
    double shard_;
};

class AllToAll final : public Pairwise {
public:
    explicit AllToAll(CollectiveCall const& call) : Pairwise(call), shares_{call} {}
    [[nodiscard]] bool rotates() const override { return shares_.even; }

private:
    void send(int from, int to, int places, Round& round) const override {
        round.send(from, to, to == 0 ? shares_.busiest : shares_.other, {.first = chunk(places)});
    }
    Shares shares_;
};

} // namespace

CollectiveTime pairwise_reduce_scatter_time(CollectiveCall const& call) {
    double const p = call.layout.ranks;
    double const moved = (p - 1.0) / p * call.size.size.base();
    return terms(p - 1.0, moved, moved, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> pairwise_reduce_scatter_schedule(CollectiveCall const& call) {
    return std::make_unique<ReduceScatter>(call);
}

CollectiveTime pairwise_all_to_all_time(CollectiveCall const& call) {
    double const others = call.layout.ranks - 1.0;
    return terms(others, others * Shares{call}.busiest, 0.0, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> pairwise_all_to_all_schedule(CollectiveCall const& call) {
    return std::make_unique<AllToAll>(call);
}

} // namespace headroom::network::algorithms
