#include "folding.hpp"
#include "one_level.hpp"
#include "skew.hpp"
#include "terms.hpp"

#include <algorithm>

namespace headroom::network::algorithms {
namespace {

/// #{j < p: bit t of j is set}.
std::int64_t with_bit(std::int64_t ranks, int t) {
    std::int64_t const bit = std::int64_t{1} << t;
    std::int64_t const in_last_run = (ranks & (2 * bit - 1)) - bit;
    return (ranks >> (t + 1) << t) + std::max<std::int64_t>(in_last_run, 0);
}

/// ceil(lg p) rounds between ranks 1, 2, 4 ... places apart.
class Bruck : public MessageSchedule {
public:
    explicit Bruck(CollectiveCall const& call) : ranks_{call.layout.ranks} {}
    [[nodiscard]] int participants() const final { return ranks_; }
    [[nodiscard]] std::int64_t rounds() const final { return ceil_log2(ranks_); }
    [[nodiscard]] std::uint32_t chunks() const final { return chunk(ranks_); }
    void write(std::int64_t index, Round& round) const final {
        for (int rank = 0; rank < ranks_; ++rank) { send(rank, static_cast<int>(index), round); }
    }
    void write_first(std::int64_t index, Round& round) const final { send(0, static_cast<int>(index), round); }

protected:
    int ranks_;

private:
    /// In round t.
    virtual void send(int rank, int t, Round& round) const = 0;
};

class AllGather final : public Bruck {
public:
    explicit AllGather(CollectiveCall const& call) : Bruck(call), shard_{call.size.size.base() / ranks_} {}
    [[nodiscard]] bool rotates() const override { return true; }

private:
    void send(int rank, int t, Round& round) const override {
        int const bit = 1 << t;
        int const shards = std::min(bit, ranks_ - bit);
        round.send(rank, rank >= bit ? rank - bit : rank - bit + ranks_, shards * shard_,
                   {.first = chunk(rank), .length = chunk(shards)});
    }
    double shard_;
};

class AllToAll final : public Bruck {
public:
    explicit AllToAll(CollectiveCall const& call) : Bruck(call), shares_{call} {}
    [[nodiscard]] bool rotates() const override { return shares_.even; }

private:
    void send(int rank, int t, Round& round) const override {
        int const bit = 1 << t;
        std::uint32_t const run = chunk(bit);
        std::uint32_t const runs = chunk((ranks_ - bit + 2 * bit - 1) / (2 * bit));
        auto const blocks = static_cast<double>(with_bit(ranks_, t));
        double const bytes = blocks * shares_.other + for_busiest(rank, bit) * (shares_.busiest - shares_.other);
        round.send(rank, rank < ranks_ - bit ? rank + bit : rank + bit - ranks_, bytes,
                   {.first = run, .length = run, .stride = 2 * run, .repeats = runs, .end = chunk(ranks_)});
    }
    /// Blocks for rank 0 that a rank sends in this round. Those in slot j have come as far as the lower bits of j say, so
    /// the upper bits are the places that rank 0 still is away.
    [[nodiscard]] double for_busiest(int rank, int bit) const {
        int const away = ranks_ - rank;
        bool const sends = rank > 0 && away % (2 * bit) == bit;
        return sends ? std::min(bit, ranks_ - away) : 0;
    }
    Shares shares_;
};

} // namespace

CollectiveTime bruck_all_gather_time(CollectiveCall const& call) {
    double const p = call.layout.ranks;
    return terms(ceil_log2(call.layout.ranks), (p - 1.0) / p * call.size.size.base(), 0.0, call.layout.outermost(),
                 call.reduction);
}
std::unique_ptr<MessageSchedule> bruck_all_gather_schedule(CollectiveCall const& call) {
    return std::make_unique<AllGather>(call);
}

CollectiveTime bruck_all_to_all_time(CollectiveCall const& call) {
    int const rounds = ceil_log2(call.layout.ranks);
    double blocks = 0.0;
    for (int t = 0; t < rounds; ++t) { blocks += static_cast<double>(with_bit(call.layout.ranks, t)); }
    Shares const shares{call};
    double const more = (call.layout.ranks - 1.0) * (shares.busiest - shares.other);
    return terms(rounds, blocks * shares.other + more, 0.0, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> bruck_all_to_all_schedule(CollectiveCall const& call) {
    return std::make_unique<AllToAll>(call);
}

} // namespace headroom::network::algorithms
