#include "simulation/step_data.hpp"
#include "traffic.hpp"

#include "headroom/training/pipeline.hpp"
#include "headroom/training/step.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace headroom::training {

using namespace headroom::network;

namespace {

/// Operations of a step, rounded up where only some blocks or a shorter last micro-batch have them.
std::int64_t whole_operations(double operations) {
    return static_cast<std::int64_t>(std::ceil(operations - 1e-6)); // less what sums of shares round up
}

/// Inputs of every row.
struct Table {
    StepSetting const& setting;
    Strategy const& strategy;
    StepTime const& time;
    LayerCost stage;     ///< stage that determines the step: durations of one micro-batch
    DataTraffic traffic; ///< of that stage
    Fabric fabric;
    Placement placement;
    std::vector<CommunicationRow> rows;

    [[nodiscard]] double micro_batches() const { return micro_batch_count(strategy, setting.workload); }
    [[nodiscard]] std::string algorithm(Collective collective, Bytes bytes, Group group) const {
        return std::string{fastest(collective, {bytes}, group, fabric).algorithm};
    }
    /// A row of collectives inside the passes; none where the stage runs none.
    void add(CommunicationRow row, Bytes bytes, double operations, Seconds seconds) {
        if (operations <= 0.0) { return; }
        double const times = micro_batches();
        row.bytes = bytes * times, row.operations = whole_operations(operations * times), row.seconds = seconds * times;
        rows.push_back(std::move(row));
    }
};

/// Costs of all blocks and ends of one stage, one micro-batch; with two directions the mean of both models.
LayerCost cost_of_stage(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs, int stage) {
    auto const layout = simulation::step_layout(setting, strategy);
    auto const order = simulation::block_order(setting, strategy);
    auto const shape = shape_of(strategy, setting.workload);
    double const share = layout.layout == ChunkLayout::bidirectional ? 0.5 : 1.0;
    std::vector<double> count(order.variants.size(), 0.0);
    LayerCost cost;
    for (int chunk = 0; chunk < layout.shape.chunks; ++chunk) {
        auto const& work = layout.at(stage, chunk);
        for (int i = 0; i < work.blocks; ++i) {
            count[order.variant_of[static_cast<std::size_t>(work.first_block + i)]] += share;
        }
        if (work.embedding) { cost.add(costs.embedding, share); }
        if (work.head) { cost.add(costs.head, share); }
    }
    for (std::size_t v = 0; v < count.size(); ++v) {
        if (count[v] == 0.0) { continue; }
        auto const block = simulation::program_of(setting, shape, order.variants[v]);
        cost.add(block_cost(block, shape, setting.cluster, setting.framework, setting.constants), count[v]);
    }
    return cost;
}

void add_tensor(Table& table) {
    auto const& stage = table.stage;
    auto const group = table.placement.tensor;
    bool const sharded = table.strategy.sequence_parallel;
    Bytes const each = stage.tensor.bytes / std::max(1.0, stage.tensor.count);
    table.add({.dimension = "tensor",
               .collective = sharded ? "all_gather + reduce_scatter" : "all_reduce",
               .why = "partial sums of every attention and feed-forward block",
               .algorithm = table.algorithm(sharded ? Collective::all_gather : Collective::all_reduce, each, group),
               .exposed = table.time.tensor_communication,
               .group = group},
              stage.tensor.bytes, stage.tensor.count, stage.tensor.time);
}

void add_context(Table& table) {
    auto const& stage = table.stage;
    auto const group = table.placement.context;
    Bytes const each = stage.context.bytes / std::max(1.0, stage.context.count);
    auto const [collective, why] = [&]() -> std::pair<Collective, char const*> {
        switch (table.strategy.exchange) {
        case ContextExchange::ring:
            return {Collective::point_to_point, "keys and values passed round the ranks of a sequence"};
        case ContextExchange::all_to_all: return {Collective::all_to_all, "heads traded for tokens and back"};
        case ContextExchange::gather: break;
        }
        return {Collective::all_gather, "keys and values of the rest of the sequence"};
    }();
    table.add({.dimension = "context",
               .collective = std::string{name_of(collective)},
               .why = why,
               .algorithm = table.algorithm(collective, each, group),
               .exposed = table.time.context_communication,
               .group = group},
              stage.context.bytes, stage.context.count, stage.context.time);
}

void add_experts(Table& table) {
    auto const& stage = table.stage;
    table.add({.dimension = "experts",
               .collective = std::string{name_of(Collective::all_to_all)},
               .why = "tokens to their experts and back",
               .algorithm = table.setting.framework.sends_tokens_once ? "once a domain" : "pairwise",
               .exposed = table.time.expert_communication,
               .group = table.placement.experts},
              stage.experts.bytes, stage.experts.count, stage.experts.time);
}

void add_pipeline(Table& table) {
    auto const& schedule = schedule_row(table.strategy.schedule());
    // forward and back, every chunk that a micro-batch passes
    int const passed =
        schedule.layout == ChunkLayout::bidirectional ? 1 : std::max(schedule.chunks, table.strategy.virtual_pp);
    double const hops = 2.0 * table.micro_batches() * passed;
    double const waits = 2.0 * (table.strategy.pp - 1); // hops of other ranks while it fills and drains
    table.rows.push_back(
        {.dimension = "pipeline",
         .collective = "point_to_point",
         .why = "activations and their gradients between stages",
         .algorithm = "direct",
         .bytes = boundary_bytes(table.setting, table.strategy) * hops,
         .operations = whole_operations(hops),
         .seconds = hop_time(table.setting, table.strategy, table.placement, table.fabric) * (hops + waits),
         .exposed = table.time.pipeline_communication,
         .group = table.placement.pipeline});
}

/// Number of data-parallel collectives in a step, and their exposed time, which is divided in proportion to their
/// durations.
struct DataShares {
    double reductions = 1.0, gathers = 0.0;
    Seconds all, exposed_in_all;
    [[nodiscard]] Seconds exposed(Seconds part) const {
        return all.base() > 0.0 ? exposed_in_all * (part / all) : Seconds{};
    }
};

void add_group(Table& table, ParameterTraffic const& traffic, DataShares const& shares, bool experts) {
    auto const row = [&](Collective kind, char const* why, Group group, Bytes bytes, double times, Seconds once) {
        if (once.base() <= 0.0) { return; }
        table.rows.push_back({.dimension = experts ? "expert data" : "data",
                              .collective = std::string{name_of(kind)},
                              .why = why,
                              .algorithm = table.algorithm(kind, bytes, group),
                              .bytes = bytes * times,
                              .operations = whole_operations(times),
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

/// Servers or local updates: no pass overlaps with them, copies to the host may.
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
                          .exposed = std::min(traffic.blocking, table.time.data_communication),
                          .group = strategy.zero == 3 ? dense.replicas : dense.group});
}

void add_data(Table& table) {
    auto const& strategy = table.strategy;
    auto const& framework = table.setting.framework;
    auto traffic = table.traffic;
    double const updates = updates_per_step(strategy, table.micro_batches());
    traffic.blocking *= updates;
    traffic.blocking_bytes *= updates;
    DataShares shares;
    shares.reductions = reductions_per_step(strategy, framework, table.micro_batches());
    shares.gathers = strategy.zero == 0   ? 0.0
                     : strategy.zero == 3 ? gathers_of_micro_batch(strategy, framework) *
                                                gatherings_per_step(strategy, framework, table.micro_batches())
                                          : updates;
    shares.all = traffic.reduce() * shares.reductions + traffic.gather() * shares.gathers;
    shares.exposed_in_all = std::max(Seconds{}, table.time.data_communication - traffic.blocking);
    add_group(table, traffic.dense, shares, false);
    add_group(table, traffic.experts, shares, true);
    if (traffic.blocking.base() > 0.0) { add_blocking(table, traffic); }
}

} // namespace

std::vector<CommunicationRow> communication_rows(StepSetting const& setting, Strategy const& strategy,
                                                 LayerCosts const& costs, PricedStep const& step) {
    Table table{.setting = setting,
                .strategy = strategy,
                .time = step.time,
                .stage = cost_of_stage(setting, strategy, costs, step.stage),
                .traffic = simulation::data_traffic_of(setting, strategy, step.stage),
                .fabric = calibrated_fabric(setting.cluster, setting.constants),
                .placement = place(strategy, setting.cluster.domain),
                .rows = {}};
    if (strategy.tp > 1) { add_tensor(table); }
    if (strategy.cp > 1) { add_context(table); }
    if (strategy.ep > 1) { add_experts(table); }
    if (strategy.pp > 1) { add_pipeline(table); }
    add_data(table);
    return std::move(table.rows);
}

} // namespace headroom::training
