#include "headroom/expert_exchange.hpp"
#include "headroom/step.hpp"

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// Megatron's fused softmax takes a batch of heads that is a multiple of this; else the host issues the parts.
/// Source: [MegatronLM]
constexpr int fused_softmax_batch = 4;

/// Adds one kind of layer up; holds what every operation of it needs.
class Adder {
public:
    Adder(LayerShape const& shape, Cluster const& cluster, Framework const& framework, Calibration const& constants)
        : shape_{shape},
          framework_{framework},
          constants_{constants},
          rates_{kernel_rates(cluster.accelerator, shape.precision, framework, constants)},
          fabric_{calibrated_fabric(cluster, constants)},
          tensor_{group_of(shape.tp, 1, cluster.domain)},
          context_{group_of(shape.cp, shape.tp, cluster.domain)},
          experts_{group_of(shape.ep, shape.etp, cluster.domain)} {}

    [[nodiscard]] LayerCost block(BlockProgram const& program) const {
        LayerCost cost = sum(program.program, rates_.gemm);
        if (program.recomputes_core) { cost.recomputed_core = cost.recompute; }
        expose(cost);
        add_host(program, cost);
        return cost;
    }

    [[nodiscard]] LayerCost end(LayerProgram const& program) const {
        LayerCost cost = sum(program, rates_.head_gemm);
        expose(cost);
        return cost;
    }

private:
    [[nodiscard]] LayerCost sum(LayerProgram const& program, FlopsPerSecond gemm_rate) const {
        LayerCost cost;
        for (auto const& operation : program.operations()) {
            switch (operation.kind) {
            case OperationKind::collective: add_collective(operation, cost); break;
            case OperationKind::exchange: add_exchange(operation, cost); break;
            default: add_kernel(operation, gemm_rate, cost);
            }
        }
        return cost;
    }

    /// What hides runs behind products (context exchange: behind attention), so no more than those last.
    void expose(LayerCost& cost) const {
        cost.tensor_exposed = std::max(cost.tensor_exposed, cost.tensor - cost.gemm);
        Seconds const beside = cost.attention - cost.recomputed_core;
        cost.context_exposed = std::max(cost.context_exposed, cost.context - beside);
        cost.experts_exposed = std::max(cost.experts_exposed, cost.experts - cost.gemm - cost.attention);
    }

    void add_kernel(Operation const& operation, FlopsPerSecond gemm_rate, LayerCost& cost) const {
        bool const product = operation.kind == OperationKind::gemm || operation.kind == OperationKind::grouped_gemm;
        Seconds const time = product ? product_time(operation, gemm_rate, rates_) : kernel_time(operation, rates_);
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

    void add_collective(Operation const& operation, LayerCost& cost) const {
        bool const tensor = operation.traffic == Traffic::tensor;
        auto const once =
            fastest(operation.collective, {operation.bytes}, tensor ? tensor_ : context_, fabric_).time.total() +
            Seconds{constants_[Constant::base_latency]};
        Seconds const time = once * operation.times;
        if (tensor) {
            cost.tensor += time;
            cost.tensor_exposed += time * tensor_exposed_share(operation.phase);
            cost.tensor_bytes += operation.bytes * operation.times;
            cost.tensor_count += operation.times;
        } else {
            cost.context += time;
            cost.context_exposed += time * (hides() ? constants_[Constant::context_exposed] : 1.0);
            cost.context_bytes += operation.bytes * operation.times;
            cost.context_count += operation.times;
        }
    }

    void add_exchange(Operation const& operation, LayerCost& cost) const {
        auto const sent = expert_exchange({.tokens = operation.m,
                                           .token = operation.bytes,
                                           .top_k = static_cast<int>(operation.n),
                                           .experts = static_cast<int>(operation.k),
                                           .deduplicated = framework_.sends_tokens_once,
                                           .group_limit = static_cast<int>(operation.limit)},
                                          experts_, fabric_);
        Seconds const time = sent.time.total() + Seconds{constants_[Constant::base_latency]};
        cost.experts += time;
        cost.experts_exposed += time * experts_exposed_share();
        cost.experts_bytes += operation.bytes * operation.m * operation.n;
        cost.experts_count += 1.0;
    }

    [[nodiscard]] bool hides() const { return shape_.overlap == Overlap::on; }

    /// Modern stacks run gathers and scatters behind products in both directions; older ones hide part
    /// of the backward all-reduce behind the weight gradient and nothing of the forward one.
    [[nodiscard]] double tensor_exposed_share(Phase phase) const {
        if (!hides()) { return 1.0; }
        if (framework_.tensor_overlap) { return constants_[Constant::tensor_exposed]; }
        return phase == Phase::backward ? constants_[Constant::tensor_exposed_old] : 1.0;
    }

    /// A stack that sets out to hide the exchange hides as much of it as of its tensor-parallel collectives.
    [[nodiscard]] double experts_exposed_share() const {
        if (!hides()) { return 1.0; }
        return constants_[framework_.expert_overlap ? Constant::tensor_exposed : Constant::experts_exposed];
    }

    void add_host(BlockProgram const& program, LayerCost& cost) const {
        double const passes = program.passes * program.issue;
        cost.kernels = rates_.gap * passes;
        switch (framework_.host) {
        case HostPace::native: break;
        case HostPace::modern: cost.host = Seconds{constants_[Constant::host_modern] * passes}; break;
        case HostPace::eager_2022: cost.host = Seconds{constants_[Constant::host_eager] * passes}; break;
        }
        if (program.routed) { cost.host += Seconds{constants_[Constant::host_experts] * passes}; }
    }

    LayerShape const& shape_;
    Framework const& framework_;
    Calibration const& constants_;
    KernelRates rates_;
    Fabric fabric_;
    Group tensor_, context_, experts_;
};

/// Whether the host issues the parts of a softmax kernel one by one.
bool softmax_in_parts(StepProgram const& program, LayerShape const& shape, Framework const& framework) {
    return program.heads > 0 && framework.host == HostPace::eager_2022 &&
           framework.attention == AttentionKernel::unfused &&
           shape.micro_batch * std::max(1, program.heads / shape.tp) % fused_softmax_batch != 0;
}

} // namespace

Seconds LayerCost::total() const {
    return gemm + attention + memory + kernels + tensor_exposed + context_exposed + experts_exposed + host_excess();
}

Seconds LayerCost::host_excess() const {
    Seconds const chip = gemm + attention + memory + kernels + tensor_exposed + context_exposed + experts_exposed;
    if (host.base() <= 0.0) { return Seconds{}; }
    return Seconds{smooth_maximum(chip.base(), host.base())} - chip;
}

void LayerCosts::pace(double factor) {
    for (LayerCost* part : {&embedding, &block, &head}) {
        for (Seconds* time : {&part->gemm, &part->attention, &part->memory, &part->recompute, &part->recomputed_core,
                              &part->backward, &part->weight_gradient, &part->host, &part->kernels}) {
            *time *= factor;
        }
    }
}

void LayerCost::add(LayerCost const& other, double times) {
    auto const seconds = {&LayerCost::gemm,           &LayerCost::attention,       &LayerCost::memory,
                          &LayerCost::recompute,      &LayerCost::recomputed_core, &LayerCost::backward,
                          &LayerCost::host,           &LayerCost::kernels,         &LayerCost::tensor,
                          &LayerCost::tensor_exposed, &LayerCost::context,         &LayerCost::context_exposed,
                          &LayerCost::experts,        &LayerCost::experts_exposed, &LayerCost::weight_gradient};
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
    double const unaligned = softmax_in_parts(program, shape, framework) ? constants[Constant::host_unaligned] : 1.0;
    LayerCosts costs;
    for (auto const& run : program.blocks) {
        LayerCost block = adder.block(run);
        block.host *= unaligned;
        costs.block.add(block, run.count / program.depth);
    }
    costs.embedding = adder.end(program.embedding);
    costs.head.add(adder.end(program.head), program.heads_run);
    for (auto const& run : program.prediction) { costs.head.add(adder.block(run), run.count); }
    return costs;
}

} // namespace headroom
