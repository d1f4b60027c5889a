#include "traffic.hpp"

#include "headroom/compression.hpp"
#include "headroom/local_updates.hpp"
#include "headroom/memory.hpp"
#include "headroom/pipeline.hpp"
#include "headroom/server.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

/// Local updates exchange how far the parameters came, in 32 bits. Source: [DiLoCo]
constexpr double local_update_bytes = 4.0;

/// One collective of a group, its start included; a group of one sends nothing, and nothing is not sent.
Seconds priced(StepSetting const& setting, Collective collective, Bytes bytes, Group group, Fabric const& fabric) {
    if (group.size <= 1 || bytes.base() <= 0.0) { return Seconds{}; }
    return Seconds{setting.constants[Constant::base_latency]} +
           fastest(collective, {bytes}, group, fabric).time.total();
}

/// Prices the reduction and gathering of one set of parameters over its group.
class Pricer {
public:
    Pricer(StepSetting const& setting, Strategy const& strategy, Fabric const& fabric)
        : setting_{setting}, strategy_{strategy}, fabric_{fabric} {}

    [[nodiscard]] ParameterTraffic price(double held, double trained, Group data, Group shard, Group replicas) const {
        ParameterTraffic traffic;
        traffic.parameters_held = held;
        traffic.gradients = Bytes{held * trained * setting_.framework.reduced_bytes};
        traffic.parameters = Bytes{(strategy_.zero == 3 ? held : held * trained) *
                                   gathered_bytes(setting_.framework, strategy_.precision)};
        traffic.group = strategy_.zero == 3 ? shard : data;
        if (strategy_.zero == 3) { traffic.replicas = replicas; }
        if (traffic.ranks() > 1 && held > 0.0) { add_times(traffic); }
        return traffic;
    }

private:
    void add_times(ParameterTraffic& traffic) const {
        if (strategy_.zero == 0) {
            traffic.reduce = whole_reduction(traffic);
        } else {
            traffic.reduce = time(Collective::reduce_scatter, traffic.gradients, traffic.group);
            traffic.gather = time(Collective::all_gather, traffic.parameters, traffic.group);
        }
        if (strategy_.zero == 3) {
            traffic.replicate = time(Collective::all_reduce, traffic.gradients / traffic.group.size, traffic.replicas);
            if (setting_.framework.gradient_overlap == GradientOverlap::exposed) { // small transfers, layer by layer
                double const unbucketed = setting_.constants[Constant::unbucketed_traffic];
                for (Seconds* part : {&traffic.gather, &traffic.reduce, &traffic.replicate}) { *part *= unbucketed; }
            }
        }
        traffic.reduce *= setting_.framework.extra_reduction;
        traffic.replicate *= setting_.framework.extra_reduction;
    }

    [[nodiscard]] Seconds whole_reduction(ParameterTraffic& traffic) const {
        bool const nothing = traffic.gradients.base() <= 0.0; // frozen experts beside adapters
        if (strategy_.compression.kind == Compression::none || nothing) {
            return time(Collective::all_reduce, traffic.gradients, traffic.group);
        }
        double const width = setting_.framework.reduced_bytes;
        std::array const matrices{typical_matrix(traffic.gradients.base() / width)};
        auto const sent = compressed_gradients(strategy_.compression, matrices, width, Ranks{traffic.group.size});
        traffic.sent = sent.byte_ratio;
        return compressed_time(sent, traffic.group, fabric_).total() +
               Seconds{setting_.constants[Constant::base_latency]} * sent.rounds;
    }
    /// All gradients as matrices of the model's commonest shape, h x f.
    [[nodiscard]] GradientMatrix typical_matrix(double elements) const {
        double const h = std::max(1, setting_.model.hidden);
        double const f = std::max(1, setting_.model.moe.experts > 0 ? setting_.model.moe.ffn : setting_.model.ffn);
        return {.rows = h, .columns = f, .count = elements / (h * f)};
    }

    [[nodiscard]] Seconds time(Collective collective, Bytes bytes, Group group) const {
        return priced(setting_, collective, bytes, group, fabric_);
    }

    StepSetting const& setting_;
    Strategy const& strategy_;
    Fabric const& fabric_;
};

/// Gradients that servers add up in the place of the ranks: tensor ranks and stages send theirs to the same servers.
/// Source: [Li2014]
Seconds through_servers(StepSetting const& setting, Strategy const& strategy, ParameterTraffic const& traffic,
                        Fabric const& fabric) {
    int const senders = strategy.workers();
    bool const leaves = traffic.group.domains() > 1 || senders > setting.cluster.domain || senders <= strategy.servers;
    Link const port = leaves ? fabric.scale_out : fabric.scale_up;
    return parameter_server({traffic.gradients}, Ranks{senders},
                            {.ports = Ranks{strategy.servers}, .port = port, .worker = port})
               .total() +
           Seconds{setting.constants[Constant::base_latency]};
}

} // namespace

StageParameters held_parameters(StepSetting const& setting, Strategy const& strategy) {
    if (strategy.pp == 1 || schedule_row(strategy.schedule()).layout != ChunkLayout::bidirectional) {
        return fullest_stage_parameters(setting, strategy);
    }
    auto const both = [&](StagePlace down, StagePlace up) {
        auto sum = stage_parameters(setting, strategy, down);
        auto const other = stage_parameters(setting, strategy, up);
        sum.dense += other.dense;
        sum.experts += other.experts;
        return sum;
    };
    auto const ends = both(StagePlace::first, StagePlace::last), middle = both(StagePlace::middle, StagePlace::middle);
    return strategy.pp == 2 || ends.all() >= middle.all() ? ends : middle;
}

namespace {

/// With two directions a part of the model is on two stages: twice as many ranks sum its gradients.
Group over_copies(Strategy const& strategy, Group group) {
    bool const two = strategy.pp > 1 && schedule_row(strategy.schedule()).layout == ChunkLayout::bidirectional;
    return two ? Group{.size = 2 * group.size, .per_domain = group.per_domain} : group;
}

/// What replaces the reduction of every step: servers, or a synchronisation now and then.
void move_to_blocking(StepSetting const& setting, Strategy const& strategy, Fabric const& fabric,
                      DataTraffic& traffic) {
    for (ParameterTraffic* part : {&traffic.dense, &traffic.experts}) {
        if (part->ranks() == 1 || part->gradients.base() <= 0.0) { continue; }
        if (strategy.servers > 0) {
            traffic.blocking += through_servers(setting, strategy, *part, fabric);
            traffic.blocking_bytes += 2.0 * part->gradients;
            part->reduce = Seconds{};
        } else if (strategy.local_steps > 1) {
            Group const apart = strategy.zero == 3 ? part->replicas : part->group;
            Bytes const moved = part->gradients * (local_update_bytes / setting.framework.reduced_bytes) /
                                (strategy.zero == 3 ? part->group.size : 1.0);
            double const steps = strategy.local_steps;
            traffic.blocking += priced(setting, Collective::all_reduce, moved, apart, fabric) / steps;
            traffic.blocking_bytes += apart.size > 1 ? moved / steps : Bytes{};
            (strategy.zero == 3 ? part->replicate : part->reduce) = Seconds{};
        }
    }
}

} // namespace

DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, Fabric const& fabric) {
    return data_traffic(setting, strategy, place(strategy, setting.cluster.domain), fabric);
}

DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, Placement const& placement,
                         Fabric const& fabric) {
    return data_traffic(setting, strategy, placement, fabric, held_parameters(setting, strategy));
}

DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, Fabric const& fabric,
                         StageParameters const& held) {
    return data_traffic(setting, strategy, place(strategy, setting.cluster.domain), fabric, held);
}

DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, Placement const& placement,
                         Fabric const& fabric, StageParameters const& held) {
    return data_traffic(setting, strategy, placement, fabric, held,
                        trained_parts(strategy, setting.model, setting.count));
}

DataTraffic data_traffic(StepSetting const& setting, Strategy const& strategy, Placement const& placement,
                         Fabric const& fabric, StageParameters const& held, TrainedParts const& trained) {
    Pricer const pricer{setting, strategy, fabric};
    DataTraffic traffic;
    traffic.dense = pricer.price(held.dense, trained.dense, over_copies(strategy, placement.data), placement.shard,
                                 placement.replicate);
    if (held.experts > 0.0) {
        traffic.experts = pricer.price(held.experts, trained.experts, over_copies(strategy, placement.expert_data),
                                       placement.expert_shard, placement.expert_replicate);
    }
    if (strategy.servers > 0 || strategy.local_steps > 1) { move_to_blocking(setting, strategy, fabric, traffic); }
    return traffic;
}

bool runs_without_flush(Strategy const& strategy) {
    return strategy.pp > 1 && schedule_row(strategy.schedule()).asynchronous;
}

double updates_per_step(Strategy const& strategy, double micro_batches) {
    return runs_without_flush(strategy) ? micro_batches : 1.0;
}

double reductions_per_step(Strategy const& strategy, Framework const& framework, double micro_batches) {
    bool const sharded = strategy.zero >= 2 && framework.gathers_per_micro_batch;
    return sharded ? micro_batches : updates_per_step(strategy, micro_batches);
}

double gathers_per_pass(Strategy const& strategy, Framework const& framework) {
    bool const releases = framework.gradient_overlap == GradientOverlap::exposed;
    return releases && strategy.recompute == Recompute::full ? 3.0 : 2.0;
}

namespace {

/// Work of every stage in mean blocks, where blocks differ.
std::vector<double> work_of_stages(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs) {
    auto const shape = pipeline_shape(strategy, setting.workload);
    auto const layout = schedule_row(strategy.schedule()).layout;
    auto const size = blocks_of_parts(depth_of(setting.model), shape, layout);
    std::vector<std::size_t> first{0};
    for (int const blocks : size) { first.push_back(first.back() + static_cast<std::size_t>(blocks)); }
    double const share = layout == ChunkLayout::bidirectional ? 0.5 : 1.0; // half of the micro-batches each way
    std::vector<double> work(static_cast<std::size_t>(shape.stages), 0.0);
    for (int stage = 0; stage < shape.stages; ++stage) {
        for (int chunk = 0; chunk < shape.chunks; ++chunk) {
            auto const part = static_cast<std::size_t>(part_of(shape, layout, {stage, chunk}));
            work[static_cast<std::size_t>(stage)] += share * costs.blocks_between(first[part], first[part + 1]);
        }
    }
    return work;
}

/// Joins neighbours that take equally long; then, while there are more groups than 1F1B is timed by, those that differ
/// least, at their mean.
StageGroups joined_alike(std::vector<EqualStages> groups) {
    while (groups.size() > static_cast<std::size_t>(most_stage_groups)) {
        auto const apart = [&groups](std::size_t i) { return std::abs(groups[i].time - groups[i + 1].time); };
        std::size_t closest = 0;
        for (std::size_t i = 1; i + 1 < groups.size(); ++i) {
            if (apart(i) < apart(closest)) { closest = i; }
        }
        auto& one = groups[closest];
        auto const& next = groups[closest + 1];
        one.time = (one.time * one.count + next.time * next.count) / (one.count + next.count);
        one.count += next.count;
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(closest) + 1);
    }
    StageGroups joined;
    for (EqualStages const& group : groups) { joined.add(group); }
    return joined;
}

/// Adds a stage to the last group where it takes as long.
void add_stage(std::vector<EqualStages>& groups, double time) {
    if (!groups.empty() && groups.back().time == time) {
        ++groups.back().count;
    } else {
        groups.push_back({.count = 1, .time = time});
    }
}

/// Stages of equal blocks: the last of those in the middle have one block less where there are too few for all.
StageGroups stages_of_equal_blocks(SlowestStage const& first, SlowestStage const& middle, SlowestStage const& last,
                                   int stages, int layers, Seconds block, auto time) {
    StageGroups groups;
    groups.add({.count = 1, .time = time(first).base()});
    int const between = stages - 2;
    double const missing = middle.layers * between + first.layers + last.layers - layers;
    int const fewer = std::clamp(static_cast<int>(missing), 0, std::max(0, between));
    groups.add({.count = between - fewer, .time = (block * middle.layers).base()});
    groups.add({.count = fewer, .time = (block * (middle.layers - 1.0)).base()});
    groups.add({.count = 1, .time = time(last).base()});
    return groups;
}

} // namespace

SlowestStage slowest_stage(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs) {
    return stage_at(setting, strategy, costs, StagePlace::whole);
}

SlowestStage stage_at(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs, StagePlace where) {
    int const layers = depth_of(setting.model);
    SlowestStage const whole{.place = StagePlace::whole, .layers = layers * 1.0, .embedding = 1.0, .head = 1.0};
    if (strategy.pp == 1) { return whole; }
    auto const layout = schedule_row(strategy.schedule()).layout;
    auto const held = [&](StagePlace place) { return stage_layers(layers, strategy.pp, place) * 1.0; };
    SlowestStage first{.place = StagePlace::first, .layers = held(StagePlace::first), .embedding = 1.0};
    SlowestStage last{.place = StagePlace::last, .layers = held(StagePlace::last), .head = 1.0};
    SlowestStage middle{.place = StagePlace::middle, .layers = held(StagePlace::middle)};
    if (layout == ChunkLayout::v) { std::swap(first.head, last.head); } // the V ends where it began
    if (layout == ChunkLayout::bidirectional) {
        first.layers = last.layers = (first.layers + last.layers) / 2.0;
        first.embedding = first.head = last.embedding = last.head = 0.5;
    }
    std::vector<double> work; // of the stages, where blocks differ
    if (!costs.until.empty()) {
        work = work_of_stages(setting, strategy, costs);
        first.layers = work.front();
        last.layers = work.back();
        if (work.size() > 2) { middle.layers = *std::max_element(work.begin() + 1, work.end() - 1); }
    }
    last.index = strategy.pp - 1;
    middle.index =
        work.size() > 2 ? static_cast<int>(std::max_element(work.begin() + 1, work.end() - 1) - work.begin()) : 1;
    Seconds const block = costs.block.total(), embedding = costs.embedding.total(), head = costs.head.total();
    auto const time = [&](SlowestStage const& stage) {
        return block * stage.layers + embedding * stage.embedding + head * stage.head;
    };
    SlowestStage slowest = last;
    if (time(first) > time(slowest)) { slowest = first; }
    if (strategy.pp > 2 && time(middle) > time(slowest)) { slowest = middle; }
    if (where != StagePlace::whole) {
        slowest = where == StagePlace::first ? first : where == StagePlace::last ? last : middle;
    }
    if (work.empty()) {
        slowest.stages = stages_of_equal_blocks(first, middle, last, strategy.pp, layers, block, time);
    } else {
        std::vector<EqualStages> groups;
        add_stage(groups, time(first).base());
        for (std::size_t s = 1; s + 1 < work.size(); ++s) { add_stage(groups, block.base() * work[s]); }
        add_stage(groups, time(last).base());
        slowest.stages = joined_alike(std::move(groups));
    }
    slowest.block_time = block;
    slowest.model_layers = layers;
    slowest.embedding_time = embedding;
    slowest.head_time = head;
    return slowest;
}

Bytes boundary_bytes(StepSetting const& setting, Strategy const& strategy) {
    double const tokens = tokens_of(shape_of(strategy, setting.workload));
    return Bytes{tokens * setting.model.hidden * element_bytes(strategy.precision) / strategy.tp};
}

Seconds hop_time(StepSetting const& setting, Strategy const& strategy, Fabric const& fabric) {
    return hop_time(setting, strategy, place(strategy, setting.cluster.domain), fabric);
}

Seconds hop_time(StepSetting const& setting, Strategy const& strategy, Placement const& placement,
                 Fabric const& fabric) {
    if (strategy.pp == 1) { return Seconds{}; }
    bool const leaves = placement.pipeline_leaves_domain;
    return point_to_point({boundary_bytes(setting, strategy)}, leaves ? fabric.scale_out : fabric.scale_up).total() +
           Seconds{setting.constants[Constant::base_latency]};
}

HostTraffic host_traffic(StepSetting const& setting, Strategy const& strategy) {
    HostTraffic traffic;
    auto const& cluster = setting.cluster;
    auto const& framework = setting.framework;
    if (offloads_optimizer(strategy.offload)) {
        auto held = held_parameters(setting, strategy);
        auto trained = trained_parts(strategy, setting.model, setting.count);
        if (has_frozen_blocks(setting.model, strategy)) {
            auto const last = holding_of_last_blocks(setting, strategy, strategy.pp - 1);
            held = last.held, trained = last.trained;
        }
        double const updated = trained.dense * held.dense / shards_of(strategy).optimizer +
                               trained.experts * held.experts / expert_shards_of(strategy).optimizer;
        traffic.optimizer_transfer =
            Bytes{updated * (framework.gradient_bytes + framework.parameter_bytes)} / cluster.host.bandwidth;
        traffic.update =
            Bytes{updated * setting.constants[Constant::optimizer_traffic]} / cluster.host_memory_bandwidth;
    }
    if (offloads_activations(strategy.offload)) {
        auto const shape = shape_of(strategy, setting.workload);
        double const blocks = stage_layers(depth_of(setting.model), strategy.pp,
                                           strategy.pp == 1 ? StagePlace::whole : StagePlace::middle);
        Bytes const kept = block_activation_bytes(setting.model, shape, framework) * blocks;
        traffic.activation_transfer =
            2.0 * kept * micro_batch_count(strategy, setting.workload) / cluster.host.bandwidth;
    }
    return traffic;
}

} // namespace headroom
