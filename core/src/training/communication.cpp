#include "traffic.hpp"

#include "headroom/step.hpp"

#include <algorithm>

namespace headroom {
namespace {

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

    /// How often a rank passes a block in a step.
    [[nodiscard]] double visits() const { return micro_batches * setting.model.layers / strategy.pp; }
    [[nodiscard]] std::string algorithm(Collective collective, Bytes bytes, Group group) const {
        return std::string{fastest(collective, {bytes}, group, fabric).algorithm};
    }
};

/// The end of the model on the slowest stage: both ends without a pipeline.
LayerCost end_cost(Table const& table) {
    auto const& head = table.costs.head;
    auto const& embedding = table.costs.embedding;
    if (table.strategy.pp > 1) { return end_is_slower(head, embedding) ? head : embedding; }
    LayerCost both = head;
    both.tensor += embedding.tensor;
    both.tensor_bytes += embedding.tensor_bytes;
    both.tensor_count += embedding.tensor_count;
    return both;
}

void add_tensor(Table& table) {
    auto const& block = table.costs.block;
    auto const group = table.placement.tensor;
    auto const ends = end_cost(table);
    bool const sharded = table.strategy.sequence_parallel;
    Bytes const each = block.tensor_bytes / std::max(1, block.tensor_count);
    table.rows.push_back(
        {.dimension = "tensor",
         .collective = sharded ? "all_gather + reduce_scatter" : "all_reduce",
         .why = "partial sums of every attention and feed-forward block",
         .algorithm = table.algorithm(sharded ? Collective::all_gather : Collective::all_reduce, each, group),
         .bytes = block.tensor_bytes * table.visits() + ends.tensor_bytes * table.micro_batches,
         .operations = static_cast<int>(block.tensor_count * table.visits() + ends.tensor_count * table.micro_batches),
         .seconds = block.tensor * table.visits() + ends.tensor * table.micro_batches,
         .exposed = table.time.tensor_communication,
         .group = group});
}

void add_context(Table& table) {
    auto const& block = table.costs.block;
    auto const group = table.placement.context;
    Bytes const each = block.context_bytes / std::max(1, block.context_count);
    table.rows.push_back({.dimension = "context",
                          .collective = "all_gather",
                          .why = "keys and values of the rest of the sequence",
                          .algorithm = table.algorithm(Collective::all_gather, each, group),
                          .bytes = block.context_bytes * table.visits(),
                          .operations = static_cast<int>(block.context_count * table.visits()),
                          .seconds = block.context * table.visits(),
                          .exposed = table.time.context_communication,
                          .group = group});
}

void add_pipeline(Table& table) {
    double const hops = 2.0 * table.micro_batches * table.strategy.virtual_pp; // forward and back, every chunk
    double const waits = 2.0 * (table.strategy.pp - 1); // hops of other ranks while it fills and drains
    table.rows.push_back({.dimension = "pipeline",
                          .collective = "point_to_point",
                          .why = "activations and their gradients between stages",
                          .algorithm = "direct",
                          .bytes = boundary_bytes(table.setting, table.strategy) * hops,
                          .operations = static_cast<int>(hops),
                          .seconds = hop_time(table.setting, table.strategy, table.fabric) * (hops + waits),
                          .exposed = table.time.pipeline_communication,
                          .group = table.placement.pipeline});
}

/// Reduction and gathering share what shows in proportion to their time.
void add_data(Table& table) {
    auto const& strategy = table.strategy;
    auto const& framework = table.setting.framework;
    auto const traffic = data_traffic(table.setting, strategy, table.fabric);
    if (traffic.ranks == 1) { return; }
    double const reductions = reductions_per_step(strategy, framework, table.micro_batches);
    double const gathers = strategy.zero == 0   ? 0.0
                           : strategy.zero == 3 ? gathers_per_pass(strategy, framework) * reductions
                                                : 1.0;
    Seconds const reduce = traffic.reduce * reductions, gather = traffic.gather * gathers;
    Seconds const replicate = traffic.replicate * reductions;
    Seconds const both = reduce + replicate + gather;
    auto const shown = [&](Seconds part) {
        return both.base() > 0.0 ? table.time.data_communication * (part / both) : Seconds{};
    };
    auto const kind = strategy.zero == 0 ? Collective::all_reduce : Collective::reduce_scatter;
    auto const group = strategy.zero == 3 ? table.placement.shard : table.placement.data;
    table.rows.push_back({.dimension = "data",
                          .collective = std::string{name_of(kind)},
                          .why = "gradients of data parallel",
                          .algorithm = table.algorithm(kind, traffic.gradients, group),
                          .bytes = traffic.gradients * reductions,
                          .operations = static_cast<int>(reductions),
                          .seconds = reduce,
                          .exposed = shown(reduce),
                          .group = group});
    if (replicate.base() > 0.0) {
        auto const copies = table.placement.replicate;
        Bytes const shard = traffic.gradients / group.size;
        table.rows.push_back({.dimension = "data",
                              .collective = "all_reduce",
                              .why = "gradient shards between the copies of a sharded group",
                              .algorithm = table.algorithm(Collective::all_reduce, shard, copies),
                              .bytes = shard * reductions,
                              .operations = static_cast<int>(reductions),
                              .seconds = replicate,
                              .exposed = shown(replicate),
                              .group = copies});
    }
    if (gathers == 0.0) { return; }
    table.rows.push_back(
        {.dimension = "data",
         .collective = "all_gather",
         .why = strategy.zero == 3 ? "sharded weights before each use" : "updated weights of the sharded optimizer",
         .algorithm = table.algorithm(Collective::all_gather, traffic.parameters, group),
         .bytes = traffic.parameters * gathers,
         .operations = static_cast<int>(gathers),
         .seconds = gather,
         .exposed = shown(gather),
         .group = group});
}

} // namespace

std::vector<CommunicationRow> communication_rows(StepSetting const& setting, Strategy const& strategy,
                                                 LayerCosts const& costs) {
    Table table{.setting = setting,
                .strategy = strategy,
                .costs = costs,
                .time = step_time(setting, strategy, costs),
                .fabric = calibrated_fabric(setting.cluster, setting.constants),
                .placement = place(strategy, setting.cluster.domain),
                .micro_batches = micro_batch_count(strategy, setting.workload),
                .rows = {}};
    if (strategy.tp > 1) { add_tensor(table); }
    if (strategy.cp > 1) { add_context(table); }
    if (strategy.pp > 1) { add_pipeline(table); }
    add_data(table);
    return std::move(table.rows);
}

} // namespace headroom
