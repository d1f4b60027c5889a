#include "one_level.hpp"
#include "segments.hpp"
#include "terms.hpp"

#include <algorithm>

namespace headroom::network::algorithms {
namespace {

double hops(CollectiveCall const& call) { return static_cast<double>(call.layout.ranks - 1); }

/// The whole vector over one hop of the pipelined chain, without alpha.
CollectiveTime hop_of(CollectiveCall const& call, bool reduces) {
    double const n = call.size.size.base();
    return terms(0.0, n, reduces ? n : 0.0, call.layout.outermost(), call.reduction);
}

std::uint32_t segments_of(CollectiveCall const& call, CollectiveTime const& hop) {
    return best_segments(hops(call) - 1.0, call.size.size, hop.total(), call.layout.outermost().latency);
}

CollectiveTime pipelined_time(CollectiveCall const& call, bool reduces) {
    if (call.layout.ranks == 1) { return {}; }
    CollectiveTime const hop = hop_of(call, reduces);
    double const segments = segments_of(call, hop);
    double const rounds = hops(call) + segments - 1.0;
    double const vectors = rounds / segments;
    return {rounds * call.layout.outermost().latency, vectors * hop.bandwidth, vectors * hop.reduction};
}

/// Segments that follow one another towards rank 0, adding, then away from it; or one of the two.
class Chain final : public MessageSchedule {
public:
    Chain(CollectiveCall const& call, bool inward, bool outward, std::uint32_t segments)
        : ranks_{call.layout.ranks}, segments_{segments}, bytes_{call.size.size.base() / segments} {
        std::int64_t const rounds = ranks_ > 1 ? std::int64_t{ranks_} - 2 + segments : 0;
        inward_ = inward ? rounds : 0;
        outward_ = outward ? rounds : 0;
    }

    [[nodiscard]] int participants() const override { return ranks_; }
    [[nodiscard]] std::int64_t rounds() const override { return inward_ + outward_; }
    [[nodiscard]] std::uint32_t chunks() const override { return segments_; }
    void write(std::int64_t index, Round& round) const override {
        bool const in = index < inward_;
        std::int64_t const step = in ? index : index - inward_;
        std::int64_t const last = std::min<std::int64_t>(step, segments_ - 1);
        for (std::int64_t segment = std::max<std::int64_t>(0, step - (ranks_ - 2)); segment <= last; ++segment) {
            int const hop = static_cast<int>(step - segment);
            int const from = in ? ranks_ - 1 - hop : hop;
            round.send(from, in ? from - 1 : from + 1, bytes_, {.first = static_cast<std::uint32_t>(segment)}, in);
        }
    }

private:
    int ranks_;
    std::uint32_t segments_;
    double bytes_;
    std::int64_t inward_ = 0, outward_ = 0;
};

} // namespace

CollectiveTime chain_all_reduce_time(CollectiveCall const& call) {
    double const bytes = hops(call) * call.size.size.base();
    return terms(2.0 * hops(call), 2.0 * bytes, bytes, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> chain_all_reduce_schedule(CollectiveCall const& call) {
    return std::make_unique<Chain>(call, true, true, 1);
}

CollectiveTime pipelined_chain_broadcast_time(CollectiveCall const& call) { return pipelined_time(call, false); }
std::unique_ptr<MessageSchedule> pipelined_chain_broadcast_schedule(CollectiveCall const& call) {
    return std::make_unique<Chain>(call, false, true, segments_of(call, hop_of(call, false)));
}

CollectiveTime pipelined_chain_reduce_time(CollectiveCall const& call) { return pipelined_time(call, true); }
std::unique_ptr<MessageSchedule> pipelined_chain_reduce_schedule(CollectiveCall const& call) {
    return std::make_unique<Chain>(call, true, false, segments_of(call, hop_of(call, true)));
}

} // namespace headroom::network::algorithms
