#include "hierarchical.hpp"

#include "bruck.hpp"
#include "columns.hpp"
#include "recursive_doubling.hpp"
#include "recursive_halving.hpp"
#include "ring.hpp"
#include "terms.hpp"
#include "uneven_domains.hpp"

namespace headroom::network::algorithms {
namespace {

/// A ring along each level but the outermost, once or there and back; adding is done once.
CollectiveTime rings_inside(CollectiveCall const& call, bool reduces, bool gathers) {
    double const turns = (reduces ? 1.0 : 0.0) + (gathers ? 1.0 : 0.0);
    CollectiveTime time;
    int ranks = 1;
    for (int i = 0; i + 1 < call.layout.levels; ++i) {
        Level const& level = call.layout.level[static_cast<std::size_t>(i)];
        ranks *= level.ranks;
        double const hops = level.ranks - 1;
        double const moved = hops * (call.size.size.base() / ranks);
        time = time + terms(turns * hops, turns * moved, reduces ? moved : 0.0, level.link, call.reduction);
    }
    return time;
}

CollectiveTime nested_time(CollectiveCall const& call, bool reduces, bool gathers, Across across) {
    return rings_inside(call, reduces, gathers) + across.time(column_call(call, column_bytes(call)));
}

/// Even levels. The shards of level l are the chunks that are the same modulo S_l, so that in the end rank r has chunk r.
class Nested final : public MessageSchedule {
public:
    Nested(CollectiveCall const& call, bool reduces, bool gathers, std::unique_ptr<MessageSchedule> across)
        : layout_{call.layout},
          bytes_{call.size.size.base()},
          outermost_{layout_.levels - 1},
          inside_{ranks_up_to(layout_, outermost_ - 1)},
          chunks_{chunk(inside_) * across->chunks()},
          across_{std::move(across),
                  column_call(call, 0.0).layout,
                  {.width = inside_, .stride = inside_, .level = outermost_, .grain = 1}} {
        for (int i = 0; i < outermost_; ++i) { steps_ += side(i) - 1; }
        reducing_ = reduces ? steps_ : 0;
        gathering_ = gathers ? steps_ : 0;
    }

    [[nodiscard]] int participants() const override { return layout_.ranks; }
    [[nodiscard]] std::int64_t rounds() const override { return reducing_ + across_.rounds() + gathering_; }
    [[nodiscard]] std::uint32_t chunks() const override { return chunks_; }
    void write(std::int64_t index, Round& round) const override {
        if (index < reducing_) {
            int level = 0;
            for (; index >= side(level) - 1; ++level) { index -= side(level) - 1; }
            write_ring(level, static_cast<int>(index), true, round);
        } else if (index -= reducing_; index < across_.rounds()) {
            across_.write(index, round);
        } else {
            index -= across_.rounds();
            int level = outermost_ - 1;
            for (; index >= side(level) - 1; --level) { index -= side(level) - 1; }
            write_ring(level, static_cast<int>(index), false, round);
        }
    }

private:
    [[nodiscard]] int side(int level) const { return layout_.level[static_cast<std::size_t>(level)].ranks; }

    /// A step of the rings along one level, as in `Ring`.
    void write_ring(int level, int step, bool adds, Round& round) const {
        int const inner = ranks_up_to(layout_, level - 1), members = side(level), outer = inner * members;
        int const behind = adds ? step + 1 : step;
        for (int rank = 0; rank < layout_.ranks; ++rank) {
            int const place = rank / inner % members;
            int const next = place + 1 < members ? rank + inner : rank - (members - 1) * inner;
            int const shard = place >= behind ? place - behind : place - behind + members;
            round.send_on(level, rank, next, bytes_ / outer,
                          {.first = chunk(rank % inner + inner * shard),
                           .stride = chunk(outer),
                           .repeats = chunks_ / chunk(outer)},
                          adds);
        }
    }

    Layout layout_;
    double bytes_; ///< n
    int outermost_, inside_;
    std::uint32_t chunks_;
    Columns across_;
    int steps_ = 0, reducing_ = 0, gathering_ = 0;
};

std::unique_ptr<MessageSchedule> nested_schedule(CollectiveCall const& call, bool reduces, bool gathers,
                                                 Across across) {
    if (call.layout.levels == 1) { return across.schedule(call); }
    return std::make_unique<Nested>(call, reduces, gathers, across.schedule(column_call(call, column_bytes(call))));
}

CollectiveTime all_reduce_time(CollectiveCall const& call, Across across) {
    return call.layout.even() ? nested_time(call, true, true, across) : uneven_all_reduce_time(call, across);
}
std::unique_ptr<MessageSchedule> all_reduce_schedule(CollectiveCall const& call, Across across) {
    if (!call.layout.even()) { return uneven_all_reduce_schedule(call, across); }
    return nested_schedule(call, true, true, across);
}

constexpr Across ring_both{ring_all_reduce_time, ring_all_reduce_schedule};
constexpr Across doubling{recursive_doubling_all_reduce_time, recursive_doubling_all_reduce_schedule};
constexpr Across rabenseifner{rabenseifner_all_reduce_time, rabenseifner_all_reduce_schedule};
constexpr Across ring_gather{ring_all_gather_time, ring_all_gather_schedule};
constexpr Across bruck{bruck_all_gather_time, bruck_all_gather_schedule};
constexpr Across ring_scatter{ring_reduce_scatter_time, ring_reduce_scatter_schedule};
constexpr Across halving{recursive_halving_reduce_scatter_time, recursive_halving_reduce_scatter_schedule};

} // namespace

bool is_even(Layout const& layout) { return layout.even(); }
bool is_even_or_two_levels(Layout const& layout) { return layout.levels == 2 || layout.even(); }

CollectiveTime hierarchical_ring_all_reduce_time(CollectiveCall const& call) {
    return all_reduce_time(call, ring_both);
}
std::unique_ptr<MessageSchedule> hierarchical_ring_all_reduce_schedule(CollectiveCall const& call) {
    return all_reduce_schedule(call, ring_both);
}

CollectiveTime hierarchical_doubling_all_reduce_time(CollectiveCall const& call) {
    return all_reduce_time(call, doubling);
}
std::unique_ptr<MessageSchedule> hierarchical_doubling_all_reduce_schedule(CollectiveCall const& call) {
    return all_reduce_schedule(call, doubling);
}

CollectiveTime hierarchical_rabenseifner_all_reduce_time(CollectiveCall const& call) {
    return all_reduce_time(call, rabenseifner);
}
std::unique_ptr<MessageSchedule> hierarchical_rabenseifner_all_reduce_schedule(CollectiveCall const& call) {
    return all_reduce_schedule(call, rabenseifner);
}

CollectiveTime hierarchical_ring_all_gather_time(CollectiveCall const& call) {
    return call.layout.even() ? nested_time(call, false, true, ring_gather) : uneven_all_gather_time(call);
}
std::unique_ptr<MessageSchedule> hierarchical_ring_all_gather_schedule(CollectiveCall const& call) {
    if (!call.layout.even()) { return uneven_all_gather_schedule(call); }
    return nested_schedule(call, false, true, ring_gather);
}

CollectiveTime hierarchical_bruck_all_gather_time(CollectiveCall const& call) {
    return nested_time(call, false, true, bruck);
}
std::unique_ptr<MessageSchedule> hierarchical_bruck_all_gather_schedule(CollectiveCall const& call) {
    return nested_schedule(call, false, true, bruck);
}

CollectiveTime hierarchical_ring_reduce_scatter_time(CollectiveCall const& call) {
    return call.layout.even() ? nested_time(call, true, false, ring_scatter) : uneven_reduce_scatter_time(call);
}
std::unique_ptr<MessageSchedule> hierarchical_ring_reduce_scatter_schedule(CollectiveCall const& call) {
    if (!call.layout.even()) { return uneven_reduce_scatter_schedule(call); }
    return nested_schedule(call, true, false, ring_scatter);
}

CollectiveTime hierarchical_halving_reduce_scatter_time(CollectiveCall const& call) {
    return nested_time(call, true, false, halving);
}
std::unique_ptr<MessageSchedule> hierarchical_halving_reduce_scatter_schedule(CollectiveCall const& call) {
    return nested_schedule(call, true, false, halving);
}

} // namespace headroom::network::algorithms
