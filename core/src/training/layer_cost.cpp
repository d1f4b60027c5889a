#include "operation_price.hpp"

#include "headroom/training/smooth_maximum.hpp"
#include "headroom/training/step.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training {

using namespace headroom::network;

namespace {

void add(GroupCost& to, GroupCost const& other, double times) {
    to.time += other.time * times, to.exposed += other.exposed * times;
    to.bytes += other.bytes * times, to.count += other.count * times;
}

/// Sums the durations of the operations of blocks and ends of the model.
class Adder {
public:
    Adder(LayerShape const& shape, Cluster const& cluster, Framework const& framework, Calibration const& constants)
        : pricer_{shape, cluster, framework, constants} {}

    [[nodiscard]] LayerCost block(BlockProgram const& program, double issued = 1.0) {
        LayerCost cost = end(program.program, true, program.recomputes_core);
        cost.host = pricer_.issue(program, program.passes) * issued;
        cost.host_forward = pricer_.issue(program, 1.0) * issued;
        if (!program.routed) { return cost; }
        // the CPU cannot run ahead of the GPU, so each routed block adds a wait of its own
        auto const forward = cost.forward_pass(), backward = cost.backward_pass();
        cost.routed_wait_forward = forward.total() - forward.chip;
        cost.routed_wait = cost.routed_wait_forward + backward.total() - backward.chip;
        cost.host = cost.host_forward = Seconds{};
        return cost;
    }

    /// Durations of both passes of a program. Exposed time is computed for each pass: communication of one does not
    /// overlap with the other.
    [[nodiscard]] LayerCost end(LayerProgram const& program, bool in_block = false, bool recomputes_core = false) {
        LayerCost cost = pass(program, in_block, true, false);
        cost.exposed_forward = cost.tensor.exposed + cost.context.exposed + cost.experts.exposed;
        cost.add(pass(program, in_block, false, recomputes_core), 1.0);
        return cost;
    }

private:
    /// Durations of the operations of the forward pass, or of the backward pass with recomputation. Exposed time is no less
    /// than the excess of communication over the kernels that it overlaps with: tensor collectives with matrix products,
    /// context exchange with attention, expert exchange with both.
    [[nodiscard]] LayerCost pass(LayerProgram const& program, bool in_block, bool forward, bool recomputes_core) {
        LayerCost cost;
        Seconds core_again;
        for (auto const& operation : program.operations()) {
            if ((operation.phase == Phase::forward) != forward) { continue; }
            auto const price = pricer_.price(operation, in_block);
            if (!is_kernel(operation)) {
                bool const exchange = operation.kind == OperationKind::exchange;
                GroupCost& group = exchange                               ? cost.experts
                                   : operation.traffic == Traffic::tensor ? cost.tensor
                                                                          : cost.context;
                group.time += price.time, group.exposed += price.exposed;
                group.bytes +=
                    exchange ? operation.bytes * operation.m * operation.n : operation.bytes * operation.times;
                group.count += exchange ? 1.0 : operation.times;
                continue;
            }
            Seconds const time = price.time;
            (is_product(operation) ? cost.gemm : is_attention(operation) ? cost.attention : cost.memory) += time;
            if (operation.phase == Phase::recompute) { cost.recompute += time; }
            if (operation.phase == Phase::backward) { cost.backward += time; }
            if (operation.weight_gradient) { cost.weight_gradient += time; }
            bool const again = recomputes_core && operation.phase == Phase::recompute;
            if (again && is_attention(operation)) { core_again += time; }
        }
        Seconds const core = cost.attention - core_again;
        cost.tensor.exposed = std::max(cost.tensor.exposed, cost.tensor.time - cost.gemm);
        cost.context.exposed = std::max(cost.context.exposed, cost.context.time - core);
        cost.experts.exposed = std::max(cost.experts.exposed, cost.experts.time - cost.gemm - cost.attention);
        return cost;
    }

    OperationPricer pricer_;
};

} // namespace

Seconds PassCost::total() const { return Seconds{smooth_maximum(chip.base(), host.base())}; }

Seconds LayerCost::chip() const {
    return gemm + attention + memory + tensor.exposed + context.exposed + experts.exposed;
}

PassCost LayerCost::forward_pass() const {
    return {.chip = gemm + attention + memory - backward - recompute + exposed_forward, .host = host_forward};
}

PassCost LayerCost::backward_pass() const {
    PassCost const forward = forward_pass();
    return {.chip = chip() - forward.chip, .host = host - forward.host};
}

Seconds LayerCost::total() const { return forward_pass().total() + backward_pass().total() + routed_wait; }

void LayerCosts::pace(double factor) {
    paced *= factor;
    for (LayerCost* part : {&embedding, &block, &frozen, &trained, &head}) {
        for (Seconds* time :
             {&part->gemm, &part->attention, &part->memory, &part->recompute, &part->backward, &part->weight_gradient,
              &part->host, &part->host_forward, &part->routed_wait, &part->routed_wait_forward}) {
            *time *= factor;
        }
    }
}

void LayerCost::add(LayerCost const& other, double times) {
    for (auto const part :
         {&LayerCost::gemm, &LayerCost::attention, &LayerCost::memory, &LayerCost::recompute, &LayerCost::backward,
          &LayerCost::weight_gradient, &LayerCost::exposed_forward, &LayerCost::host, &LayerCost::host_forward,
          &LayerCost::routed_wait_forward, &LayerCost::routed_wait}) {
        this->*part += other.*part * times;
    }
    for (auto const group : {&LayerCost::tensor, &LayerCost::context, &LayerCost::experts}) {
        training::add(this->*group, other.*group, times);
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

namespace {

/// Rate at which an accelerator sends to another one of its node.
BytesPerSecond rate_inside(Cluster const& cluster, Calibration const& constants) {
    auto const of_link = cluster.scale_up.bandwidth * constants[scale_up_constant(cluster)];
    if (!cluster.through_host) { return of_link; }
    return std::min(of_link, BytesPerSecond{constants[Constant::host_path]});
}

} // namespace

Fabric calibrated_fabric(Cluster const& cluster, Calibration const& constants) {
    return {.scale_up = {.latency = cluster.scale_up.latency, .bandwidth = rate_inside(cluster, constants)},
            .scale_out = {.latency = cluster.scale_out.latency,
                          .bandwidth = cluster.scale_out.bandwidth * constants[Constant::scale_out]}};
}

void explain_fabric(TermBook& book, Cluster const& cluster, Calibration const& constants) {
    auto const fabric = calibrated_fabric(cluster, constants);
    auto const level = [&](std::string const& name, Link const& link, Link const& sustained, Constant fraction) {
        book.add(TermKind::catalog, name + "_latency", "s", "cluster " + cluster.name, link.latency.base());
        if (name == "scale_out" && book.has("congestion_slowdown")) {
            book.add(TermKind::catalog, "scale_out_link_bandwidth", "B/s", "cluster " + cluster.name,
                     link.bandwidth.base() * book["congestion_slowdown"]);
            book.formula("scale_out_bandwidth", "B/s", "scale_out_link_bandwidth / congestion_slowdown",
                         link.bandwidth.base());
        }
        book.add(TermKind::catalog, name + "_bandwidth", "B/s", "cluster " + cluster.name, link.bandwidth.base());
        std::string rate = name + "_bandwidth * " + explain(book, constants, fraction);
        if (name == "scale_up" && cluster.through_host) {
            rate = "min(" + rate + ", " + explain(book, constants, Constant::host_path) + ")";
        }
        book.formula(name + "_rate", "B/s", rate, sustained.bandwidth.base());
    };
    level("scale_up", cluster.scale_up, fabric.scale_up, scale_up_constant(cluster));
    level("scale_out", cluster.scale_out, fabric.scale_out, Constant::scale_out);
    explain(book, constants, Constant::base_latency);
}

Cluster congested(Cluster cluster, double congestion, int workers) {
    double const domains = std::max(1.0, static_cast<double>(workers) / std::max(1, cluster.domain));
    cluster.scale_out.bandwidth = cluster.scale_out.bandwidth / (1.0 + congestion * std::log2(domains));
    if (workers < cluster.accelerators_per_node) { // the others are idle
        cluster.host_memory_bandwidth *= static_cast<double>(cluster.accelerators_per_node) / std::max(1, workers);
    }
    return cluster;
}

LayerCost block_cost(BlockProgram const& block, LayerShape const& shape, Cluster const& cluster,
                     Framework const& framework, Calibration const& constants) {
    return Adder{shape, cluster, framework, constants}.block(block);
}

LayerCosts layer_costs(StepProgram const& program, LayerShape const& shape, Cluster const& cluster,
                       Framework const& framework, Calibration const& constants) {
    Adder adder{shape, cluster, framework, constants};
    double const unaligned = issued_in_parts(program, shape, framework, constants);
    LayerCosts costs;
    for (auto const& run : program.blocks) {
        LayerCost const block = adder.block(run, unaligned);
        costs.block.add(block, run.count / program.depth);
        if (program.frozen == 0) { continue; }
        bool const frozen = run.passes == 1.0;
        double const all =
            frozen ? static_cast<double>(program.frozen) : program.depth - static_cast<double>(program.frozen);
        (frozen ? costs.frozen : costs.trained).add(block, run.count / all);
    }
    costs.frozen_blocks = program.frozen;
    costs.embedding = adder.end(program.embedding);
    costs.head.add(adder.end(program.head), program.heads_run);
    for (auto const& run : program.prediction) { costs.head.add(adder.block(run), run.count); }
    return costs;
}

} // namespace headroom::training
