#include "step_frame.hpp"

#include "headroom/training/pipeline.hpp"
#include "headroom/training/step.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training {

using namespace headroom::network;

namespace {

/// Operations of a step; what only a part of the blocks or a ragged micro-batch has counts whole.
int whole(double operations) {
    return static_cast<int>(std::ceil(operations - 1e-6)); // less what sums of shares round up
}

/// What every dimension's rows are made from.
struct Table {
    StepSetting const& setting;
    Strategy const& strategy;
    LayerCosts const& costs;
    StepTime time;
    Fabric fabric;
    Placement placement;
    double micro_batches;
    std::vector<CommunicationRow> rows;

    PricedStage priced;
    SlowestStage stage = priced.stage;
    /// How often a rank of the slowest stage passes a block in a step.
    [[nodiscard]] double visits() const { return micro_batches * stage.layers; }
    [[nodiscard]] std::string algorithm(Collective collective, Bytes bytes, Group group) const {
        return std::string{fastest(collective, {bytes}, group, fabric).algorithm};
    }
};

/// The ends of the model on the slowest stage: both without a pipeline, none in the middle of one.
LayerCost end_cost(Table const& table) {
    LayerCost ends;
    if (table.stage.head > 0.0) { ends.add(table.costs.head, table.stage.head); }
    if (table.stage.embedding > 0.0) { ends.add(table.costs.embedding, table.stage.embedding); }
    return ends;
}

void add_tensor(Table& table) {
    auto const& block = table.costs.block;
    auto const group = table.placement.tensor;
    auto const ends = end_cost(table);
    bool const sharded = table.strategy.sequence_parallel;
    Bytes const each = block.tensor_bytes / std::max(1.0, block.tensor_count);
    table.rows.push_back(
        {.dimension = "tensor",
         .collective = sharded ? "all_gather + reduce_scatter" : "all_reduce",
         .why = "partial sums of every attention and feed-forward block",
         .algorithm = table.algorithm(sharded ? Collective::all_gather : Collective::all_reduce, each, group),
         .bytes = block.tensor_bytes * table.visits() + ends.tensor_bytes * table.micro_batches,
         .operations = whole(block.tensor_count * table.visits() + ends.tensor_count * table.micro_batches),
         .seconds = block.tensor * table.visits() + ends.tensor * table.micro_batches,
         .exposed = table.time.tensor_communication,
         .group = group});
}

void add_context(Table& table) {
    auto const& block = table.costs.block;
    auto const ends = end_cost(table);
    auto const group = table.placement.context;
    Bytes const each = block.context_bytes / std::max(1.0, block.context_count);
    auto const [collective, why] = [&]() -> std::pair<Collective, char const*> {
        switch (table.strategy.exchange) {
        case ContextExchange::ring:
            return {Collective::point_to_point, "keys and values passed round the ranks of a sequence"};
        case ContextExchange::all_to_all: return {Collective::all_to_all, "heads traded for tokens and back"};
        case ContextExchange::gather: break;
        }
        return {Collective::all_gather, "keys and values of the rest of the sequence"};
    }();
    table.rows.push_back(
        {.dimension = "context",
         .collective = std::string{name_of(collective)},
         .why = why,
         .algorithm = table.algorithm(collective, each, group),
         .bytes = block.context_bytes * table.visits() + ends.context_bytes * table.micro_batches,
         .operations = whole(block.context_count * table.visits() + ends.context_count * table.micro_batches),
         .seconds = block.context * table.visits() + ends.context * table.micro_batches,
         .exposed = table.time.context_communication,
         .group = group});
}

void add_experts(Table& table) {
    auto const& block = table.costs.block;
    auto const ends = end_cost(table);
    table.rows.push_back(
        {.dimension = "experts",
         .collective = std::string{name_of(Collective::all_to_all)},
         .why = "tokens to their experts and back",
         .algorithm = table.setting.framework.sends_tokens_once ? "once a domain" : "pairwise",
         .bytes = block.experts_bytes * table.visits() + ends.experts_bytes * table.micro_batches,
         .operations = whole(block.experts_count * table.visits() + ends.experts_count * table.micro_batches),
         .seconds = block.experts * table.visits() + ends.experts * table.micro_batches,
         .exposed = table.time.expert_communication,
         .group = table.placement.experts});
}

void add_pipeline(Table& table) {
    auto const& schedule = schedule_row(table.strategy.schedule());
    // forward and back, every chunk that a micro-batch passes
    int const passed =
        schedule.layout == ChunkLayout::bidirectional ? 1 : std::max(schedule.chunks, table.strategy.virtual_pp);
    double const hops = 2.0 * table.micro_batches * passed;
    double const waits = 2.0 * (table.strategy.pp - 1); // hops of other ranks while it fills and drains
    table.rows.push_back({.dimension = "pipeline",
                          .collective = "point_to_point",
                          .why = "activations and their gradients between stages",
                          .algorithm = "direct",
                          .bytes = boundary_bytes(table.setting, table.strategy) * hops,
                          .operations = whole(hops),
                          .seconds = hop_time(table.setting, table.strategy, table.fabric) * (hops + waits),
                          .exposed = table.time.pipeline_communication,
                          .group = table.placement.pipeline});
}

/// How often data-parallel traffic comes in a step, and how much of it shows, in proportion to its time.
struct DataShares {
    double reductions = 1.0, gathers = 0.0;
    Seconds all, shown;
    [[nodiscard]] Seconds exposed(Seconds part) const { return all.base() > 0.0 ? shown * (part / all) : Seconds{}; }
};

void add_group(Table& table, ParameterTraffic const& traffic, DataShares const& shares, bool experts) {
    auto const row = [&](Collective kind, char const* why, Group group, Bytes bytes, double times, Seconds once) {
        if (once.base() <= 0.0) { return; }
        table.rows.push_back({.dimension = experts ? "expert data" : "data",
                              .collective = std::string{name_of(kind)},
                              .why = why,
                              .algorithm = table.algorithm(kind, bytes, group),
                              .bytes = bytes * times,
                              .operations = whole(times),
                              .seconds = once * times,
                              .exposed = shares.exposed(once * times),
                              .group = group});
    };
    int const zero = table.strategy.zero;
    row(zero == 0 ? Collective::all_reduce : Collective::reduce_scatter,
        experts ? "gradients of experts" : "gradients of data parallel", traffic.group,
        traffic.gradients * traffic.sent, shares.reductions, traffic.reduce);
    row(Collective::all_reduce, "gradient shards between the copies of a sharded group", traffic.replicas,
        traffic.gradients / traffic.group.size, shares.reductions, traffic.replicate);
    row(Collective::all_gather,
        zero == 3 ? "sharded weights before each use" : "updated weights of the sharded optimizer", traffic.group,
        traffic.parameters, shares.gathers, traffic.gather);
}

/// Servers or local updates: nothing hides them.
void add_blocking(Table& table, DataTraffic const& traffic) {
    auto const& strategy = table.strategy;
    auto const& dense = traffic.dense;
    bool const servers = strategy.servers > 0;
    table.rows.push_back({.dimension = "data",
                          .collective = servers ? "push and pull" : std::string{name_of(Collective::all_reduce)},
                          .why = servers ? "gradients to parameter servers, weights back"
                                         : "parameters after local steps, averaged over steps",
                          .algorithm = servers ? "parameter server" : "every " + std::to_string(strategy.local_steps),
                          .bytes = traffic.blocking_bytes,
                          .operations = 1,
                          .seconds = traffic.blocking,
                          .exposed = traffic.blocking,
                          .group = strategy.zero == 3 ? dense.replicas : dense.group});
}

void add_data(Table& table) {
    auto const& strategy = table.strategy;
    auto const& framework = table.setting.framework;
    auto traffic = table.priced.traffic;
    double const updates = updates_per_step(strategy, table.micro_batches);
    traffic.blocking *= updates;
    traffic.blocking_bytes *= updates;
    DataShares shares;
    shares.reductions = reductions_per_step(strategy, framework, table.micro_batches);
    shares.gathers = strategy.zero == 0   ? 0.0
                     : strategy.zero == 3 ? gathers_per_pass(strategy, framework) * shares.reductions
                                          : updates;
    shares.all = traffic.reduce() * shares.reductions + traffic.gather() * shares.gathers;
    shares.shown = table.time.data_communication - traffic.blocking;
    add_group(table, traffic.dense, shares, false);
    add_group(table, traffic.experts, shares, true);
    if (traffic.blocking.base() > 0.0) { add_blocking(table, traffic); }
}

} // namespace

std::vector<CommunicationRow> communication_rows(StepSetting const& setting, Strategy const& strategy,
                                                 LayerCosts const& costs) {
    auto const fabric = calibrated_fabric(setting.cluster, setting.constants);
    auto const slowest = slowest_stage(setting, strategy, costs);
    auto const placed = placed_traffic(setting, strategy);
    auto const priced = priced_stage(priced_place(setting, strategy, costs, slowest, placed), setting, strategy, costs,
                                     slowest, placed, fabric);
    Table table{.setting = setting,
                .strategy = strategy,
                .costs = priced.own ? *priced.own : costs,
                .time = step_time(setting, strategy, costs, slowest, placed),
                .fabric = fabric,
                .placement = placed.placement,
                .micro_batches = micro_batch_count(strategy, setting.workload),
                .rows = {},
                .priced = priced};
    if (strategy.tp > 1) { add_tensor(table); }
    if (strategy.cp > 1) { add_context(table); }
    if (strategy.ep > 1) { add_experts(table); }
    if (strategy.pp > 1) { add_pipeline(table); }
    add_data(table);
    return std::move(table.rows);
}

} // namespace headroom::training
