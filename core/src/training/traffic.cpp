#include "traffic.hpp"

#include "headroom/compression.hpp"
#include "headroom/local_updates.hpp"
#include "headroom/memory.hpp"
#include "headroom/pipeline.hpp"
#include "headroom/server.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
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

bool drains_in_turn(Strategy const& strategy) {
    auto const& row = schedule_row(strategy.schedule());
    return strategy.pp > 1 && !row.splits_backward && !row.asynchronous && row.layout == ChunkLayout::loop;
}

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

namespace {

/// What the first stage sends, where it may end after the fullest.
std::optional<DataTraffic> traffic_of_first(StepSetting const& setting, Strategy const& strategy,
                                            PlacedTraffic const& placed, Fabric const& fabric) {
    if (!drains_in_turn(strategy)) { return {}; }
    if (placed.data.blocking.base() > 0.0) { return {}; } // servers and local steps hold up all, the fullest longest
    auto const held = stage_parameters(setting, strategy, StagePlace::first);
    double const fullest = placed.data.dense.parameters_held + placed.data.experts.parameters_held;
    if (held.all() >= fullest * (1.0 - 1e-3)) { return {}; } // as good as the same
    auto const traffic = data_traffic(setting, strategy, placed.placement, fabric, held);
    // a mixture may hold less of everything and send more of one kind: then it is told as the fullest
    if (traffic.reduce() > placed.data.reduce() || traffic.gather() > placed.data.gather()) { return {}; }
    return traffic;
}

} // namespace

PlacedTraffic placed_traffic(StepSetting const& setting, Strategy const& strategy) {
    auto const fabric = calibrated_fabric(setting.cluster, setting.constants);
    PlacedTraffic placed{.placement = place(strategy, setting.cluster.domain), .data = {}};
    placed.data = data_traffic(setting, strategy, placed.placement, fabric);
    placed.first = traffic_of_first(setting, strategy, placed, fabric);
    return placed;
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

/// What a stage holds: blocks, and shares of the ends of the model.
struct StageParts {
    StagePlace place = StagePlace::middle;
    double layers = 0.0, embedding = 0.0, head = 0.0;
};

/// What the blocks of a stage take for one micro-batch.
struct StageBlocks {
    double work = 0.0;    ///< in mean blocks
    double forward = 0.0; ///< of it
    void operator+=(StageBlocks const& other) {
        work += other.work;
        forward += other.forward;
    }
};

/// Of neighbouring blocks, where blocks differ; of blocks of one kind one is priced.
class BlockWork {
public:
    BlockWork(LayerCosts const& costs, Seconds mean) : costs_{costs}, mean_{mean} {}

    StageBlocks between(std::size_t first, std::size_t end) {
        auto const blocks = static_cast<double>(end - first);
        if (mean_.base() <= 0.0 || end == first) { return {.work = blocks, .forward = 0.0}; }
        std::size_t const alike = costs_.until[end].alike;
        if (alike > first) { return priced(first, end); }
        if (priced_ != alike + 1) {
            priced_ = alike + 1;
            one_ = priced(alike, alike + 1);
        }
        return {.work = blocks * one_.work, .forward = blocks * one_.forward};
    }
    [[nodiscard]] StageBlocks priced(std::size_t first, std::size_t end) const {
        auto const passes = costs_.passes_between(first, end);
        return {.work = passes.total() / mean_, .forward = passes.forward / mean_};
    }

private:
    LayerCosts const& costs_;
    Seconds mean_;
    std::size_t priced_ = 0; ///< end of the block that was priced last
    StageBlocks one_;        ///< what it came to
};

/// Of every stage, where blocks differ.
std::vector<StageBlocks> blocks_of_stages(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                                          Seconds block) {
    auto const shape = pipeline_shape(strategy, setting.workload);
    auto const layout = schedule_row(strategy.schedule()).layout;
    bool const two = layout == ChunkLayout::bidirectional;
    auto const size = blocks_of_parts(depth_of(setting.model), shape, layout);
    auto const count = static_cast<std::size_t>(shape.stages);
    double const share = two ? 0.5 : 1.0; // half of the micro-batches each way
    std::vector<StageBlocks> stages(count);
    BlockWork blocks{costs, block};
    std::size_t end = 0;
    auto part = size.begin();
    for (int chunk = 0; part != size.end(); ++chunk) {
        bool const returns = layout == ChunkLayout::v && chunk == 1;
        for (std::size_t turn = 0; turn < count; ++turn, ++part) {
            std::size_t const first = std::exchange(end, end + static_cast<std::size_t>(*part));
            auto const all = blocks.between(first, end);
            StageBlocks const held{.work = share * all.work, .forward = share * all.forward};
            stages[returns ? count - 1 - turn : turn] += held;
            if (two) { stages[count - 1 - turn] += held; }
        }
    }
    return stages;
}

/// Joins neighbours that take equally long; then, while there are more groups than 1F1B is timed by, those that differ
/// least, at their mean.
void join_alike(std::vector<EqualStages>& groups, StageGroups& joined) {
    while (groups.size() > static_cast<std::size_t>(most_stage_groups)) {
        auto const apart = [&groups](std::size_t i) { return std::abs(groups[i].time - groups[i + 1].time); };
        std::size_t closest = 0;
        for (std::size_t i = 1; i + 1 < groups.size(); ++i) {
            if (apart(i) < apart(closest)) { closest = i; }
        }
        auto& one = groups[closest];
        auto const& next = groups[closest + 1];
        auto const mean = [&](double of_one, double of_next) {
            return (of_one * one.count + of_next * next.count) / (one.count + next.count);
        };
        one.time = mean(one.time, next.time);
        one.forward = mean(one.forward, next.forward);
        one.count += next.count;
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(closest) + 1);
    }
    for (EqualStages const& group : groups) { joined.add(group); }
}

/// Adds a stage to the last group where it takes as long, but for the rounding of sums over blocks.
void add_stage(std::vector<EqualStages>& groups, EqualStages const& stage) {
    auto const equal = [](double a, double b) { return std::abs(a - b) <= 1e-9 * b; };
    bool const alike =
        !groups.empty() && equal(groups.back().time, stage.time) && equal(groups.back().forward, stage.forward);
    if (alike) {
        ++groups.back().count;
    } else {
        groups.push_back(stage);
    }
}

/// Stages of equal blocks: the last of those in the middle have one block less where there are too few for all.
void add_stages_of_equal_blocks(StageGroups& groups, StageParts const& first, StageParts const& middle,
                                StageParts const& last, int stages, int layers, auto of_stage) {
    groups.add(of_stage(first, 1));
    int const between = stages - 2;
    double const missing = middle.layers * between + first.layers + last.layers - layers;
    int const fewer = std::clamp(static_cast<int>(missing), 0, std::max(0, between));
    StageParts const with_fewer{.layers = middle.layers - 1.0};
    groups.add(of_stage(middle, between - fewer));
    groups.add(of_stage(with_fewer, fewer));
    groups.add(of_stage(last, 1));
}

Seconds ahead_of(Seconds end, PassCost const& block, double blocks, bool reads) {
    Seconds const behind = blocks * (block.host - block.chip);
    if (behind.base() <= 0.0) { return Seconds{}; }
    return std::min({end, behind, reads ? block.host : behind});
}

/// Of blocks that the ends share a pass with; without a pipeline both passes of the head are before the same backward pass.
EndsAhead ends_ahead(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs, double first,
                     double last) {
    if (costs.block.host.base() <= 0.0 || !host_waits(setting.model, strategy)) { return {}; }
    bool const reads = setting.model.moe.experts > 0;
    Seconds const head = strategy.pp > 1 ? costs.head.total() - costs.head.forward() : costs.head.total();
    return {.embedding = ahead_of(costs.embedding.forward(), costs.block.forward_pass(), first, reads),
            .head = ahead_of(head, costs.block.backward_pass(), last, reads)};
}

} // namespace

SlowestStage slowest_stage(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs) {
    return stage_at(setting, strategy, costs, StagePlace::whole);
}

SlowestStage stage_at(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs, StagePlace where) {
    int const layers = depth_of(setting.model);
    if (strategy.pp == 1) {
        return {.place = StagePlace::whole,
                .layers = layers * 1.0,
                .embedding = 1.0,
                .head = 1.0,
                .ahead = ends_ahead(setting, strategy, costs, layers, layers)};
    }
    Seconds const block = costs.block.total(), embedding = costs.embedding.total(), head = costs.head.total();
    auto const layout = schedule_row(strategy.schedule()).layout;
    auto const held = [&](StagePlace place) { return stage_layers(layers, strategy.pp, place) * 1.0; };
    StageParts first{.place = StagePlace::first, .layers = held(StagePlace::first), .embedding = 1.0};
    StageParts last{.place = StagePlace::last, .layers = held(StagePlace::last), .head = 1.0};
    StageParts middle{.place = StagePlace::middle, .layers = held(StagePlace::middle)};
    if (layout == ChunkLayout::v) { std::swap(first.head, last.head); } // the V ends where it began
    if (layout == ChunkLayout::bidirectional) {
        first.layers = last.layers = (first.layers + last.layers) / 2.0;
        first.embedding = first.head = last.embedding = last.head = 0.5;
    }
    int heaviest = 1;                 // of those in the middle
    std::vector<StageBlocks> held_by; // every stage, where blocks differ
    if (!costs.until.empty()) {
        held_by = blocks_of_stages(setting, strategy, costs, block);
        first.layers = held_by.front().work;
        last.layers = held_by.back().work;
        for (std::size_t s = 1; s + 1 < held_by.size(); ++s) {
            if (s == 1 || held_by[s].work > middle.layers) {
                middle.layers = held_by[s].work, heaviest = static_cast<int>(s);
            }
        }
    }
    double const chunks =
        layout == ChunkLayout::bidirectional ? 1.0 : pipeline_shape(strategy, setting.workload).chunks;
    auto const ahead = ends_ahead(setting, strategy, costs, first.layers / chunks,
                                  (layout == ChunkLayout::v ? first.layers : last.layers) / chunks);
    auto const time = [&](StageParts const& stage) {
        return block * stage.layers + (embedding - ahead.embedding) * stage.embedding +
               (head - ahead.head) * stage.head;
    };
    StageParts const* most = &last;
    if (time(first) > time(*most)) { most = &first; }
    if (strategy.pp > 2 && time(middle) > time(*most)) { most = &middle; }
    if (where != StagePlace::whole) {
        most = where == StagePlace::first ? &first : where == StagePlace::last ? &last : &middle;
    }
    SlowestStage slowest{
        .place = most->place, .layers = most->layers, .embedding = most->embedding, .head = most->head};
    slowest.index = most == &first ? 0 : most == &last ? strategy.pp - 1 : heaviest;
    Seconds const block_forward = costs.block.forward(), embedding_forward = costs.embedding.forward(),
                  head_forward = costs.head.forward();
    auto const of_stage = [&](StageParts const& stage, int count, std::optional<Seconds> blocks = std::nullopt) {
        Seconds const forward = blocks.value_or(block_forward * stage.layers) +
                                (embedding_forward - ahead.embedding) * stage.embedding + head_forward * stage.head;
        return EqualStages{.count = count, .time = time(stage).base(), .forward = forward.base()};
    };
    // others need the slowest alone
    bool const counts = strategy.schedule() == PipelineSchedule::one_f_one_b || runs_without_flush(strategy);
    if (counts && held_by.empty()) {
        add_stages_of_equal_blocks(slowest.stages, first, middle, last, strategy.pp, layers, of_stage);
    } else if (counts) {
        std::vector<EqualStages> groups;
        groups.reserve(held_by.size());
        for (std::size_t s = 0; s < held_by.size(); ++s) {
            StageParts stage = s == 0 ? first : s + 1 == held_by.size() ? last : middle;
            stage.layers = held_by[s].work;
            add_stage(groups, of_stage(stage, 1, block * held_by[s].forward));
        }
        join_alike(groups, slowest.stages);
    }
    slowest.block_time = block;
    slowest.model_layers = layers;
    slowest.embedding_time = embedding;
    slowest.head_time = head;
    slowest.ahead = ahead;
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

HostTraffic state_with_the_host(StepSetting const& setting, Strategy const& strategy, StageParameters const& held,
                                TrainedParts const& trained) {
    if (!offloads_optimizer(strategy.offload)) { return {}; }
    auto const& framework = setting.framework;
    double const updated = trained.dense * held.dense / shards_of(strategy).optimizer +
                           trained.experts * held.experts / expert_shards_of(strategy).optimizer;
    Bytes const moved{updated * (framework.gradient_bytes + framework.parameter_bytes)};
    Bytes const touched{updated * setting.constants[Constant::optimizer_traffic]};
    return {.optimizer_transfer = moved / setting.cluster.host.bandwidth,
            .update = touched / setting.cluster.host_memory_bandwidth,
            .activation_transfer = {}};
}

Seconds kept_block_transfer(StepSetting const& setting, Strategy const& strategy) {
    if (!offloads_activations(strategy.offload)) { return Seconds{}; }
    auto const shape = shape_of(strategy, setting.workload);
    return block_activation_bytes(setting.model, shape, setting.framework) / setting.cluster.host.bandwidth;
}

HostTraffic host_traffic(StepSetting const& setting, Strategy const& strategy) {
    HostTraffic traffic;
    if (offloads_optimizer(strategy.offload)) {
        StageHolding of{.held = {}, .trained = trained_parts(strategy, setting.model, setting.count)};
        if (has_frozen_blocks(setting.model, strategy)) {
            of = holding_of_last_blocks(setting, strategy, strategy.pp - 1);
        } else {
            of.held = held_parameters(setting, strategy);
        }
        traffic = state_with_the_host(setting, strategy, of.held, of.trained);
    }
    double const blocks =
        stage_layers(depth_of(setting.model), strategy.pp, strategy.pp == 1 ? StagePlace::whole : StagePlace::middle);
    traffic.activation_transfer =
        2.0 * blocks * kept_block_transfer(setting, strategy) * micro_batch_count(strategy, setting.workload);
    return traffic;
}

} // namespace headroom
