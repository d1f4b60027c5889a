#include "operation_price.hpp"

#include "headroom/step.hpp"

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// Adds one kind of layer up; holds what every operation of it needs.
class Adder {
public:
    Adder(LayerShape const& shape, Cluster const& cluster, Framework const& framework, Calibration const& constants)
        : pricer_{shape, cluster, framework, constants} {}

    [[nodiscard]] LayerCost block(BlockProgram const& program) const {
        LayerCost cost = end(program.program, true, program.recomputes_core);
        if (program.recomputes_core) { cost.recomputed_core = cost.recompute; }
        add_host(program, cost);
        return cost;
    }

    /// Both passes of a program, each with what it exposes: nothing of one hides behind the other.
    [[nodiscard]] LayerCost end(LayerProgram const& program, bool in_block = false,
                                bool recomputes_core = false) const {
        LayerCost cost = pass(program, in_block, true, false);
        cost.shown_forward = cost.tensor_exposed + cost.context_exposed + cost.experts_exposed;
        cost.add(pass(program, in_block, false, recomputes_core), 1.0);
        return cost;
    }

private:
    /// The operations of the forward pass, or of the backward pass with what it computes again.
    [[nodiscard]] LayerCost pass(LayerProgram const& program, bool in_block, bool forward, bool recomputes_core) const {
        LayerCost cost;
        Seconds core_again;
        for (auto const& operation : program.operations()) {
            if ((operation.phase == Phase::forward) != forward) { continue; }
            auto const price = pricer_.price(operation, in_block);
            switch (operation.kind) {
            case OperationKind::collective: add_collective(operation, price, cost); break;
            case OperationKind::exchange: add_exchange(operation, price, cost); break;
            default: add_kernel(operation, price.time, cost);
            }
            bool const attends =
                operation.kind == OperationKind::attention || operation.kind == OperationKind::unfused_attention;
            if (recomputes_core && attends && operation.phase == Phase::recompute) { core_again += price.time; }
        }
        expose(cost, core_again);
        return cost;
    }

    /// What hides runs behind products (context exchange: behind attention), so no more than those last.
    static void expose(LayerCost& cost, Seconds recomputed_core) {
        cost.tensor_exposed = std::max(cost.tensor_exposed, cost.tensor - cost.gemm);
        Seconds const beside = cost.attention - recomputed_core;
        cost.context_exposed = std::max(cost.context_exposed, cost.context - beside);
        cost.experts_exposed = std::max(cost.experts_exposed, cost.experts - cost.gemm - cost.attention);
    }

    static void add_kernel(Operation const& operation, Seconds time, LayerCost& cost) {
        switch (operation.kind) {
        case OperationKind::gemm:
        case OperationKind::grouped_gemm: cost.gemm += time; break;
        case OperationKind::memory: cost.memory += time; break;
        default: cost.attention += time; break;
        }
        if (operation.phase == Phase::recompute) { cost.recompute += time; }
        if (operation.phase == Phase::backward) { cost.backward += time; }
        if (operation.weight_gradient) { cost.weight_gradient += time; }
    }

    static void add_collective(Operation const& operation, OperationPrice const& price, LayerCost& cost) {
        bool const tensor = operation.traffic == Traffic::tensor;
        (tensor ? cost.tensor : cost.context) += price.time;
        (tensor ? cost.tensor_exposed : cost.context_exposed) += price.shown;
        (tensor ? cost.tensor_bytes : cost.context_bytes) += operation.bytes * operation.times;
        (tensor ? cost.tensor_count : cost.context_count) += operation.times;
    }

    static void add_exchange(Operation const& operation, OperationPrice const& price, LayerCost& cost) {
        cost.experts += price.time;
        cost.experts_exposed += price.shown;
        cost.experts_bytes += operation.bytes * operation.m * operation.n;
        cost.experts_count += 1.0;
    }

    void add_host(BlockProgram const& program, LayerCost& cost) const {
        cost.kernels = pricer_.gaps(program, program.passes);
        cost.host = pricer_.issue(program, program.passes);
    }

    OperationPricer pricer_;
};

/// The first blocks and one more, `times` of a cost.
BlocksUntil with_block(BlocksUntil const& before, LayerCost const& cost, double times) {
    return {.kernels = before.kernels + (cost.gemm + cost.attention + cost.memory + cost.kernels) * times,
            .shown = before.shown + (cost.tensor_exposed + cost.context_exposed + cost.experts_exposed) * times,
            .host = before.host + cost.host * times};
}

} // namespace

double LayerCosts::blocks_between(std::size_t first, std::size_t end) const {
    if (until.empty()) { return static_cast<double>(end - first); }
    double const mean = block.total().base();
    if (mean <= 0.0) { return static_cast<double>(end - first); }
    Seconds const chip = until[end].kernels - until[first].kernels + until[end].shown - until[first].shown;
    return smooth_maximum(chip.base(), (until[end].host - until[first].host).base()) / mean;
}

Seconds LayerCost::total() const {
    return gemm + attention + memory + kernels + tensor_exposed + context_exposed + experts_exposed + host_excess();
}

Seconds LayerCost::forward() const {
    Seconds const all = gemm + attention + memory, own = all - backward - recompute;
    Seconds const shown = tensor_exposed + context_exposed + experts_exposed;
    Seconds const chip = all + kernels + shown;
    if (all.base() <= 0.0) { return total(); }
    return (own + kernels * (own / all) + shown_forward) * (total() / chip);
}

Seconds LayerCost::host_excess() const {
    Seconds const chip = gemm + attention + memory + kernels + tensor_exposed + context_exposed + experts_exposed;
    if (host.base() <= 0.0) { return Seconds{}; }
    return Seconds{smooth_maximum(chip.base(), host.base())} - chip;
}

void LayerCosts::pace(double factor) {
    for (LayerCost* part : {&embedding, &block, &frozen, &trained, &head}) {
        for (Seconds* time : {&part->gemm, &part->attention, &part->memory, &part->recompute, &part->recomputed_core,
                              &part->backward, &part->weight_gradient, &part->host, &part->kernels}) {
            *time *= factor;
        }
    }
    for (BlocksUntil& first : until) {
        first.kernels *= factor;
        first.host *= factor;
    }
}

void LayerCost::add(LayerCost const& other, double times) {
    auto const seconds = {&LayerCost::gemm,           &LayerCost::attention,       &LayerCost::memory,
                          &LayerCost::recompute,      &LayerCost::recomputed_core, &LayerCost::backward,
                          &LayerCost::host,           &LayerCost::kernels,         &LayerCost::tensor,
                          &LayerCost::tensor_exposed, &LayerCost::context,         &LayerCost::context_exposed,
                          &LayerCost::experts,        &LayerCost::experts_exposed, &LayerCost::weight_gradient,
                          &LayerCost::shown_forward};
    for (auto const part : seconds) { this->*part += other.*part * times; }
    for (auto const part : {&LayerCost::tensor_bytes, &LayerCost::context_bytes, &LayerCost::experts_bytes}) {
        this->*part += other.*part * times;
    }
    for (auto const part : {&LayerCost::tensor_count, &LayerCost::context_count, &LayerCost::experts_count}) {
        this->*part += other.*part * times;
    }
}

Constant scale_up_constant(Cluster const& cluster) {
    if (cluster.scale_up_name.starts_with("pcie")) { return Constant::pcie; }
    if (!cluster.scale_up_name.starts_with("nvlink")) { return Constant::other_scale_up; }
    switch (cluster.accelerator.generation) {
    case Generation::volta:
    case Generation::turing: return Constant::nvlink_volta;
    case Generation::ampere: return Constant::nvlink_ampere;
    case Generation::hopper: return Constant::nvlink_hopper;
    default: return Constant::nvlink_blackwell;
    }
}

Fabric calibrated_fabric(Cluster const& cluster, Calibration const& constants) {
    return {.scale_up = {.latency = cluster.scale_up.latency,
                         .bandwidth = cluster.scale_up.bandwidth * constants[scale_up_constant(cluster)]},
            .scale_out = {.latency = cluster.scale_out.latency,
                          .bandwidth = cluster.scale_out.bandwidth * constants[Constant::scale_out]}};
}

Cluster congested(Cluster cluster, double congestion, int workers) {
    double const domains = std::max(1.0, static_cast<double>(workers) / std::max(1, cluster.domain));
    cluster.scale_out.bandwidth = cluster.scale_out.bandwidth / (1.0 + congestion * std::log2(domains));
    return cluster;
}

LayerCosts layer_costs(StepProgram const& program, LayerShape const& shape, Cluster const& cluster,
                       Framework const& framework, Calibration const& constants) {
    Adder const adder{shape, cluster, framework, constants};
    double const unaligned = issued_in_parts(program, shape, framework, constants);
    LayerCosts costs;
    std::vector<LayerCost> of_kind;
    std::vector<double> count;
    for (auto const& run : program.blocks) {
        LayerCost block = adder.block(run);
        block.host *= unaligned;
        costs.block.add(block, run.count / program.depth);
        if (program.frozen > 0) {
            bool const frozen = run.passes == 1.0;
            double const all =
                frozen ? static_cast<double>(program.frozen) : program.depth - static_cast<double>(program.frozen);
            (frozen ? costs.frozen : costs.trained).add(block, run.count / all);
        }
        of_kind.resize(std::max(of_kind.size(), run.kind + 1));
        count.resize(of_kind.size());
        of_kind[run.kind].add(block, run.count);
        count[run.kind] += run.count;
    }
    if (!program.kind_of_block.empty()) {
        costs.until.push_back({});
        for (std::size_t const kind : program.kind_of_block) {
            costs.until.push_back(with_block(costs.until.back(), of_kind[kind], 1.0 / count[kind]));
        }
    }
    costs.frozen_blocks = program.frozen;
    costs.embedding = adder.end(program.embedding);
    costs.head.add(adder.end(program.head), program.heads_run);
    for (auto const& run : program.prediction) { costs.head.add(adder.block(run), run.count); }
    return costs;
}

} // namespace headroom
