#include "step_frame.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace headroom {
namespace {

/// Computation of one pass of a unit, and what of it is kernels and leaving traffic.
struct VisitWork {
    double seconds = 0.0, kernels = 1.0, shown = 0.0, hidden = 0.0; ///< the last three are shares
};

/// What gathering and reducing of so many seconds adds to one visit beside it.
///
///     max(d + h c, c + k min(l d, l c / (1 - l))) - c + x min(d, c)
double added_to_visit(VisitWork const& work, double data, double loss) {
    double const c = work.seconds;
    double const slowed = c + work.kernels * std::min(loss * data, loss / (1.0 - loss) * c);
    return std::max(data + work.hidden * c, slowed) - c + work.shown * std::min(data, c);
}

/// Gathers and reductions of the parts of a stage: its embedding, one block, its head.
struct UnitTimes {
    double gather = 0.0, reduce = 0.0;
};

template <class N> UnitTimes unit_times(Frame<N> const& f, StageShare const& share) {
    auto const unit = stage_parameters(f.setting, f.strategy, share);
    auto const part = [](double of, double all) { return all > 0.0 ? of / all : 0.0; };
    double const dense = part(unit.dense, f.traffic.dense.parameters_held);
    double const experts = part(unit.experts, f.traffic.experts.parameters_held);
    auto const& [d, e] = std::pair{f.traffic.dense, f.traffic.experts};
    return {.gather = d.gather.base() * dense + e.gather.base() * experts,
            .reduce = (d.reduce + d.replicate).base() * dense + (e.reduce + e.replicate).base() * experts};
}

} // namespace

template <class N> double sharded_seconds(Frame<N> const& f, double passes, double gathers) {
    if (f.strategy.zero != 3) { return 0.0; }
    double const loss = f.setting.constants[Constant::shard_overlap_loss], again = gathers - 1.0, n = f.stage.layers;
    auto const work_of = [](LayerCost const& cost, double seconds) {
        double const kernels = (cost.gemm + cost.attention + cost.memory + cost.kernels).base(),
                     all = cost.total().base();
        return VisitWork{.seconds = seconds, .kernels = all > 0.0 ? kernels / all : 0.0};
    };
    auto const& [embedding, block, head] = std::tie(f.costs.embedding, f.costs.block, f.costs.head);
    auto const both = [&](LayerCost const& cost) {
        double const forward = cost.forward().base();
        return std::pair{work_of(cost, forward), work_of(cost, cost.total().base() - forward)};
    };
    auto const [e_f, e_b] = both(embedding);
    auto const [h_f, h_b] = both(head);
    auto const [all, ahead] = f.block_times;
    auto b_f = work_of(block, ahead.base()), b_b = work_of(block, (all - ahead).base());
    auto const use = adapter_use(f.placement, block);
    auto const shares = [&](VisitWork& work, double part) {
        if (work.seconds <= 0.0) { return; }
        work.shown = std::min(1.0, use.shown * part / work.seconds);
        work.hidden = std::min(1.0, use.hidden * part / work.seconds);
    };
    shares(b_f, use.forward_share), shares(b_b, 1.0 - use.forward_share);
    auto const table = unit_times(f, {.first = true}), one = unit_times(f, {.blocks = 1.0});
    auto top = unit_times(f, {.first = true, .last = true}); // of a tied table a part is with the embedding
    top.gather -= table.gather, top.reduce -= table.reduce;
    double const forward = added_to_visit(e_f, one.gather, loss) + (n - 1.0) * added_to_visit(b_f, one.gather, loss) +
                           added_to_visit(b_f, top.gather, loss) + added_to_visit(h_f, again * top.gather, loss);
    double const of_blocks = n < 2.0 ? added_to_visit(b_b, top.reduce + again * table.gather, loss)
                                     : added_to_visit(b_b, top.reduce + again * one.gather, loss) +
                                           (n - 2.0) * added_to_visit(b_b, one.reduce + again * one.gather, loss) +
                                           added_to_visit(b_b, one.reduce + again * table.gather, loss);
    double const backward = added_to_visit(h_b, again * one.gather, loss) + of_blocks;
    double const between = added_to_visit(e_b, one.reduce + table.gather, loss);
    return passes * (forward + backward) + (passes - 1.0) * (between + table.reduce) + table.gather + one.reduce +
           table.reduce;
}

template double sharded_seconds(Frame<double> const& f, double passes, double gathers);
template double sharded_seconds(Frame<Traced> const& f, double passes, double gathers);

} // namespace headroom
