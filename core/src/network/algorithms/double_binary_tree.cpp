#include "double_binary_tree.hpp"

#include "segments.hpp"
#include "terms.hpp"

#include <bit>

namespace headroom::network::algorithms {
namespace {

bool power_of_two(int places) { return (places & (places - 1)) == 0; } // of at least one

/// Direction of the vector: to rank 0, added; from rank 0; or first the one, then the other.
struct Ways {
    bool inward, outward;
    [[nodiscard]] double passes() const { return (inward ? 1.0 : 0.0) + (outward ? 1.0 : 0.0); }
};

/// The whole vector over one hop, each way that it goes.
CollectiveTime hop_of(CollectiveCall const& call, Ways ways) {
    double const n = call.size.size.base();
    return terms(ways.passes(), ways.passes() * n, ways.inward ? n : 0.0, call.layout.outermost(), call.reduction);
}

std::uint32_t segments_of(CollectiveCall const& call, TwoTrees const& trees, CollectiveTime const& hop) {
    return best_segments(trees.largest_lag(), call.size.size, hop.bandwidth + hop.reduction, hop.latency);
}

CollectiveTime time_of(CollectiveCall const& call, Ways ways) {
    if (call.layout.ranks == 1) { return {}; }
    TwoTrees const trees{call.layout.ranks - 1};
    CollectiveTime const hop = hop_of(call, ways);
    std::uint32_t const segments = segments_of(call, trees, hop);
    auto const messages = static_cast<double>(trees.messages(segments));
    auto const additions = static_cast<double>(trees.additions(segments));
    double const share = 1.0 / segments;
    return {messages * hop.latency, messages * share * hop.bandwidth, additions * share * hop.reduction};
}

class DoubleBinaryTree final : public MessageSchedule {
public:
    DoubleBinaryTree(CollectiveCall const& call, Ways ways)
        : ranks_{call.layout.ranks},
          trees_{ranks_ - 1},
          segments_{segments_of(call, trees_, hop_of(call, ways))},
          bytes_{call.size.size.base() / segments_} {
        pass_ = ranks_ > 1 ? std::int64_t{segments_} + trees_.largest_lag() : 0;
        inward_ = ways.inward ? pass_ : 0;
        outward_ = ways.outward ? pass_ : 0;
    }

    [[nodiscard]] int participants() const override { return ranks_; }
    [[nodiscard]] std::int64_t rounds() const override { return inward_ + outward_; }
    [[nodiscard]] std::uint32_t chunks() const override { return segments_; }
    void write(std::int64_t index, Round& round) const override {
        bool const in = index < inward_;
        std::int64_t const step = in ? pass_ - 1 - index : index - inward_; // inward is outward backwards
        for (int place = 1; place < ranks_; ++place) {
            std::int64_t const segment = step - trees_.lag(place);
            if (segment < 0 || segment >= segments_) { continue; }
            bool const second = segment % 2 == 1;
            int const parent = place == 1 ? 0 : trees_.rank_at(place / 2, second);
            int const child = trees_.rank_at(place, second);
            round.send(in ? child : parent, in ? parent : child, bytes_, {.first = static_cast<std::uint32_t>(segment)},
                       in);
        }
    }

private:
    int ranks_;
    TwoTrees trees_;
    std::uint32_t segments_;
    double bytes_;
    std::int64_t pass_ = 0, inward_ = 0, outward_ = 0;
};

constexpr Ways reducing{.inward = true, .outward = false};
constexpr Ways spreading{.inward = false, .outward = true};
constexpr Ways both{.inward = true, .outward = true};

} // namespace

int TwoTrees::mate(int place) const {
    int const inner = places_ / 2;
    if (places_ % 4 == 2) {
        if (place == 1 || place == places_) { return places_ + 1 - place; }
        return place <= inner ? place + inner - 1 : place - inner + 1;
    }
    int const apart = inner % 2 == 0 ? inner : inner + 1;
    if (place <= inner) { return place + apart; }
    int const mate = place - apart;
    return mate >= 1 && mate <= inner ? mate : place; // an odd number of places: one is a leaf of both trees
}

int TwoTrees::lag(int place) const {
    auto digits = static_cast<unsigned>(place);
    if (place == places_ && places_ % 4 == 2) { ++digits; }
    unsigned const below_first = std::bit_floor(digits) - 1;
    return std::popcount(below_first) + std::popcount(~(digits ^ (digits >> 1)) & below_first);
}

int TwoTrees::largest_lag() const {
    if (places_ < 1) { return 0; }
    // 2^(d+1) - 1 places, or one less, whose last place has the lag of the one after it.
    bool const path_of_ones = power_of_two(places_ / 2 + 1);
    return 2 * floor_log2(places_) - (path_of_ones ? 0 : 1);
}

std::int64_t TwoTrees::messages(std::uint32_t segments) const {
    bool const alone = segments == 1 && places_ > 1 && power_of_two(places_);
    bool const unfilled = places_ > 2 && places_ % 2 == 0 && power_of_two(places_ / 2 + 1);
    return std::int64_t{segments} + largest_lag() - (alone || unfilled ? 1 : 0);
}

std::int64_t TwoTrees::additions(std::uint32_t segments) const {
    bool const hidden = segments > 1 && places_ > 1 && power_of_two(places_);
    return messages(segments) - (hidden ? 1 : 0);
}

CollectiveTime double_binary_tree_broadcast_time(CollectiveCall const& call) { return time_of(call, spreading); }
std::unique_ptr<MessageSchedule> double_binary_tree_broadcast_schedule(CollectiveCall const& call) {
    return std::make_unique<DoubleBinaryTree>(call, spreading);
}

CollectiveTime double_binary_tree_reduce_time(CollectiveCall const& call) { return time_of(call, reducing); }
std::unique_ptr<MessageSchedule> double_binary_tree_reduce_schedule(CollectiveCall const& call) {
    return std::make_unique<DoubleBinaryTree>(call, reducing);
}

CollectiveTime double_binary_tree_all_reduce_time(CollectiveCall const& call) { return time_of(call, both); }
std::unique_ptr<MessageSchedule> double_binary_tree_all_reduce_schedule(CollectiveCall const& call) {
    return std::make_unique<DoubleBinaryTree>(call, both);
}

} // namespace headroom::network::algorithms
