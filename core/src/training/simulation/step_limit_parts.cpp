#include "step_limit_parts.hpp"

#include "headroom/training/placement.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training::simulation {

using namespace headroom::network;

namespace {

/// How long the slowest stage works, by the blocks that it has and as the closed form takes it.
double slowest_by_mean_block(Inputs const& in) {
    auto const stage = slowest_stage(in.setting, in.strategy, in.costs);
    return (in.costs.block.total() * stage.layers + in.costs.embedding.total() * stage.embedding +
            in.costs.head.total() * stage.head)
        .base();
}

/// Time of collectives that leave the domain, in a step of one rank: all of them, or those that show.
struct Leaving {
    double all = 0.0, shown = 0.0;
};
Leaving leaving_collectives(Inputs const& in) {
    auto const placement = place(in.strategy, in.setting.cluster.domain);
    auto const& block = in.costs.block;
    double const visits = in.micro_batches() * depth_of(in.setting.model) / in.strategy.pp;
    Leaving sum;
    auto const add = [&](Group const& group, Seconds all, Seconds shown) {
        if (group.domains() == 1) { return; }
        sum.all += visits * all.base(), sum.shown += visits * shown.base();
    };
    add(placement.tensor, block.tensor, block.tensor_exposed);
    add(placement.context, block.context, block.context_exposed);
    add(placement.experts, block.experts, block.experts_exposed);
    return sum;
}

/// The same with transfers between stages.
double leaving_traffic(Inputs const& in) {
    double all = leaving_collectives(in).all;
    if (place(in.strategy, in.setting.cluster.domain).pipeline_leaves_domain) {
        double const hop =
            hop_time(in.setting, in.strategy, calibrated_fabric(in.setting.cluster, in.setting.constants)).base();
        all += 2.0 * in.micro_batches() * in.layout.shape.chunks * hop;
    }
    return all;
}

double data_shown(Inputs const& in) { return in.time.data_communication.base(); }
double host_shown(Inputs const& in) { return in.time.host.base(); }

/// Gradients and weights that show, but for what all wait for; and that hide behind passes.
double own_shown(Inputs const& in) { return std::max(0.0, data_shown(in) - seconds_of(in.traffic.blocking)); }
double hidden(Inputs const& in) { return std::max(0.0, data_of_step(in) - own_shown(in)); }

/// Whether the stack slows kernels by what hides beside them, or sends a share of it behind passes.
bool hides_beside(Inputs const& in) {
    return in.strategy.overlap != Overlap::off && in.setting.framework.gradient_overlap == GradientOverlap::hidden;
}

double of_step(Inputs const& in, double seconds) { return std::min(1.0, seconds / in.step); }

} // namespace

double kinds_are_uneven(Inputs const& in) {
    if (!in.pipeline()) { return 0.0; }
    auto const stages = in.stages();
    return in.micro_batches() * std::abs(*std::ranges::max_element(stages) - slowest_by_mean_block(in));
}

double adapter_is_shared(Inputs const& in) {
    if (!data_leaves(in)) { return 0.0; }
    double const data = data_of_step(in), others = leaving_traffic(in);
    return std::min(data, others) * of_step(in, std::max(data, others));
}

/// Of the last passes of the stages, one after the other.
double adapter_is_shared_at_the_end(Inputs const& in) {
    if (!in.pipeline() || !data_leaves(in)) { return 0.0; }
    return in.layout.shape.stages * std::min(data_of_step(in), leaving_traffic(in) / in.micro_batches());
}

double hidden_meets_others(Inputs const& in) {
    return data_leaves(in) ? std::min(hidden(in), leaving_traffic(in)) : 0.0;
}
double hidden_meets_shown(Inputs const& in) {
    return data_leaves(in) ? std::min(hidden(in), leaving_collectives(in).shown) : 0.0;
}
double shown_meets_others(Inputs const& in) {
    return data_leaves(in) ? std::min(data_shown(in), leaving_traffic(in)) : 0.0;
}
double hidden_meets_by_chance(Inputs const& in) {
    return data_leaves(in) ? hidden(in) * of_step(in, leaving_traffic(in)) : 0.0;
}

double adapter_in_rows(Inputs const& in) { return std::abs(in.rows.adapter); }
double traffic_in_rows(Inputs const& in) { return std::abs(in.rows.traffic); }

/// Keys and tokens that leave the node at once, hidden behind the same attention.
double keys_and_tokens_share_the_adapter(Inputs const& in) {
    auto const placement = place(in.strategy, in.setting.cluster.domain);
    bool const both = placement.context.domains() > 1 && placement.experts.domains() > 1;
    return both ? leaving_traffic(in) : 0.0;
}

double transfers_leave(Inputs const& in) {
    return place(in.strategy, in.setting.cluster.domain).pipeline_leaves_domain ? in.time.pipeline_communication.base()
                                                                                : 0.0;
}

/// Transfers that show, and those of the other way and collectives that leave by the same adapter meanwhile.
double transfers_meet_by_chance(Inputs const& in) { return transfers_leave(in) * of_step(in, leaving_traffic(in)); }

/// Without a flush gradients and weights of every micro-batch meet what else leaves by their adapter.
double meets_every_micro_batch(Inputs const& in) {
    if (!runs_without_flush(in.strategy) || !data_leaves(in)) { return 0.0; }
    return std::min(data_of_step(in), leaving_traffic(in));
}

/// What kernels lose to gradients and weights that may run beside exposed collectives instead.
double slowdown_beside_collectives(Inputs const& in) {
    double const share = in.rules.sharded ? in.exposed_share() : in.leaving_share();
    if (in.rules.sharded || in.strategy.zero == 2) { return in.rules.slowdown * share * data_of_step(in); }
    double const collectives = share * in.pass(in.layout.chunks.front(), PassKind::backward);
    return in.rules.slowdown * std::min(seconds_of(sum_of(in.traffic, &UnitTraffic::reduce)), collectives);
}

/// What one reduction would take of a backward pass that is all kernels, where collectives are a part of it.
double reduction_beside_collectives(Inputs const& in) {
    double const collectives = in.exposed_share() * in.pass(in.layout.chunks.front(), PassKind::backward);
    return in.rules.slowdown * std::min(seconds_of(sum_of(in.traffic, &UnitTraffic::reduce)), collectives);
}

/// Gradients and weights beside a host that is late: what kernels lose it waits for anyway, but not everywhere alike.
double traffic_beside_a_late_host(Inputs const& in) { return std::min(data_shown(in), host_shown(in)); }
/// The same of stacks that slow kernels: no more than the step has beside that traffic.
double waiting_traffic(Inputs const& in) {
    if (!hides_beside(in)) { return 0.0; }
    return std::min(traffic_beside_a_late_host(in), std::max(0.0, in.step - data_of_step(in)));
}
double waiting_by_chance(Inputs const& in) { return hides_beside(in) ? hidden(in) * of_step(in, host_shown(in)) : 0.0; }
double hidden_behind_passes(Inputs const& in) { return hides_beside(in) ? 0.0 : hidden(in); }
/// What of it is in the last bucket, which no pass is left for.
double last_bucket_behind_passes(Inputs const& in) {
    if (in.pipeline() || hides_beside(in)) { return 0.0; }
    double elements = 0.0;
    for (UnitTraffic const& unit : in.traffic.units.front()) { elements += unit.elements; }
    return elements > 0.0 ? hidden(in) * std::min(1.0, bucket_elements / elements) : 0.0;
}
/// What hides while stages wait for each other, rather than behind passes.
double waits_while_it_hides(Inputs const& in) { return hidden(in) * of_step(in, in.time.pipeline_bubble.base()); }

/// Reductions of blocks of which every one has neighbours of another kind, told by their mean.
double kinds_reduce_in_turn(Inputs const& in) {
    auto const& kind = in.order.variant_of;
    int changes = 0;
    for (std::size_t i = 1; i < kind.size(); ++i) { changes += kind[i] != kind[i - 1] ? 1 : 0; }
    return changes > 4 ? data_shown(in) : 0.0;
}

/// Split backward passes: what hid behind gradients of weights has only those of inputs to hide behind.
double halves_hide_less(Inputs const& in) {
    if (!in.pipeline() || !schedule_row(in.strategy.schedule()).splits_backward) { return 0.0; }
    double more = 0.0;
    for (ChunkWork const& work : in.layout.chunks) {
        more = std::max(more, in.pass(work, PassKind::input_gradient) + in.pass(work, PassKind::weight_gradient) -
                                  in.pass(work, PassKind::backward));
    }
    return more * in.layout.shape.chunks * in.micro_batches();
}

/// Blocks without a backward pass: what is sent block by block, or beside halves of passes, is that of a few.
double traffic_of_few_blocks(Inputs const& in) { return in.costs.frozen_blocks > 0 ? data_shown(in) : 0.0; }
double step_of_few_blocks(Inputs const& in) { return in.costs.frozen_blocks > 0 ? in.step : 0.0; }
double rows_of_few_blocks(Inputs const& in) {
    return in.costs.frozen_blocks > 0 ? in.time.pipeline_bubble.base() : 0.0;
}

double copies_of_few_blocks(Inputs const& in) { return in.costs.frozen_blocks > 0 ? in.time.offload.base() : 0.0; }

double compresses_gradients(Inputs const& in) {
    return in.strategy.compression.kind != Compression::none ? in.time.optimizer.base() : 0.0;
}

/// Servers and local updates that all wait for, beside what else a step has.
double all_wait_for_one(Inputs const& in) {
    double const waits = seconds_of(in.traffic.blocking);
    return std::min(waits, std::max(0.0, in.step - waits));
}

double copies_shown(Inputs const& in) {
    if (in.strategy.offload == Offload::none) { return 0.0; }
    double const updates = updates_per_step(in.strategy, in.micro_batches());
    return std::max(0.0, (in.time.offload - updates * host_traffic(in.setting, in.strategy).update).base());
}

double host_shows(Inputs const& in) { return in.time.offload.base(); }

/// Of activations, whatever hides of them.
double copies_of_a_step(Inputs const& in) { return host_traffic(in.setting, in.strategy).activation_transfer.base(); }

double copies_beside_a_late_host(Inputs const& in) { return std::min(copies_shown(in), host_shown(in)); }

/// Copies of the last micro-batch, which data-parallel traffic hides too.
double copies_beside_gradients(Inputs const& in) {
    if (in.pipeline() || in.rules.sharded || !offloads_activations(in.strategy.offload)) { return 0.0; }
    return std::min(copies_shown(in) / in.micro_batches(), data_shown(in));
}

/// Gradients go to a host that updates as they have been reduced, and its weights come back beside those that are gathered.
double state_copies_beside_gradients(Inputs const& in) {
    if (in.pipeline() || !offloads_optimizer(in.strategy.offload)) { return 0.0; }
    return std::min(in.time.offload.base(), data_of_step(in));
}

double copies_beside_shown_traffic(Inputs const& in) { return std::min(in.time.offload.base(), data_shown(in)); }

} // namespace headroom::training::simulation
