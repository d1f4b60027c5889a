#include "one_level.hpp"
#include "terms.hpp"

namespace headroom::network::algorithms {
namespace {

double others(CollectiveCall const& call) { return static_cast<double>(call.layout.ranks - 1); }
double whole(CollectiveCall const& call) { return call.size.size.base(); }

enum class Payload { vector, shard };

/// First every other rank sends to the root, then the root sends to every other; or one of the two.
class Flat final : public MessageSchedule {
public:
    Flat(CollectiveCall const& call, bool inward, bool outward, Payload payload)
        : ranks_{call.layout.ranks},
          inward_{inward ? ranks_ - 1 : 0},
          outward_{outward ? ranks_ - 1 : 0},
          shards_{payload == Payload::shard},
          bytes_{whole(call) / (shards_ ? ranks_ : 1)} {}

    [[nodiscard]] int participants() const override { return ranks_; }
    [[nodiscard]] std::int64_t rounds() const override { return std::int64_t{inward_} + outward_; }
    [[nodiscard]] std::uint32_t chunks() const override { return shards_ ? static_cast<std::uint32_t>(ranks_) : 1; }
    void write(std::int64_t index, Round& round) const override {
        bool const in = index < inward_;
        int const other = static_cast<int>(in ? index : index - inward_) + 1;
        Chunks const chunk{.first = shards_ ? static_cast<std::uint32_t>(other) : 0};
        round.send(in ? other : 0, in ? 0 : other, bytes_, chunk, in && !shards_);
    }

private:
    int ranks_;
    int inward_, outward_;
    bool shards_;
    double bytes_;
};

} // namespace

CollectiveTime flat_broadcast_time(CollectiveCall const& call) {
    return terms(others(call), others(call) * whole(call), 0.0, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> flat_broadcast_schedule(CollectiveCall const& call) {
    return std::make_unique<Flat>(call, false, true, Payload::vector);
}

CollectiveTime flat_reduce_time(CollectiveCall const& call) {
    double const bytes = others(call) * whole(call);
    return terms(others(call), bytes, bytes, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> flat_reduce_schedule(CollectiveCall const& call) {
    return std::make_unique<Flat>(call, true, false, Payload::vector);
}

CollectiveTime flat_all_reduce_time(CollectiveCall const& call) {
    double const bytes = others(call) * whole(call);
    return terms(2.0 * others(call), 2.0 * bytes, bytes, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> flat_all_reduce_schedule(CollectiveCall const& call) {
    return std::make_unique<Flat>(call, true, true, Payload::vector);
}

CollectiveTime linear_shards_time(CollectiveCall const& call) {
    double const bytes = others(call) / call.layout.ranks * whole(call);
    return terms(others(call), bytes, 0.0, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> linear_scatter_schedule(CollectiveCall const& call) {
    return std::make_unique<Flat>(call, false, true, Payload::shard);
}
std::unique_ptr<MessageSchedule> linear_gather_schedule(CollectiveCall const& call) {
    return std::make_unique<Flat>(call, true, false, Payload::shard);
}

} // namespace headroom::network::algorithms
