#include "headroom/step.hpp"

#include "traced.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// Parameters and groups of the data-parallel traffic of the fullest stage.
struct DataPlan {
    double local_parameters = 0.0;     ///< of one rank before any data-parallel sharding
    double reduce = 0.0, gather = 0.0; ///< seconds of one whole reduction and of one whole gathering
    Bytes gradients, parameters;       ///< total bytes of those
    int data_ranks = 1;
    int state_shards = 1, gradient_shards = 1; ///< ranks that optimizer state and kept gradients are split over
};

double fullest_stage_parameters(Model const& model, Strategy const& strategy) {
    auto const count = count_parameters(model);
    double const blocks = count.layer * model.layers / strategy.pp;
    double const output = count.head > 0.0 ? count.head : static_cast<double>(model.vocab) * model.hidden;
    if (strategy.pp == 1) { return (blocks + count.embedding + count.head) / strategy.tp; }
    return (blocks + std::max(count.embedding, output)) / strategy.tp;
}

double trained_share(Strategy const& strategy) {
    constexpr double adapters = 0.005; // rank-16 adapters on attention of a 70B model hold about half a per cent
    return strategy.trained == Trained::adapters ? adapters : 1.0;
}

/// Bytes of a parameter as it travels: 32-bit shards are cast to the working format first.
double gathered_bytes(Framework const& framework, Precision precision) {
    return std::min(framework.parameter_bytes, element_bytes(precision));
}

DataPlan data_plan(StepSetting const& setting, Strategy const& strategy, Fabric const& fabric) {
    DataPlan plan;
    auto const placement = place(strategy, setting.cluster.domain);
    auto const& framework = setting.framework;
    double const local = fullest_stage_parameters(setting.model, strategy);
    double const trained = local * trained_share(strategy);
    plan.local_parameters = local;
    plan.data_ranks = placement.data.size;
    plan.state_shards = strategy.zero == 3 ? placement.shard.size : strategy.zero >= 1 ? plan.data_ranks : 1;
    plan.gradient_shards = strategy.zero == 3 ? placement.shard.size : 1;
    plan.gradients = Bytes{trained * framework.reduced_bytes};
    plan.parameters = Bytes{(strategy.zero == 3 ? local : trained) * gathered_bytes(framework, strategy.precision)};
    if (plan.data_ranks == 1) { return plan; }
    Seconds const start{setting.constants[Constant::base_latency]};
    auto const time = [&](Collective collective, Bytes bytes, Group group) {
        return group.size > 1 ? (start + fastest(collective, {bytes}, group, fabric).time.total()).base() : 0.0;
    };
    if (strategy.zero == 0) {
        plan.reduce = time(Collective::all_reduce, plan.gradients, placement.data);
    } else if (strategy.zero < 3) {
        plan.reduce = time(Collective::reduce_scatter, plan.gradients, placement.data);
        plan.gather = time(Collective::all_gather, plan.parameters, placement.data);
    } else {
        plan.gather = time(Collective::all_gather, plan.parameters, placement.shard);
        plan.reduce = time(Collective::reduce_scatter, plan.gradients, placement.shard);
        plan.reduce += time(Collective::all_reduce, plan.gradients / placement.shard.size, placement.replicate);
        if (framework.gradient_overlap == GradientOverlap::exposed) { // small unbucketed transfers, layer by layer
            plan.gather *= setting.constants[Constant::unbucketed_traffic];
            plan.reduce *= setting.constants[Constant::unbucketed_traffic];
        }
    }
    plan.reduce *= framework.extra_reduction;
    return plan;
}

Seconds hop_seconds(StepSetting const& setting, Strategy const& strategy, Fabric const& fabric) {
    if (strategy.pp == 1) { return Seconds{}; }
    double const tokens = static_cast<double>(strategy.micro_batch) * setting.workload.sequence_length / strategy.cp;
    // each tensor rank sends its share of the boundary; the others rebuild it inside the domain
    Bytes const bytes{tokens * setting.model.hidden * element_bytes(strategy.precision) / strategy.tp};
    bool const leaves = place(strategy, setting.cluster.domain).pipeline_leaves_domain;
    return point_to_point({bytes}, leaves ? fabric.scale_out : fabric.scale_up).total() +
           Seconds{setting.constants[Constant::base_latency]};
}

/// Whole gradients are reduced once a step; sharded ones (ZeRO 2 and 3) cannot wait for the last
/// micro-batch, because no rank holds their sum.
double reductions_per_step(Strategy const& strategy, Framework const& framework, double micro_batches) {
    return strategy.zero >= 2 && framework.gathers_per_micro_batch ? micro_batches : 1.0;
}

/// ZeRO-3 gathers weights before the forward and before the backward pass; stacks that do not prefetch
/// release them again after recomputing a block, and gather a third time. Source: [StasMlEngineering]
double gathers_per_pass(Strategy const& strategy, Framework const& framework) {
    bool const releases = framework.gradient_overlap == GradientOverlap::exposed;
    return releases && strategy.recompute == Recompute::full ? 3.0 : 2.0;
}

template <class N> struct Parts { N compute, host, tensor, context, pipeline, data, bubble, optimizer, overhead; };

/// The part of data-parallel time that shows. `window` is the backward (or whole) computation that it
/// can run behind.
template <class N> struct Exposure {
    N reduce, gather, backward_window, forward_window, compute_window, passes, gathers, reductions;
    N old_share, loss, shard_loss;
};

template <class N>
N exposed_data(Exposure<N> const& e, Strategy const& strategy, GradientOverlap style, bool fully_exposed) {
    if (fully_exposed) {
        return strategy.zero == 3 ? e.passes * (e.gathers * e.gather + e.reduce) : e.reductions * e.reduce + e.gather;
    }
    if (strategy.zero == 3) {
        N const traffic = e.passes * (e.gathers * e.gather + e.reduce);
        if (style == GradientOverlap::exposed) { return traffic; }
        return larger(traffic - e.compute_window, literal<N>(0.0)) + e.shard_loss * smaller(traffic, e.compute_window);
    }
    N const reduce = e.reductions * e.reduce;
    if (style == GradientOverlap::exposed) { return e.old_share * (reduce + e.gather); }
    N const window = e.reductions * e.backward_window;
    N const behind_backward = larger(reduce - window, literal<N>(0.0)) + e.loss * smaller(reduce, window);
    N const behind_forward =
        larger(e.gather - e.forward_window, literal<N>(0.0)) + e.loss * smaller(e.gather, e.forward_window);
    return behind_backward + behind_forward;
}

/// What every part of the closed form reads; built once from the setting.
template <class N> struct Frame {
    StepSetting const& setting;
    Strategy const& strategy;
    LayerCosts const& costs;
    Fabric fabric;
    DataPlan plan;
    double micro_batch_count;
    Recorder<N>& record;
    N micro_batches, layers, block, ends, ends_tensor;

    N in(char const* name, double value) const { return record.input(name, value); }
    N in(char const* name, Constant constant) const { return record.input(name, setting.constants[constant]); }
};

/// 1F1B: the slowest stage works m times; filling and draining costs the other stages once, over v when
/// each holds v chunks. Source: [Narayanan2021]
template <class N> void compose_pipeline(Frame<N>& f, N const& both_ends, Parts<N>& parts) {
    N const chunks = f.in("chunks_per_stage", f.strategy.virtual_pp);
    N const slowest = f.record.term("slowest_stage_seconds", "s", f.layers * f.block + f.ends + f.ends_tensor);
    N const all = f.record.term("all_stages_seconds", "s",
                                f.in("pipeline_stages", f.strategy.pp) * f.layers * f.block + both_ends);
    parts.bubble =
        f.record.term("pipeline_bubble_seconds", "s", f.in("bubble", Constant::bubble) * (all - slowest) / chunks);
    N const hop = f.in("hop_seconds", hop_seconds(f.setting, f.strategy, f.fabric).base());
    parts.pipeline = f.record.term("pipeline_seconds", "s",
                                   f.in("point_to_point_exposed", Constant::point_to_point_exposed) *
                                       (2.0 * f.micro_batches) * chunks * hop);
}

/// Kernels, host, tensor and context parts of the slowest stage, over all its micro-batches.
template <class N> void compose_stage(Frame<N>& f, Parts<N>& parts) {
    auto const kernels_of = [](LayerCost const& c) { return (c.gemm + c.attention + c.memory + c.kernels).base(); };
    N const kernels = f.in("block_kernel_seconds", kernels_of(f.costs.block));
    N const host = f.in("block_host_excess_seconds", f.costs.block.host_excess().base());
    N const tensor = f.in("block_tensor_exposed_seconds", f.costs.block.tensor_exposed.base());
    N const context = f.in("block_context_exposed_seconds", f.costs.block.context_exposed.base());
    N const head = f.in("head_seconds", kernels_of(f.costs.head));
    N const embedding = f.in("embedding_seconds", kernels_of(f.costs.embedding));
    N const head_tensor = f.in("head_tensor_exposed_seconds", f.costs.head.tensor_exposed.base());
    N const embedding_tensor = f.in("embedding_tensor_exposed_seconds", f.costs.embedding.tensor_exposed.base());
    // the output projection is on the last stage, the embedding on the first: one of them is the slowest
    f.ends = f.record.term("ends_seconds", "s", f.strategy.pp > 1 ? larger(head, embedding) : head + embedding);
    f.ends_tensor =
        f.record.term("ends_tensor_seconds", "s",
                      f.strategy.pp > 1 ? larger(head_tensor, embedding_tensor) : head_tensor + embedding_tensor);
    f.block = f.record.term("block_seconds", "s", kernels + host + tensor + context);
    parts.compute = f.record.term("compute_seconds", "s", f.micro_batches * (f.layers * kernels + f.ends));
    parts.host = f.record.term("host_seconds", "s", f.micro_batches * f.layers * host);
    parts.tensor = f.record.term("tensor_seconds", "s", f.micro_batches * (f.layers * tensor + f.ends_tensor));
    parts.context = f.record.term("context_seconds", "s", f.micro_batches * f.layers * context);
    parts.bubble = parts.pipeline = literal<N>(0.0);
    if (f.strategy.pp > 1) { compose_pipeline(f, head + embedding + head_tensor + embedding_tensor, parts); }
}

/// Gradient reduction and weight gathering beyond what hides behind computation.
template <class N> void compose_data(Frame<N>& f, Parts<N>& parts) {
    auto const& block = f.costs.block;
    double const layers = static_cast<double>(f.setting.model.layers) / f.strategy.pp;
    Seconds const kernels = block.gemm + block.attention + block.memory;
    double const stretch = kernels.base() > 0.0 ? block.total() / kernels : 0.0; // gaps, host and exposed traffic
    double const backward = block.backward.base() * layers * stretch;
    double const forward = (kernels - block.backward - block.recompute).base() * layers * stretch;
    // the last micro-batch hides traffic; interleaved, the last p of them do
    double const micro_batches =
        f.strategy.virtual_pp > 1 ? std::min(f.micro_batch_count, static_cast<double>(f.strategy.pp)) : 1.0;
    Exposure<N> const exposure{
        .reduce = f.in("reduce_seconds", f.plan.reduce),
        .gather = f.in("gather_seconds", f.plan.gather),
        .backward_window = f.in("backward_window_seconds", backward * micro_batches),
        .forward_window = f.in("forward_window_seconds", forward * micro_batches),
        .compute_window = f.micro_batches * f.layers * f.block,
        .passes =
            f.in("sharded_passes_per_step", f.setting.framework.gathers_per_micro_batch ? f.micro_batch_count : 1.0),
        .gathers = f.in("gathers_per_pass", gathers_per_pass(f.strategy, f.setting.framework)),
        .reductions =
            f.in("reductions_per_step", reductions_per_step(f.strategy, f.setting.framework, f.micro_batch_count)),
        .old_share = f.in("gradients_exposed_old", Constant::gradients_exposed_old),
        .loss = f.in("gradients_exposed", Constant::gradients_exposed),
        .shard_loss = f.in("shard_overlap_loss", Constant::shard_overlap_loss),
    };
    bool const fully_exposed = f.strategy.overlap == Overlap::off;
    parts.data = f.record.term("data_seconds", "s",
                               exposed_data(exposure, f.strategy, f.setting.framework.gradient_overlap, fully_exposed));
}

/// Gradient accumulation every micro-batch and the update once: both are bound by memory.
template <class N> void compose_optimizer(Frame<N>& f, Parts<N>& parts) {
    auto const bandwidth =
        f.setting.cluster.accelerator.memory_bandwidth * f.setting.constants[Constant::memory_fraction];
    N const memory = f.in("memory_bytes_per_second", bandwidth.base());
    double const accumulated = f.plan.local_parameters * trained_share(f.strategy) / f.plan.gradient_shards;
    N const accumulate = f.in("accumulate_bytes", Constant::accumulate_bytes) *
                         f.in("accumulated_parameters", accumulated) * f.micro_batches / memory;
    N const update =
        f.in("optimizer_traffic_bytes", Constant::optimizer_traffic) *
        f.in("updated_parameters", f.plan.local_parameters * trained_share(f.strategy) / f.plan.state_shards) / memory;
    parts.optimizer = f.record.term("optimizer_seconds", "s", accumulate + update);
}

/// The closed form. Written once; `N` is double for speed or Traced for explanation.
template <class N>
Parts<N> compose(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs, Recorder<N>& record) {
    auto const fabric = calibrated_fabric(setting.cluster, setting.constants);
    double const micro_batches = micro_batch_count(strategy, setting.workload);
    Frame<N> f{setting,
               strategy,
               costs,
               fabric,
               data_plan(setting, strategy, fabric),
               micro_batches,
               record,
               record.input("micro_batches", micro_batches),
               record.input("layers_per_stage", static_cast<double>(setting.model.layers) / strategy.pp),
               N{},
               N{},
               N{}};
    Parts<N> parts;
    compose_stage(f, parts);
    compose_data(f, parts);
    compose_optimizer(f, parts);
    N const busy = record.term("busy_seconds", "s",
                               parts.compute + parts.host + parts.tensor + parts.context + parts.pipeline + parts.data +
                                   parts.bubble + parts.optimizer);
    double const nodes = std::max(1.0, static_cast<double>(strategy.workers()) / setting.cluster.accelerators_per_node);
    N const drag = f.in("straggler", Constant::straggler) * f.in("doublings_of_nodes", std::log2(nodes)) * busy;
    parts.overhead =
        record.term("overhead_seconds", "s", f.in("step_overhead_seconds", Constant::step_overhead) + drag);
    record.term("step_seconds", "s", busy + parts.overhead);
    return parts;
}

} // namespace

StepTime step_time(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs) {
    Recorder<double> record;
    auto const parts = compose<double>(setting, strategy, costs, record);
    return {.compute = Seconds{parts.compute},
            .host = Seconds{parts.host},
            .tensor_communication = Seconds{parts.tensor},
            .context_communication = Seconds{parts.context},
            .pipeline_communication = Seconds{parts.pipeline},
            .data_communication = Seconds{parts.data},
            .pipeline_bubble = Seconds{parts.bubble},
            .optimizer = Seconds{parts.optimizer},
            .overhead = Seconds{parts.overhead}};
}

std::vector<Term> explain_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs) {
    Recorder<Traced> record;
    compose<Traced>(setting, strategy, costs, record);
    return std::move(record.terms);
}

std::vector<CommunicationRow> communication_rows(StepSetting const& setting, Strategy const& strategy,
                                                 LayerCosts const& costs) {
    std::vector<CommunicationRow> rows;
    auto const fabric = calibrated_fabric(setting.cluster, setting.constants);
    auto const placement = place(strategy, setting.cluster.domain);
    auto const time = step_time(setting, strategy, costs);
    auto const plan = data_plan(setting, strategy, fabric);
    double const m = micro_batch_count(strategy, setting.workload);
    double const visits = m * setting.model.layers / strategy.pp;
    auto const algorithm = [&fabric](Collective collective, Bytes bytes, Group group) {
        return std::string{fastest(collective, {bytes}, group, fabric).algorithm};
    };
    if (strategy.tp > 1) {
        bool const sp = strategy.sequence_parallel;
        Bytes const each = costs.block.tensor_bytes / std::max(1, costs.block.tensor_count);
        rows.push_back({"tensor", sp ? "all_gather + reduce_scatter" : "all_reduce",
                        "partial sums of every attention and feed-forward block",
                        algorithm(sp ? Collective::all_gather : Collective::all_reduce, each, placement.tensor),
                        costs.block.tensor_bytes * visits, static_cast<int>(costs.block.tensor_count * visits),
                        costs.block.tensor * visits, time.tensor_communication, placement.tensor});
    }
    if (strategy.cp > 1) {
        Bytes const each = costs.block.context_bytes / std::max(1, costs.block.context_count);
        rows.push_back({"context", "all_gather", "keys and values of the rest of the sequence",
                        algorithm(Collective::all_gather, each, placement.context), costs.block.context_bytes * visits,
                        static_cast<int>(costs.block.context_count * visits), costs.block.context * visits,
                        time.context_communication, placement.context});
    }
    if (strategy.pp > 1) {
        double const hops = 2.0 * m * strategy.virtual_pp;
        double const tokens =
            static_cast<double>(strategy.micro_batch) * setting.workload.sequence_length / strategy.cp;
        Bytes const each{tokens * setting.model.hidden * element_bytes(strategy.precision) / strategy.tp};
        rows.push_back({"pipeline", "point_to_point", "activations and their gradients between stages", "direct",
                        each * hops, static_cast<int>(hops), hop_seconds(setting, strategy, fabric) * hops,
                        time.pipeline_communication, placement.pipeline});
    }
    if (plan.data_ranks > 1) {
        auto const& framework = setting.framework;
        double const passes = reductions_per_step(strategy, framework, m);
        double const gathers = strategy.zero == 0   ? 0.0
                               : strategy.zero == 3 ? gathers_per_pass(strategy, framework) * passes
                                                    : 1.0;
        Seconds const reduce{plan.reduce * passes}, gather{plan.gather * gathers};
        Seconds const both = reduce + gather;
        Bytes const gradients = plan.gradients, parameters = plan.parameters;
        auto const share = [&](Seconds part) {
            return both.base() > 0.0 ? time.data_communication * (part / both) : Seconds{};
        };
        auto const kind = strategy.zero == 0 ? Collective::all_reduce : Collective::reduce_scatter;
        auto const group = strategy.zero == 3 ? placement.shard : placement.data;
        rows.push_back({"data", std::string{name_of(kind)}, "gradients of data parallel",
                        algorithm(kind, gradients, group), gradients * passes, static_cast<int>(passes), reduce,
                        share(reduce), group});
        if (gathers > 0.0) {
            rows.push_back(
                {"data", "all_gather",
                 strategy.zero == 3 ? "sharded weights before each use" : "updated weights of the sharded optimizer",
                 algorithm(Collective::all_gather, parameters, group), parameters * gathers, static_cast<int>(gathers),
                 gather, share(gather), group});
        }
    }
    return rows;
}

} // namespace headroom
