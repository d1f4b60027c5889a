#include "rails.hpp"

#include "binomial.hpp"
#include "columns.hpp"
#include "double_binary_tree.hpp"
#include "one_level.hpp"
#include "terms.hpp"

namespace headroom::network::algorithms {
namespace {

Level const& level_of(Layout const& layout, int level) { return layout.level[static_cast<std::size_t>(level)]; }

/// The binomial scatter or gather and the ring along each level but the outermost.
CollectiveTime inside_time(CollectiveCall const& call, bool reduces) {
    CollectiveTime time;
    int ranks = 1;
    for (int i = 0; i + 1 < call.layout.levels; ++i) {
        Level const& level = level_of(call.layout, i);
        ranks *= level.ranks;
        double const hops = level.ranks - 1;
        double const moved = hops * (call.size.size.base() / ranks);
        time =
            time + terms(ceil_log2(level.ranks) + hops, 2.0 * moved, reduces ? moved : 0.0, level.link, call.reduction);
    }
    return time;
}

/// Shards of the vector by place on the levels inside. The chunk of a rail is where its places stand with level 0 first, so
/// that what a place holds on any level is a range of rails, again in each of the parts that a rail is cut into:
///
///     chunk = rail + w part        rail = (i0 N_1 + i1) N_2 + ...
class Rails final : public MessageSchedule {
public:
    Rails(CollectiveCall const& call, bool reduces, std::unique_ptr<MessageSchedule> across)
        : layout_{call.layout},
          across_layout_{column_call(call, 0.0).layout},
          bytes_{call.size.size.base()},
          reduces_{reduces},
          inner_levels_{layout_.levels - 1},
          width_{ranks_up_to(layout_, inner_levels_ - 1)},
          across_{std::move(across)} {
        for (int i = 0; i < inner_levels_; ++i) {
            before_ += rounds_of(i, reduces_);
            after_ += rounds_of(i, !reduces_);
        }
    }

    [[nodiscard]] int participants() const override { return layout_.ranks; }
    [[nodiscard]] std::int64_t rounds() const override { return before_ + across_->rounds() + after_; }
    [[nodiscard]] std::uint32_t chunks() const override { return chunk(width_) * across_->chunks(); }
    void write(std::int64_t index, Round& round) const override {
        if (index < before_) {
            int level = 0;
            for (; index >= rounds_of(level, reduces_); ++level) { index -= rounds_of(level, reduces_); }
            write_inside(level, static_cast<int>(index), reduces_, round);
        } else if (index -= before_; index < across_->rounds()) {
            write_across(index, round);
        } else {
            index -= across_->rounds();
            int level = inner_levels_ - 1;
            for (; index >= rounds_of(level, !reduces_); --level) { index -= rounds_of(level, !reduces_); }
            write_inside(level, static_cast<int>(index), !reduces_, round);
        }
    }

private:
    [[nodiscard]] int side(int level) const { return level_of(layout_, level).ranks; }
    [[nodiscard]] int rounds_of(int level, bool ring) const { return ring ? side(level) - 1 : ceil_log2(side(level)); }
    void write_inside(int level, int step, bool ring, Round& round) const {
        ring ? write_ring(level, step, round) : write_tree(level, step, round);
    }

    /// Where the rank's places on the levels inside of this one stand.
    [[nodiscard]] int stand(int rank, int level) const {
        int result = 0;
        for (int i = 0; i < level; ++i) {
            result = result * side(i) + rank % side(i);
            rank /= side(i);
        }
        return result;
    }
    /// The shards of `count` places of a level from `place` on, for the ranks that share the rank's places inside of it.
    [[nodiscard]] Chunks shards(int rank, int level, int place, int count) const {
        int const rails = width_ / ranks_up_to(layout_, level);
        return {.first = chunk((stand(rank, level) * side(level) + place) * rails),
                .length = chunk(count * rails),
                .stride = chunk(width_),
                .repeats = across_->chunks()};
    }

    /// A round of the scatters or gathers along a level in the root's domain, one for each place inside of it that has a
    /// part by then.
    void write_tree(int level, int step, Round& round) const {
        Layout const members = Layout::uniform(Ranks{side(level)}, level_of(layout_, level).link);
        ShardTree const tree{.ranks = side(level),
                             .shard_bytes = bytes_ / ranks_up_to(layout_, level),
                             .direction = reduces_ ? ShardTree::Direction::to_root : ShardTree::Direction::from_root};
        Round one{members};
        tree.write(step, one, [](int place) { return place; });
        int const inner = ranks_up_to(layout_, level - 1);
        for (Message const& message : one.messages()) {
            auto const place = static_cast<int>(message.chunks.first);
            auto const count = static_cast<int>(message.chunks.length);
            for (int rank = 0; rank < inner; ++rank) {
                round.send_on(level, rank + static_cast<int>(message.from) * inner,
                              rank + static_cast<int>(message.to) * inner, message.bytes,
                              shards(rank, level, place, count));
            }
        }
    }

    /// A step of the rings along a level in every domain, as in `Ring`.
    void write_ring(int level, int step, Round& round) const {
        int const inner = ranks_up_to(layout_, level - 1), members = side(level), outer = inner * members;
        int const behind = reduces_ ? step + 1 : step;
        for (int rank = 0; rank < layout_.ranks; ++rank) {
            int const place = rank / inner % members;
            int const next = place + 1 < members ? rank + inner : rank - (members - 1) * inner;
            int const shard = place >= behind ? place - behind : place - behind + members;
            round.send_on(level, rank, next, bytes_ / outer, shards(rank, level, shard, 1), reduces_);
        }
    }

    /// A round of what runs across, on every rail.
    void write_across(std::int64_t index, Round& round) const {
        Round one{across_layout_};
        across_->write(index, one);
        for (Message const& message : one.messages()) {
            for (int rank = 0; rank < width_; ++rank) {
                Chunks const of_rail{.first = chunk(stand(rank, inner_levels_)) + chunk(width_) * message.chunks.first,
                                     .length = 1,
                                     .stride = chunk(width_),
                                     .repeats = message.chunks.length};
                round.send_on(inner_levels_, rank + static_cast<int>(message.from) * width_,
                              rank + static_cast<int>(message.to) * width_, message.bytes, of_rail, message.adds);
            }
        }
    }

    Layout layout_, across_layout_;
    double bytes_; ///< n
    bool reduces_;
    int inner_levels_, width_;
    std::unique_ptr<MessageSchedule> across_;
    std::int64_t before_ = 0, after_ = 0;
};

CollectiveTime rails_time(CollectiveCall const& call, bool reduces, Across across) {
    return inside_time(call, reduces) + across.time(column_call(call, column_bytes(call)));
}
std::unique_ptr<MessageSchedule> rails_schedule(CollectiveCall const& call, bool reduces, Across across) {
    if (call.layout.levels == 1) { return across.schedule(call); }
    return std::make_unique<Rails>(call, reduces, across.schedule(column_call(call, column_bytes(call))));
}

constexpr Across chain_broadcast{pipelined_chain_broadcast_time, pipelined_chain_broadcast_schedule};
constexpr Across van_de_geijn{van_de_geijn_broadcast_time, van_de_geijn_broadcast_schedule};
constexpr Across trees_broadcast{double_binary_tree_broadcast_time, double_binary_tree_broadcast_schedule};
constexpr Across chain_reduce{pipelined_chain_reduce_time, pipelined_chain_reduce_schedule};
constexpr Across rabenseifner{rabenseifner_reduce_time, rabenseifner_reduce_schedule};
constexpr Across trees_reduce{double_binary_tree_reduce_time, double_binary_tree_reduce_schedule};

/// Call of the whole vector among the members of one level.
CollectiveCall on_level(CollectiveCall const& call, int level) {
    Level const& members = level_of(call.layout, level);
    return {
        .size = call.size, .layout = Layout::uniform(Ranks{members.ranks}, members.link), .reduction = call.reduction};
}

CollectiveTime binomials_time(CollectiveCall const& call, bool reduces) {
    CollectiveTime time;
    for (int i = 0; i < call.layout.levels; ++i) {
        CollectiveCall const one = on_level(call, i);
        time = time + (reduces ? binomial_reduce_time(one) : binomial_broadcast_time(one));
    }
    return time;
}

/// A binomial tree along each level in every group of it, among the ranks that have place 0 on all levels inside.
class NestedBinomial final : public MessageSchedule {
public:
    NestedBinomial(CollectiveCall const& call, bool reduces) : call_{call}, reduces_{reduces} {
        for (int i = 0; i < call.layout.levels; ++i) { rounds_ += rounds_of(i); }
    }
    [[nodiscard]] int participants() const override { return call_.layout.ranks; }
    [[nodiscard]] std::int64_t rounds() const override { return rounds_; }
    [[nodiscard]] std::uint32_t chunks() const override { return 1; }
    void write(std::int64_t index, Round& round) const override {
        int level = reduces_ ? 0 : call_.layout.levels - 1;
        for (; index >= rounds_of(level); level += reduces_ ? 1 : -1) { index -= rounds_of(level); }
        CollectiveCall const call = on_level(call_, level);
        Round one{call.layout};
        (reduces_ ? binomial_reduce_schedule(call) : binomial_broadcast_schedule(call))->write(index, one);
        int const inner = ranks_up_to(call_.layout, level - 1), outer = ranks_up_to(call_.layout, level);
        for (Message const& message : one.messages()) {
            for (int first = 0; first < call_.layout.ranks; first += outer) {
                round.send_on(level, first + static_cast<int>(message.from) * inner,
                              first + static_cast<int>(message.to) * inner, message.bytes, message.chunks,
                              message.adds);
            }
        }
    }

private:
    [[nodiscard]] int rounds_of(int level) const { return ceil_log2(level_of(call_.layout, level).ranks); }

    CollectiveCall call_;
    bool reduces_;
    int rounds_ = 0;
};

} // namespace

CollectiveTime rails_chain_broadcast_time(CollectiveCall const& call) {
    return rails_time(call, false, chain_broadcast);
}
std::unique_ptr<MessageSchedule> rails_chain_broadcast_schedule(CollectiveCall const& call) {
    return rails_schedule(call, false, chain_broadcast);
}

CollectiveTime rails_van_de_geijn_broadcast_time(CollectiveCall const& call) {
    return rails_time(call, false, van_de_geijn);
}
std::unique_ptr<MessageSchedule> rails_van_de_geijn_broadcast_schedule(CollectiveCall const& call) {
    return rails_schedule(call, false, van_de_geijn);
}

CollectiveTime rails_trees_broadcast_time(CollectiveCall const& call) {
    return rails_time(call, false, trees_broadcast);
}
std::unique_ptr<MessageSchedule> rails_trees_broadcast_schedule(CollectiveCall const& call) {
    return rails_schedule(call, false, trees_broadcast);
}

CollectiveTime rails_chain_reduce_time(CollectiveCall const& call) { return rails_time(call, true, chain_reduce); }
std::unique_ptr<MessageSchedule> rails_chain_reduce_schedule(CollectiveCall const& call) {
    return rails_schedule(call, true, chain_reduce);
}

CollectiveTime rails_rabenseifner_reduce_time(CollectiveCall const& call) {
    return rails_time(call, true, rabenseifner);
}
std::unique_ptr<MessageSchedule> rails_rabenseifner_reduce_schedule(CollectiveCall const& call) {
    return rails_schedule(call, true, rabenseifner);
}

CollectiveTime rails_trees_reduce_time(CollectiveCall const& call) { return rails_time(call, true, trees_reduce); }
std::unique_ptr<MessageSchedule> rails_trees_reduce_schedule(CollectiveCall const& call) {
    return rails_schedule(call, true, trees_reduce);
}

CollectiveTime nested_binomial_broadcast_time(CollectiveCall const& call) { return binomials_time(call, false); }
std::unique_ptr<MessageSchedule> nested_binomial_broadcast_schedule(CollectiveCall const& call) {
    return std::make_unique<NestedBinomial>(call, false);
}

CollectiveTime nested_binomial_reduce_time(CollectiveCall const& call) { return binomials_time(call, true); }
std::unique_ptr<MessageSchedule> nested_binomial_reduce_schedule(CollectiveCall const& call) {
    return std::make_unique<NestedBinomial>(call, true);
}

} // namespace headroom::network::algorithms
