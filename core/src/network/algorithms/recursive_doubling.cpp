#include "folding.hpp"
#include "one_level.hpp"
#include "terms.hpp"

#include <bit>

namespace headroom::network::algorithms {
namespace {

class AllReduce final : public FoldedSchedule {
public:
    using FoldedSchedule::FoldedSchedule;
    [[nodiscard]] std::uint32_t chunks() const override { return 1; }

private:
    void exchange(int step, int place, Round& round) const override {
        round.send(folding_.rank_of(place), folding_.rank_of(place ^ (1 << step)), size_, {}, true);
    }
};

class AllGather final : public FoldedSchedule {
public:
    using FoldedSchedule::FoldedSchedule;
    [[nodiscard]] std::uint32_t chunks() const override { return chunk(folding_.ranks()); }

private:
    [[nodiscard]] double bytes(int shards) const { return shards * (size_ / folding_.ranks()); }

    void fold(int even, Round& round) const override { round.send(even, even + 1, bytes(1), {.first = chunk(even)}); }
    void exchange(int step, int place, Round& round) const override {
        int const group = 1 << step;
        int const first_place = place / group * group;
        int const first = folding_.begin(first_place);
        int const length = folding_.begin(first_place + group) - first;
        round.send(folding_.rank_of(place), folding_.rank_of(place ^ group), bytes(length),
                   {.first = chunk(first), .length = chunk(length)});
    }
    /// All shards but its own, counted from the next one round the end.
    void unfold(int even, Round& round) const override {
        int const others = folding_.ranks() - 1;
        round.send(even + 1, even, bytes(others), {.first = chunk(even + 1), .length = chunk(others)});
    }
};

/// Recursive halving among a power of two ranks: nothing to fold.
class ReduceScatter final : public FoldedSchedule {
public:
    using FoldedSchedule::FoldedSchedule;
    [[nodiscard]] std::uint32_t chunks() const override { return chunk(folding_.ranks()); }

private:
    /// Sends the chunks of all places outside the own group; they begin after it and wrap round the end.
    void exchange(int step, int place, Round& round) const override {
        int const group = 1 << step;
        int const others = folding_.places() - group;
        int const after = (place / group + 1) * group % folding_.places();
        round.send(place, place ^ group, others * (size_ / folding_.places()),
                   {.first = chunk(after), .length = chunk(others)}, true);
    }
};

} // namespace

CollectiveTime recursive_doubling_all_reduce_time(CollectiveCall const& call) {
    Folding const folding{call.layout.ranks};
    double const n = call.size.size.base();
    double const messages = folding.doublings() + (folding.folds() ? 2.0 : 0.0);
    double const added = folding.doublings() + (folding.folds() ? 1.0 : 0.0);
    return terms(messages, messages * n, added * n, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> recursive_doubling_all_reduce_schedule(CollectiveCall const& call) {
    return std::make_unique<AllReduce>(call);
}

CollectiveTime recursive_doubling_all_gather_time(CollectiveCall const& call) {
    Folding const folding{call.layout.ranks};
    double const shard = call.size.size.base() / folding.ranks();
    double const messages = folding.doublings() + (folding.folds() ? 2.0 : 0.0);
    double const shards = folding.largest_groups() + (folding.folds() ? folding.ranks() : 0.0);
    return terms(messages, shards * shard, 0.0, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> recursive_doubling_all_gather_schedule(CollectiveCall const& call) {
    return std::make_unique<AllGather>(call);
}

CollectiveTime recursive_doubling_reduce_scatter_time(CollectiveCall const& call) {
    double const p = call.layout.ranks;
    double const rounds = floor_log2(call.layout.ranks);
    double const bytes = (rounds - (p - 1.0) / p) * call.size.size.base();
    return terms(rounds, bytes, bytes, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> recursive_doubling_reduce_scatter_schedule(CollectiveCall const& call) {
    return std::make_unique<ReduceScatter>(call);
}
bool is_power_of_two(Layout const& layout) { return std::has_single_bit(static_cast<unsigned>(layout.ranks)); }

} // namespace headroom::network::algorithms
