#include "headroom/step.hpp"

#include <algorithm>

namespace headroom {
namespace {

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

/// Megatron's fused softmax takes a batch of heads that is a multiple of this; else the host issues the parts.
/// Source: [MegatronLM]
constexpr int fused_softmax_batch = 4;

/// What a backward pass takes to issue, in forward passes: two products for one.
constexpr double backward_issues = 2.0;

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
          context_{group_of(shape.cp, shape.tp, cluster.domain)} {}

    [[nodiscard]] LayerCost add(LayerProgram const& program, bool is_block) const {
        LayerCost cost;
        for (auto const& operation : program.operations()) {
            if (operation.kind == OperationKind::collective) {
                add_collective(operation, cost);
            } else {
                add_kernel(operation, is_block ? rates_.gemm : rates_.head_gemm, cost);
            }
        }
        // what hides runs behind products (context exchange: behind attention), so no more than those last
        cost.tensor_exposed = std::max(cost.tensor_exposed, cost.tensor - cost.gemm);
        Seconds const beside =
            shape_.recompute == Recompute::selective ? cost.attention - cost.recompute : cost.attention;
        cost.context_exposed = std::max(cost.context_exposed, cost.context - beside);
        if (is_block) { add_host(cost); }
        return cost;
    }

private:
    void add_kernel(Operation const& operation, FlopsPerSecond gemm_rate, LayerCost& cost) const {
        Seconds const time = operation.kind == OperationKind::gemm
                                 ? gemm_time(operation.m, operation.n, operation.k, gemm_rate, rates_) * operation.times
                                 : kernel_time(operation, rates_);
        switch (operation.kind) {
        case OperationKind::gemm: cost.gemm += time; break;
        case OperationKind::memory: cost.memory += time; break;
        default: cost.attention += time; break;
        }
        if (operation.phase == Phase::recompute) { cost.recompute += time; }
        if (operation.phase == Phase::backward) { cost.backward += time; }
    }

    void add_collective(Operation const& operation, LayerCost& cost) const {
        bool const tensor = operation.traffic == Traffic::tensor;
        auto const time =
            fastest(operation.collective, {operation.bytes}, tensor ? tensor_ : context_, fabric_).time.total() +
            Seconds{constants_[Constant::base_latency]};
        if (tensor) {
            cost.tensor += time;
            cost.tensor_exposed += time * tensor_exposed_share(operation.phase);
            cost.tensor_bytes += operation.bytes;
            ++cost.tensor_count;
        } else {
            cost.context += time;
            cost.context_exposed +=
                time * (shape_.overlap == Overlap::off ? 1.0 : constants_[Constant::context_exposed]);
            cost.context_bytes += operation.bytes;
            ++cost.context_count;
        }
    }

    /// Modern stacks run gathers and scatters behind products in both directions; older ones hide part
    /// of the backward all-reduce behind the weight gradient and nothing of the forward one.
    [[nodiscard]] double tensor_exposed_share(Phase phase) const {
        if (shape_.overlap == Overlap::off) { return 1.0; }
        if (framework_.tensor_overlap) { return constants_[Constant::tensor_exposed]; }
        return phase == Phase::backward ? constants_[Constant::tensor_exposed_old] : 1.0;
    }

    void add_host(LayerCost& cost) const {
        double const passes = (shape_.recompute == Recompute::full ? 2.0 : 1.0) + backward_issues;
        cost.kernels = rates_.gap * passes;
        switch (framework_.host) {
        case HostPace::native: return;
        case HostPace::modern: cost.host = Seconds{constants_[Constant::host_modern] * passes}; return;
        case HostPace::eager_2022: cost.host = Seconds{constants_[Constant::host_eager] * passes}; return;
        }
    }

    LayerShape const& shape_;
    Framework const& framework_;
    Calibration const& constants_;
    KernelRates rates_;
    Fabric fabric_;
    Group tensor_, context_;
};

} // namespace

Seconds LayerCost::total() const {
    return gemm + attention + memory + kernels + tensor_exposed + context_exposed + host_excess();
}

Seconds LayerCost::host_excess() const {
    Seconds const chip = gemm + attention + memory + kernels + tensor_exposed + context_exposed;
    if (host.base() <= 0.0) { return Seconds{}; }
    return Seconds{smooth_maximum(chip.base(), host.base())} - chip;
}

Fabric calibrated_fabric(Cluster const& cluster, Calibration const& constants) {
    return {.scale_up = {.latency = cluster.scale_up.latency,
                         .bandwidth = cluster.scale_up.bandwidth * constants[scale_up_constant(cluster)]},
            .scale_out = {.latency = cluster.scale_out.latency,
                          .bandwidth = cluster.scale_out.bandwidth * constants[Constant::scale_out]}};
}

LayerCosts layer_costs(StepProgram const& program, LayerShape const& shape, Cluster const& cluster,
                       Framework const& framework, Calibration const& constants) {
    Adder const adder{shape, cluster, framework, constants};
    auto block = adder.add(program.block, true);
    bool const eager_softmax =
        framework.host == HostPace::eager_2022 && framework.attention == AttentionKernel::unfused;
    if (eager_softmax && shape.micro_batch * std::max(1, program.heads / shape.tp) % fused_softmax_batch != 0) {
        block.host *= constants[Constant::host_unaligned];
    }
    return {.embedding = adder.add(program.embedding, false), .block = block, .head = adder.add(program.head, false)};
}

} // namespace headroom
