#include "traffic.hpp"

#include "stage.hpp"

#include <algorithm>

namespace headroom {
namespace {

/// Blocks and the larger of the two ends.
double fullest_stage_parameters(Model const& model, Strategy const& strategy) {
    auto const count = count_parameters(model);
    double const blocks = count.layer * model.layers / strategy.pp;
    if (strategy.pp == 1) { return (blocks + count.embedding + count.head + count.final_norm) / strategy.tp; }
    return (blocks + std::max(count.embedding, output_parameters(model, count) + count.final_norm)) / strategy.tp;
}

/// One collective of a group, its start included; a group of one sends nothing.
Seconds priced(StepSetting const& setting, Collective collective, Bytes bytes, Group group, Fabric const& fabric) {
    if (group.size <= 1) { return Seconds{}; }
    return Seconds{setting.constants[Constant::base_latency]} +
           fastest(collective, {bytes}, group, fabric).time.total();
}

} // namespace

DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, Fabric const& fabric) {
    auto const placement = place(strategy, setting.cluster.domain);
    auto const& framework = setting.framework;
    double const local = fullest_stage_parameters(setting.model, strategy);
    double const trained = local * trained_share(strategy);
    DataTraffic traffic;
    traffic.local_parameters = local;
    traffic.ranks = placement.data.size;
    traffic.gradients = Bytes{trained * framework.reduced_bytes};
    traffic.parameters = Bytes{(strategy.zero == 3 ? local : trained) * gathered_bytes(framework, strategy.precision)};
    if (traffic.ranks == 1) { return traffic; }
    auto const time = [&](Collective collective, Bytes bytes, Group group) {
        return priced(setting, collective, bytes, group, fabric);
    };
    if (strategy.zero == 0) {
        traffic.reduce = time(Collective::all_reduce, traffic.gradients, placement.data);
    } else if (strategy.zero < 3) {
        traffic.reduce = time(Collective::reduce_scatter, traffic.gradients, placement.data);
        traffic.gather = time(Collective::all_gather, traffic.parameters, placement.data);
    } else {
        traffic.gather = time(Collective::all_gather, traffic.parameters, placement.shard);
        traffic.reduce = time(Collective::reduce_scatter, traffic.gradients, placement.shard);
        traffic.replicate = time(Collective::all_reduce, traffic.gradients / placement.shard.size, placement.replicate);
        if (framework.gradient_overlap == GradientOverlap::exposed) { // small unbucketed transfers, layer by layer
            traffic.gather *= setting.constants[Constant::unbucketed_traffic];
            traffic.reduce *= setting.constants[Constant::unbucketed_traffic];
            traffic.replicate *= setting.constants[Constant::unbucketed_traffic];
        }
    }
    traffic.reduce *= framework.extra_reduction;
    traffic.replicate *= framework.extra_reduction;
    return traffic;
}

double reductions_per_step(Strategy const& strategy, Framework const& framework, double micro_batches) {
    return strategy.zero >= 2 && framework.gathers_per_micro_batch ? micro_batches : 1.0;
}

double gathers_per_pass(Strategy const& strategy, Framework const& framework) {
    bool const releases = framework.gradient_overlap == GradientOverlap::exposed;
    return releases && strategy.recompute == Recompute::full ? 3.0 : 2.0;
}

bool end_is_slower(LayerCost const& head, LayerCost const& embedding) { return head.total() >= embedding.total(); }

Bytes boundary_bytes(StepSetting const& setting, Strategy const& strategy) {
    double const tokens = tokens_of(shape_of(strategy, setting.workload.sequence_length));
    return Bytes{tokens * setting.model.hidden * element_bytes(strategy.precision) / strategy.tp};
}

Seconds hop_time(StepSetting const& setting, Strategy const& strategy, Fabric const& fabric) {
    if (strategy.pp == 1) { return Seconds{}; }
    bool const leaves = place(strategy, setting.cluster.domain).pipeline_leaves_domain;
    return point_to_point({boundary_bytes(setting, strategy)}, leaves ? fabric.scale_out : fabric.scale_up).total() +
           Seconds{setting.constants[Constant::base_latency]};
}

} // namespace headroom
