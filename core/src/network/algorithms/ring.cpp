#include "one_level.hpp"
#include "terms.hpp"

namespace headroom::network::algorithms {
namespace {

double hops(CollectiveCall const& call) { return static_cast<double>(call.layout.ranks - 1); }
/// (p-1)/p n
double turned(CollectiveCall const& call) { return hops(call) / call.layout.ranks * call.size.size.base(); }

/// One or both turns round the ring of all ranks: first every shard is added up on its way to its owner, then every
/// shard goes from its owner to all.
class Ring final : public MessageSchedule {
public:
    Ring(CollectiveCall const& call, bool reduces, bool gathers)
        : ranks_{call.layout.ranks},
          bytes_{call.size.size.base() / call.layout.ranks},
          reducing_{reduces ? ranks_ - 1 : 0},
          gathering_{gathers ? ranks_ - 1 : 0} {}

    [[nodiscard]] int participants() const override { return ranks_; }
    [[nodiscard]] std::int64_t rounds() const override { return reducing_ + gathering_; }
    [[nodiscard]] std::uint32_t chunks() const override { return static_cast<std::uint32_t>(ranks_); }
    [[nodiscard]] bool rotates() const override { return true; }
    void write(std::int64_t index, Round& round) const override {
        for (int rank = 0; rank < ranks_; ++rank) { send(index, rank, round); }
    }
    void write_first(std::int64_t index, Round& round) const override { send(index, 0, round); }

private:
    /// Shard c starts at rank c + 1 and reaches its owner, rank c, after p-1 steps; from there it goes on.
    void send(std::int64_t index, int rank, Round& round) const {
        bool const adds = index < reducing_;
        int const step = static_cast<int>(adds ? index : index - reducing_);
        int const behind = adds ? step + 1 : step;
        int const shard = rank >= behind ? rank - behind : rank - behind + ranks_;
        round.send(rank, rank + 1 < ranks_ ? rank + 1 : 0, bytes_, {.first = static_cast<std::uint32_t>(shard)}, adds);
    }

    int ranks_;
    double bytes_;
    int reducing_, gathering_;
};

} // namespace

CollectiveTime ring_all_reduce_time(CollectiveCall const& call) {
    return terms(2.0 * hops(call), 2.0 * turned(call), turned(call), call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> ring_all_reduce_schedule(CollectiveCall const& call) {
    return std::make_unique<Ring>(call, true, true);
}

CollectiveTime ring_all_gather_time(CollectiveCall const& call) {
    return terms(hops(call), turned(call), 0.0, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> ring_all_gather_schedule(CollectiveCall const& call) {
    return std::make_unique<Ring>(call, false, true);
}

CollectiveTime ring_reduce_scatter_time(CollectiveCall const& call) {
    return terms(hops(call), turned(call), turned(call), call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> ring_reduce_scatter_schedule(CollectiveCall const& call) {
    return std::make_unique<Ring>(call, true, false);
}

} // namespace headroom::network::algorithms
