#include "folding.hpp"
#include "one_level.hpp"
#include "terms.hpp"

namespace headroom::network::algorithms {
namespace {

/// Places that halve a group in two, and which half the other one of them keeps.
struct Half {
    int partner, begin, end;
};
Half other_half(int place, int width) {
    int const partner = place ^ width;
    int const begin = partner / width * width;
    return {.partner = partner, .begin = begin, .end = begin + width};
}

class ReduceScatter final : public FoldedSchedule {
public:
    using FoldedSchedule::FoldedSchedule;
    [[nodiscard]] std::uint32_t chunks() const override { return chunk(folding_.ranks()); }

private:
    [[nodiscard]] double bytes(int shards) const { return shards * (size_ / folding_.ranks()); }

    void exchange(int step, int place, Round& round) const override {
        Half const half = other_half(place, folding_.places() >> (step + 1));
        int const first = folding_.begin(half.begin), length = folding_.begin(half.end) - first;
        round.send(folding_.rank_of(place), folding_.rank_of(half.partner), bytes(length),
                   {.first = chunk(first), .length = chunk(length)}, true);
    }
    void unfold(int even, Round& round) const override { round.send(even + 1, even, bytes(1), {.first = chunk(even)}); }
};

class AllReduce final : public FoldedSchedule {
public:
    explicit AllReduce(CollectiveCall const& call) : FoldedSchedule(call, 2) {}
    [[nodiscard]] std::uint32_t chunks() const override { return chunk(folding_.places()); }

private:
    void exchange(int step, int place, Round& round) const override {
        if (step < folding_.doublings()) {
            Half const half = other_half(place, folding_.places() >> (step + 1));
            send(place, half.partner, half.begin, half.end, true, round);
        } else {
            int const group = 1 << (step - folding_.doublings());
            int const begin = place / group * group;
            send(place, place ^ group, begin, begin + group, false, round);
        }
    }
    void send(int from, int to, int begin, int end, bool adds, Round& round) const {
        round.send(folding_.rank_of(from), folding_.rank_of(to), (end - begin) * (size_ / folding_.places()),
                   {.first = chunk(begin), .length = chunk(end - begin)}, adds);
    }
};

} // namespace

CollectiveTime recursive_halving_reduce_scatter_time(CollectiveCall const& call) {
    Folding const folding{call.layout.ranks};
    double const p = folding.ranks(), shard = call.size.size.base() / p;
    double const halves = folding.largest_groups();
    double const messages = folding.doublings() + (folding.folds() ? 2.0 : 0.0);
    double const moved = halves + (folding.folds() ? p + 1.0 : 0.0);
    double const added = halves + (folding.folds() ? p : 0.0);
    return terms(messages, moved * shard, added * shard, call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> recursive_halving_reduce_scatter_schedule(CollectiveCall const& call) {
    return std::make_unique<ReduceScatter>(call);
}

CollectiveTime rabenseifner_all_reduce_time(CollectiveCall const& call) {
    Folding const folding{call.layout.ranks};
    double const n = call.size.size.base(), q = folding.places();
    double const folds = folding.folds() ? 1.0 : 0.0;
    double const half = (q - 1.0) / q;
    return terms(2.0 * (folding.doublings() + folds), 2.0 * (half + folds) * n, (half + folds) * n,
                 call.layout.outermost(), call.reduction);
}
std::unique_ptr<MessageSchedule> rabenseifner_all_reduce_schedule(CollectiveCall const& call) {
    return std::make_unique<AllReduce>(call);
}

} // namespace headroom::network::algorithms
