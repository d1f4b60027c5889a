#include "binomial.hpp"
#include "one_level.hpp"
#include "terms.hpp"

#include <algorithm>

namespace headroom::network::algorithms {
namespace {

enum class Gathering { doubling, ring };

class ScatterAllGather final : public MessageSchedule {
public:
    ScatterAllGather(CollectiveCall const& call, Gathering gathering)
        : scatter_{.ranks = call.layout.ranks,
                   .shard_bytes = call.size.size.base() / call.layout.ranks,
                   .direction = ShardTree::Direction::from_root},
          gathering_{gathering} {}

    [[nodiscard]] int participants() const override { return scatter_.ranks; }
    [[nodiscard]] std::int64_t rounds() const override {
        return scatter_.rounds() +
               (gathering_ == Gathering::doubling ? std::int64_t{scatter_.rounds()} : scatter_.ranks - 1);
    }
    [[nodiscard]] std::uint32_t chunks() const override { return static_cast<std::uint32_t>(scatter_.ranks); }
    void write(std::int64_t index, Round& round) const override {
        if (index < scatter_.rounds()) {
            scatter_.write(index, round, [](int place) { return place; });
        } else if (gathering_ == Gathering::doubling) {
            double_what_is_held(1 << (index - scatter_.rounds()), round);
        } else {
            pass_on(static_cast<int>(index - scatter_.rounds()), round);
        }
    }

private:
    /// Rank r holds the `held` shards from its own on, and gets those after them.
    void double_what_is_held(int held, Round& round) const {
        int const ranks = scatter_.ranks;
        int const missing = std::min(held, ranks - held);
        for (int rank = 0; rank < ranks; ++rank) {
            round.send(rank, rank >= held ? rank - held : rank - held + ranks, missing * scatter_.shard_bytes,
                       {.first = static_cast<std::uint32_t>(rank), .length = static_cast<std::uint32_t>(missing)});
        }
    }
    /// Each passes on the shard that it got last; the first time its own.
    void pass_on(int step, Round& round) const {
        int const ranks = scatter_.ranks;
        for (int rank = 0; rank < ranks; ++rank) {
            int const shard = rank >= step ? rank - step : rank - step + ranks;
            round.send(rank, rank + 1 < ranks ? rank + 1 : 0, scatter_.shard_bytes,
                       {.first = static_cast<std::uint32_t>(shard)});
        }
    }

    ShardTree scatter_;
    Gathering gathering_;
};

CollectiveTime both(CollectiveCall const& call, double gathering_rounds) {
    int const ranks = call.layout.ranks;
    double const bytes = 2.0 * static_cast<double>(ranks - 1) / ranks * call.size.size.base();
    return terms(ceil_log2(ranks) + gathering_rounds, bytes, 0.0, call.layout.outermost(), call.reduction);
}

} // namespace

CollectiveTime van_de_geijn_broadcast_time(CollectiveCall const& call) {
    return both(call, ceil_log2(call.layout.ranks));
}
std::unique_ptr<MessageSchedule> van_de_geijn_broadcast_schedule(CollectiveCall const& call) {
    return std::make_unique<ScatterAllGather>(call, Gathering::doubling);
}

CollectiveTime scatter_ring_broadcast_time(CollectiveCall const& call) {
    return both(call, static_cast<double>(call.layout.ranks - 1));
}
std::unique_ptr<MessageSchedule> scatter_ring_broadcast_schedule(CollectiveCall const& call) {
    return std::make_unique<ScatterAllGather>(call, Gathering::ring);
}

} // namespace headroom::network::algorithms
