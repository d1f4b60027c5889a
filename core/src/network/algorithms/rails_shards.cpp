#include "binomial.hpp"
#include "columns.hpp"
#include "rails.hpp"
#include "terms.hpp"

namespace headroom::network::algorithms {
namespace {

/// One or two levels; rank r's shard is chunk r. Inside, what goes to a place is the shards of its rail in every domain.
class RailShards final : public MessageSchedule {
public:
    RailShards(CollectiveCall const& call, ShardTree::Direction direction)
        : layout_{call.layout},
          inside_{tree(call, 0, direction)},
          across_{layout_.levels > 1 ? tree(call, 1, direction) : ShardTree{1, 0.0, direction}} {}

    [[nodiscard]] int participants() const override { return layout_.ranks; }
    [[nodiscard]] std::int64_t rounds() const override { return inside_.rounds() + across_.rounds(); }
    [[nodiscard]] std::uint32_t chunks() const override { return chunk(layout_.ranks); }
    void write(std::int64_t index, Round& round) const override {
        bool const out = inside_.direction == ShardTree::Direction::from_root;
        int const first = out ? inside_.rounds() : across_.rounds();
        bool const is_inside = (index < first) == out;
        is_inside ? write_inside(out ? index : index - first, round) : write_across(out ? index - first : index, round);
    }

private:
    static ShardTree tree(CollectiveCall const& call, int level, ShardTree::Direction direction) {
        return {.ranks = call.layout.level[static_cast<std::size_t>(level)].ranks,
                .shard_bytes = call.size.size.base() / ranks_up_to(call.layout, level),
                .direction = direction};
    }

    void write_inside(std::int64_t index, Round& round) const {
        Round one{layout_};
        inside_.write(index, one, [](int place) { return place; });
        for (Message const& message : one.messages()) {
            Chunks const of_rails{.first = message.chunks.first,
                                  .length = message.chunks.length,
                                  .stride = chunk(inside_.ranks),
                                  .repeats = chunk(across_.ranks)};
            round.send_on(0, static_cast<int>(message.from), static_cast<int>(message.to), message.bytes, of_rails);
        }
    }

    void write_across(std::int64_t index, Round& round) const {
        Round one{layout_};
        int const rails = inside_.ranks;
        across_.write(index, one, [rails](int domain) { return domain * rails; });
        for (Message const& message : one.messages()) {
            for (int rail = 0; rail < rails; ++rail) {
                Chunks const of_domains{.first = chunk(rail) + chunk(rails) * message.chunks.first,
                                        .length = 1,
                                        .stride = chunk(rails),
                                        .repeats = message.chunks.length};
                round.send_on(1, static_cast<int>(message.from) + rail, static_cast<int>(message.to) + rail,
                              message.bytes, of_domains);
            }
        }
    }

    Layout layout_;
    ShardTree inside_, across_;
};

} // namespace

bool is_even_to_two_levels(Layout const& layout) { return layout.levels <= 2 && layout.even(); }

CollectiveTime rails_shards_time(CollectiveCall const& call) {
    CollectiveTime time;
    int ranks = 1;
    for (int i = 0; i < call.layout.levels; ++i) {
        Level const& level = call.layout.level[static_cast<std::size_t>(i)];
        ranks *= level.ranks;
        double const moved = static_cast<double>(level.ranks - 1) / ranks * call.size.size.base();
        time = time + terms(ceil_log2(level.ranks), moved, 0.0, level.link, call.reduction);
    }
    return time;
}
std::unique_ptr<MessageSchedule> rails_scatter_schedule(CollectiveCall const& call) {
    return std::make_unique<RailShards>(call, ShardTree::Direction::from_root);
}
std::unique_ptr<MessageSchedule> rails_gather_schedule(CollectiveCall const& call) {
    return std::make_unique<RailShards>(call, ShardTree::Direction::to_root);
}

} // namespace headroom::network::algorithms
