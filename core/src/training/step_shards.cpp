#include "step_frame.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace headroom::training {
namespace {

/// One pass of a unit, and the shares of it in which other traffic leaves by its adapter.
struct VisitWork {
    BlockPass pass;
    double shown = 0.0, all = 0.0; ///< all: of it, shown and hidden
};

/// What gathering and reducing of so many seconds adds to one visit beside it.
///
///     max(d + a c - c, what kernels lose and shorter blocks wait + x min(d, c))
///
/// for an adapter that is never idle sends all of both.
double added_to_visit(VisitWork const& work, double data, double loss) {
    double const c = work.pass.seconds;
    auto const [lost, idle] = work.pass.beside(data, loss);
    double const meets = work.shown > 0.0 ? work.shown * work.pass.more_collectives(data) * std::min(data, c) : 0.0;
    return std::max(data + work.all * c - c, lost + idle + meets);
}

BlockPass pass_of(LayerCost const& cost, double seconds) {
    double const kernels = (cost.gemm + cost.attention + cost.memory).base(), all = cost.total().base();
    return {.seconds = seconds, .kernels = all > 0.0 ? kernels / all : 0.0};
}

template <class N> BlockPass block_pass(Frame<N> const& f, double seconds, PassOutline const& outline, double idle) {
    if (!outline.known()) {
        auto pass = pass_of(f.costs.block, seconds);
        pass.idle = idle;
        return pass;
    }
    return {.seconds = seconds, .outline = &outline, .paced = std::max(1.0, seconds / outline.length()), .idle = idle};
}

} // namespace

PassOutline::Beside BlockPass::beside(double traffic, double loss) const {
    PassOutline::Beside all{.lost = kernels * std::min(loss * traffic, loss / (1.0 - loss) * seconds)};
    if (outline != nullptr) { all = outline->beside(traffic / paced, loss); }
    all.lost = std::max(0.0, all.lost - idle * seconds);
    return all;
}

double BlockPass::most_lost(double loss) const {
    double const most = loss / (1.0 - loss) * (outline != nullptr ? outline->all_kernels() : kernels * seconds);
    return std::max(0.0, most - idle * seconds);
}

double BlockPass::lost_in(double traffic, double loss, double passes) const {
    double const one = slowed(loss);
    if (traffic >= passes * one) { return passes * most_lost(loss); }
    double const whole = std::floor(traffic / one),
                 lost = whole * most_lost(loss) + beside(traffic - whole * one, loss).lost;
    // a host that got ahead meanwhile, by a block at most, is not waited for in the passes that follow
    return std::max(0.0, lost - std::min(1.0, std::max(0.0, passes - whole - 1.0) * idle) * seconds);
}

double BlockPass::more_collectives(double traffic) const {
    if (outline == nullptr || seconds <= 0.0 || traffic <= 0.0) { return 1.0; }
    constexpr double slightly = 1e-6; // what is lost then tells kernels by their time
    double const length = outline->length(), span = traffic / paced;
    auto const others = [&](double until) {
        double const kernels = outline->beside(until, slightly).lost * (1.0 - slightly) / slightly;
        return std::max(0.0, until - kernels - std::clamp(until - outline->trailing, 0.0, outline->waits));
    };
    double const whole = std::floor(span / length), of_all = others(length);
    return of_all > 0.0 ? (whole * of_all + others(span - whole * length)) / span / (of_all / length) : 1.0;
}

template <class N> BlockPass forward_pass(Frame<N> const& f, double idle) {
    return block_pass(f, f.block_times.forward.base(), f.costs.forward, idle);
}
template <class N> BlockPass backward_pass(Frame<N> const& f, double idle) {
    return block_pass(f, (f.block_times.total - f.block_times.forward).base(), f.costs.backward, idle);
}

template <class N> UnitTimes unit_times(Frame<N> const& f, StageParameters const& unit) {
    auto const part = [](double of, double all) { return all > 0.0 ? of / all : 0.0; };
    double const dense = part(unit.dense, f.traffic.dense.parameters_held);
    double const experts = part(unit.experts, f.traffic.experts.parameters_held);
    auto const& [d, e] = std::tie(f.traffic.dense, f.traffic.experts);
    return {.gather = d.gather.base() * dense + e.gather.base() * experts,
            .reduce = (d.reduce + d.replicate).base() * dense + (e.reduce + e.replicate).base() * experts,
            .elements = (d.gradients.base() * dense + e.gradients.base() * experts) /
                        state_widths(f.setting.framework, f.strategy.precision).reduced};
}

template <class N> ShardedUnits sharded_units(Frame<N> const& f) {
    auto const unit = [&f](StageShare const& share) {
        return unit_times(f, stage_parameters(f.setting, f.strategy, share));
    };
    ShardedUnits units{
        .table = unit({.first = true}), .block = unit({.blocks = 1.0}), .top = unit({.first = true, .last = true})};
    units.top.gather -= units.table.gather, units.top.reduce -= units.table.reduce;
    return units;
}

template <class N> ShardedSeconds sharded_seconds(Frame<N> const& f, double passes, double gathers) {
    if (f.strategy.zero != 3) { return {}; }
    double const loss = f.setting.constants[Constant::shard_overlap_loss], again = gathers - 1.0, n = f.stage.layers;
    auto const& [embedding, head] = std::tie(f.costs.embedding, f.costs.head);
    auto const both = [&](LayerCost const& cost) {
        double const forward = cost.forward().base();
        return std::pair{VisitWork{pass_of(cost, forward)}, VisitWork{pass_of(cost, cost.total().base() - forward)}};
    };
    auto const [e_f, e_b] = both(embedding);
    auto const [h_f, h_b] = both(head);
    VisitWork b_f{forward_pass(f)}, b_b{backward_pass(f)};
    auto const use = adapter_use(f.placement, f.costs.block);
    auto const shares = [&](VisitWork& work, double part) {
        if (work.pass.seconds <= 0.0) { return; }
        work.shown = std::min(1.0, use.shown * part / work.pass.seconds);
        work.all = use.all * part / work.pass.seconds;
    };
    shares(b_f, use.forward_share), shares(b_b, 1.0 - use.forward_share);
    auto const [table, one, top] = sharded_units(f);
    double const forward = added_to_visit(e_f, one.gather, loss) + (n - 1.0) * added_to_visit(b_f, one.gather, loss) +
                           added_to_visit(b_f, top.gather, loss) + added_to_visit(h_f, again * top.gather, loss);
    double const of_blocks = n < 2.0 ? added_to_visit(b_b, top.reduce + again * table.gather, loss)
                                     : added_to_visit(b_b, top.reduce + again * one.gather, loss) +
                                           (n - 2.0) * added_to_visit(b_b, one.reduce + again * one.gather, loss) +
                                           added_to_visit(b_b, one.reduce + again * table.gather, loss);
    double const backward = added_to_visit(h_b, again * one.gather, loss) + of_blocks;
    double const between = added_to_visit(e_b, one.reduce + table.gather, loss);
    return {.all = passes * (forward + backward) + (passes - 1.0) * (between + table.reduce) + table.gather +
                   one.reduce + table.reduce,
            .forward = forward,
            .backward = backward};
}

template BlockPass forward_pass(Frame<double> const& f, double idle);
template BlockPass forward_pass(Frame<Traced> const& f, double idle);
template BlockPass backward_pass(Frame<double> const& f, double idle);
template BlockPass backward_pass(Frame<Traced> const& f, double idle);
template UnitTimes unit_times(Frame<double> const& f, StageParameters const& unit);
template UnitTimes unit_times(Frame<Traced> const& f, StageParameters const& unit);
template ShardedUnits sharded_units(Frame<double> const& f);
template ShardedUnits sharded_units(Frame<Traced> const& f);
template ShardedSeconds sharded_seconds(Frame<double> const& f, double passes, double gathers);
template ShardedSeconds sharded_seconds(Frame<Traced> const& f, double passes, double gathers);

} // namespace headroom::training
