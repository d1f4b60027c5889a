#include "in_network.hpp"

#include "segments.hpp"
#include "terms.hpp"

namespace headroom::network::algorithms {
namespace {

/// n beta, one hop.
Seconds hop_of(CollectiveCall const& call) {
    return terms(0.0, call.size.size.base(), 0.0, call.layout.outermost(), call.reduction).bandwidth;
}

std::uint32_t segments_of(CollectiveCall const& call, int height, Seconds hop) {
    return best_segments(2.0 * height - 1.0, call.size.size, hop, call.layout.outermost().latency);
}

/// Ranks that give and get: all, or rank 0 alone.
enum class Ends { all, root };

class InNetwork final : public MessageSchedule {
public:
    InNetwork(CollectiveCall const& call, int radix, Ends givers, Ends takers)
        : tree_{call.layout.ranks, radix},
          segments_{segments_of(call, tree_.height(), hop_of(call))},
          bytes_{call.size.size.base() / segments_},
          level_{call.layout.levels - 1},
          givers_{givers},
          takers_{takers} {}

    [[nodiscard]] int participants() const override { return tree_.participants(); }
    [[nodiscard]] std::int64_t rounds() const override {
        return tree_.height() > 0 ? std::int64_t{segments_} + 2 * tree_.height() - 1 : 0;
    }
    [[nodiscard]] std::uint32_t chunks() const override { return segments_; }
    void write(std::int64_t index, Round& round) const override {
        for (int hop = 0; hop < 2 * tree_.height(); ++hop) {
            std::int64_t const segment = index - hop;
            if (segment < 0 || segment >= segments_) { continue; }
            Chunks const chunk{.first = static_cast<std::uint32_t>(segment)};
            if (hop < tree_.height()) {
                up(hop, chunk, round);
            } else {
                down(2 * tree_.height() - 1 - hop, chunk, round);
            }
        }
    }

private:
    /// Members of a level to their switches. A switch adds what all of its members give.
    void up(int level, Chunks chunk, Round& round) const {
        int const last = givers_ == Ends::all ? tree_.members(level) : 1;
        for (int member = 0; member < last; ++member) {
            round.send_on(level_, tree_.participant(level, member),
                          tree_.participant(level + 1, member / tree_.radix()), bytes_, chunk, givers_ == Ends::all);
        }
    }
    /// Switches to their members of a level; those that rank 0 alone went up through have it.
    void down(int level, Chunks chunk, Round& round) const {
        int const last = takers_ == Ends::all ? tree_.members(level) : 1;
        for (int member = givers_ == Ends::all ? 0 : 1; member < last; ++member) {
            round.send_on(level_, tree_.participant(level + 1, member / tree_.radix()),
                          tree_.participant(level, member), bytes_, chunk);
        }
    }

    SwitchTree tree_;
    std::uint32_t segments_;
    double bytes_;
    int level_;
    Ends givers_, takers_;
};

} // namespace

int switch_levels(int ranks, int radix) {
    int levels = 0;
    for (std::int64_t reached = 1; reached < ranks; reached *= radix) { ++levels; }
    return levels;
}

SwitchTree::SwitchTree(int ranks, int radix) : radix_{radix}, height_{switch_levels(ranks, radix)} {
    members_[0] = ranks;
    for (std::size_t level = 1; level <= static_cast<std::size_t>(height_); ++level) {
        first_[level] = first_[level - 1] + members_[level - 1];
        members_[level] = (members_[level - 1] - 1) / radix + 1;
    }
}

CollectiveTime in_network_time(CollectiveCall const& call, int radix) {
    int const height = switch_levels(call.layout.ranks, radix);
    if (height == 0) { return {}; }
    Seconds const hop = hop_of(call);
    double const segments = segments_of(call, height, hop);
    double const rounds = segments + 2.0 * height - 1.0;
    return {rounds * call.layout.outermost().latency, rounds / segments * hop};
}

std::unique_ptr<MessageSchedule> in_network_schedule(Collective collective, CollectiveCall const& call, int radix) {
    Ends const givers = collective == Collective::broadcast ? Ends::root : Ends::all;
    Ends const takers = collective == Collective::reduce ? Ends::root : Ends::all;
    return std::make_unique<InNetwork>(call, radix, givers, takers);
}

CollectiveTime in_network_time(CollectiveCall const& call) { return in_network_time(call, switch_radix); }
std::unique_ptr<MessageSchedule> in_network_all_reduce_schedule(CollectiveCall const& call) {
    return in_network_schedule(Collective::all_reduce, call, switch_radix);
}
std::unique_ptr<MessageSchedule> in_network_reduce_schedule(CollectiveCall const& call) {
    return in_network_schedule(Collective::reduce, call, switch_radix);
}
std::unique_ptr<MessageSchedule> in_network_broadcast_schedule(CollectiveCall const& call) {
    return in_network_schedule(Collective::broadcast, call, switch_radix);
}

} // namespace headroom::network::algorithms
