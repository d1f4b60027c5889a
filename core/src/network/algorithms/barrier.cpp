#include "one_level.hpp"
#include "terms.hpp"

namespace headroom::network::algorithms {
namespace {

class Dissemination final : public MessageSchedule {
public:
    explicit Dissemination(int ranks) : ranks_{ranks} {}
    [[nodiscard]] int participants() const override { return ranks_; }
    [[nodiscard]] std::int64_t rounds() const override { return ceil_log2(ranks_); }
    [[nodiscard]] std::uint32_t chunks() const override { return 1; }
    [[nodiscard]] bool rotates() const override { return true; }
    void write(std::int64_t index, Round& round) const override {
        for (int rank = 0; rank < ranks_; ++rank) { send(rank, 1 << index, round); }
    }
    void write_first(std::int64_t index, Round& round) const override { send(0, 1 << index, round); }

private:
    void send(int rank, int places, Round& round) const {
        round.send(rank, rank < ranks_ - places ? rank + places : rank + places - ranks_, 0.0, {}, true);
    }
    int ranks_;
};

/// Up the tree, the nearest first, then down it, the farthest first.
class Binomial final : public MessageSchedule {
public:
    explicit Binomial(int ranks) : ranks_{ranks}, depth_{ceil_log2(ranks)} {}
    [[nodiscard]] int participants() const override { return ranks_; }
    [[nodiscard]] std::int64_t rounds() const override { return 2 * depth_; }
    [[nodiscard]] std::uint32_t chunks() const override { return 1; }
    void write(std::int64_t index, Round& round) const override {
        bool const up = index < depth_;
        std::int64_t const places = std::int64_t{1} << (up ? index : 2 * depth_ - 1 - index);
        for (std::int64_t child = places; child < ranks_; child += 2 * places) {
            int const below = static_cast<int>(child), above = static_cast<int>(child - places);
            round.send(up ? below : above, up ? above : below, 0.0, {}, true);
        }
    }

private:
    int ranks_, depth_;
};

} // namespace

CollectiveTime dissemination_barrier_time(CollectiveCall const& call) {
    return terms(ceil_log2(call.layout.ranks), 0.0, 0.0, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> dissemination_barrier_schedule(CollectiveCall const& call) {
    return std::make_unique<Dissemination>(call.layout.ranks);
}

CollectiveTime binomial_barrier_time(CollectiveCall const& call) {
    return terms(2.0 * ceil_log2(call.layout.ranks), 0.0, 0.0, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> binomial_barrier_schedule(CollectiveCall const& call) {
    return std::make_unique<Binomial>(call.layout.ranks);
}

} // namespace headroom::network::algorithms
