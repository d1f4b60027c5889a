#include "operation_price.hpp"
#include "pass_outline.hpp"

#include "headroom/training/step.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace headroom::training {

using namespace headroom::network;

namespace {

/// Adds one kind of layer up; holds what every operation of it needs.
class Adder {
public:
    Adder(LayerShape const& shape, Cluster const& cluster, Framework const& framework, Calibration const& constants)
        : pricer_{shape, cluster, framework, constants},
          loss_{constants[Constant::gradients_exposed]},
          // only traffic that hides asks where kernels are
          outlines_{shape.overlap != Overlap::off && framework.gradient_overlap == GradientOverlap::hidden} {}

    [[nodiscard]] LayerCost block(BlockProgram const& program) {
        LayerCost cost = end(program.program, true, program.recomputes_core);
        if (program.recomputes_core) { cost.recomputed_core = cost.recompute; }
        add_host(program, cost);
        return cost;
    }

    /// Adds the passes of the block that was the last to be priced.
    void outline(double weight, OutlineMean& forward, OutlineMean& backward) const {
        if (!outlines_) { return; }
        forward.add(stretches_of(forward_, loss_), weight);
        backward.add(stretches_of(backward_, loss_), weight);
    }

    /// Both passes of a program, each with what it exposes: nothing of one hides behind the other.
    [[nodiscard]] LayerCost end(LayerProgram const& program, bool in_block = false, bool recomputes_core = false) {
        LayerCost cost = pass(program, in_block, true, false);
        cost.shown_forward = cost.tensor_exposed + cost.context_exposed + cost.experts_exposed;
        cost.add(pass(program, in_block, false, recomputes_core), 1.0);
        return cost;
    }

private:
    /// The operations of the forward pass, or of the backward pass with what it computes again.
    [[nodiscard]] LayerCost pass(LayerProgram const& program, bool in_block, bool forward, bool recomputes_core) {
        LayerCost cost;
        Seconds core_again;
        auto& all = forward ? forward_ : backward_;
        all.clear();
        for (auto const& operation : program.operations()) {
            if ((operation.phase == Phase::forward) != forward) { continue; }
            auto const price = pricer_.price(operation, in_block);
            if (outlines_ && in_block) { all.push_back(priced(operation, price, recomputes_core)); }
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
        cost.host = pricer_.issue(program, program.passes), cost.host_forward = pricer_.issue(program, 1.0);
    }

    OperationPricer pricer_;
    double loss_;
    bool outlines_;
    std::vector<PricedOperation> forward_, backward_; ///< of the last program
};

/// The first blocks and one more, `times` of a cost, of a run that begins at `alike`.
BlocksUntil with_block(BlocksUntil const& before, LayerCost const& cost, double times, std::size_t alike) {
    Seconds const shown = cost.tensor_exposed + cost.context_exposed + cost.experts_exposed;
    return {.kernels = before.kernels + (cost.chip() - shown) * times,
            .kernels_forward = before.kernels_forward + (cost.forward_pass().chip - cost.shown_forward) * times,
            .shown = before.shown + shown * times,
            .shown_forward = before.shown_forward + cost.shown_forward * times,
            .host = before.host + cost.host * times,
            .host_forward = before.host_forward + cost.host_forward * times,
            .alike = alike};
}

/// Kinds of block of which the host is slower than some and faster than others: the sum of their smooth maxima less that of the
/// sums.
void set_apart(LayerCost& mean, std::vector<LayerCost> const& of_kind, double depth) {
    Seconds forward, backward;
    for (LayerCost const& kind : of_kind) {
        forward += kind.forward_pass().total(), backward += kind.backward_pass().total();
    }
    mean.apart_forward = std::max(Seconds{}, forward / depth - mean.forward_pass().total());
    mean.apart_backward = std::max(Seconds{}, backward / depth - mean.backward_pass().total());
}

/// What a pass of some blocks takes, where the mean block is uneven as `mean` is:
///
///     max(C, H) + C u / c      u = smooth maximum - max(c, h) of the mean block
Seconds pass_of_blocks(PassCost const& blocks, PassCost const& mean) {
    Seconds const larger = std::max(blocks.chip, blocks.host);
    if (mean.chip.base() <= 0.0) { return larger; }
    return larger + (mean.total() - std::max(mean.chip, mean.host)) * (blocks.chip / mean.chip);
}

} // namespace

double LayerCosts::blocks_between(std::size_t first, std::size_t end) const {
    if (until.empty()) { return static_cast<double>(end - first); }
    double const mean = block.total().base();
    return mean > 0.0 ? passes_between(first, end).total().base() / mean : static_cast<double>(end - first);
}

PassOutline::Beside PassOutline::beside(double traffic, double loss) const {
    if (loss <= 0.0 || traffic <= 0.0) { return {}; }
    double const stretch = 1.0 / (1.0 - loss), longer = stretch * pace - 1.0;
    auto const end_of = [&](std::size_t i) { return longer * kernels[i] + static_cast<double>(i) * part; };
    double const all = end_of(parts);
    if (traffic >= all) { return {loss * stretch * all_kernels(), idle[parts] + traffic - all}; }
    std::size_t before = 0, after = parts;
    while (after - before > 1) {
        std::size_t const middle = (before + after) / 2;
        (end_of(middle) <= traffic ? before : after) = middle;
    }
    double const begin = end_of(before), share = (traffic - begin) / (end_of(after) - begin);
    return {loss * stretch * pace * (kernels[before] + share * (kernels[after] - kernels[before])),
            idle[before] + share * (idle[after] - idle[before])};
}

PassTimes LayerCosts::passes_between(std::size_t first, std::size_t end) const {
    auto const& [from, to] = std::tie(until[first], until[end]);
    PassCost const ahead{.chip = to.kernels_forward - from.kernels_forward + to.shown_forward - from.shown_forward,
                         .host = to.host_forward - from.host_forward};
    PassCost const back{.chip = to.kernels - from.kernels + to.shown - from.shown - ahead.chip,
                        .host = to.host - from.host - ahead.host};
    return {.forward = pass_of_blocks(ahead, block.forward_pass()),
            .backward = pass_of_blocks(back, block.backward_pass())};
}

Seconds PassCost::total() const {
    Seconds const larger = std::max(chip, host);
    if (host.base() <= 0.0 || larger.base() <= 0.0) { return larger; }
    double const ratio = std::min(chip, host) / larger;
    return larger * std::cbrt(1.0 + ratio * ratio * ratio);
}

Seconds LayerCost::chip() const {
    return gemm + attention + memory + tensor_exposed + context_exposed + experts_exposed;
}

PassCost LayerCost::forward_pass() const {
    return {.chip = gemm + attention + memory - backward - recompute + shown_forward, .host = host_forward};
}

PassCost LayerCost::backward_pass() const {
    PassCost const forward = forward_pass();
    return {.chip = chip() - forward.chip, .host = host - forward.host};
}

Seconds LayerCost::total() const { return forward_pass().total() + backward_pass().total(); }

Seconds LayerCost::forward() const { return forward_pass().total(); }

Seconds LayerCost::host_excess() const { return host.base() <= 0.0 ? Seconds{} : total() - chip(); }

void LayerCosts::pace(double factor) {
    for (LayerCost* part : {&embedding, &block, &frozen, &trained, &head}) {
        for (Seconds* time :
             {&part->gemm, &part->attention, &part->memory, &part->recompute, &part->recomputed_core, &part->backward,
              &part->weight_gradient, &part->host, &part->host_forward, &part->apart_forward, &part->apart_backward}) {
            *time *= factor;
        }
    }
    forward.pace *= factor, backward.pace *= factor;
    for (BlocksUntil& first : until) {
        for (Seconds* time : {&first.kernels, &first.kernels_forward, &first.host, &first.host_forward}) {
            *time *= factor;
        }
    }
}

void LayerCost::add(LayerCost const& other, double times) {
    auto const seconds = {&LayerCost::gemm,
                          &LayerCost::attention,
                          &LayerCost::memory,
                          &LayerCost::recompute,
                          &LayerCost::recomputed_core,
                          &LayerCost::backward,
                          &LayerCost::host,
                          &LayerCost::tensor,
                          &LayerCost::tensor_exposed,
                          &LayerCost::context,
                          &LayerCost::context_exposed,
                          &LayerCost::experts,
                          &LayerCost::experts_exposed,
                          &LayerCost::weight_gradient,
                          &LayerCost::shown_forward,
                          &LayerCost::host_forward};
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
    Adder adder{shape, cluster, framework, constants};
    double const unaligned = issued_in_parts(program, shape, framework, constants);
    LayerCosts costs;
    std::vector<LayerCost> of_kind;
    std::vector<double> count;
    OutlineMean forward, backward;
    for (auto const& run : program.blocks) {
        LayerCost block = adder.block(run);
        block.host *= unaligned, block.host_forward *= unaligned;
        adder.outline(run.count / program.depth, forward, backward);
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
        auto const& kinds = program.kind_of_block;
        for (std::size_t i = 0, alike = 0; i < kinds.size(); ++i) {
            if (kinds[i] != kinds[alike]) { alike = i; }
            costs.until.push_back(with_block(costs.until.back(), of_kind[kinds[i]], 1.0 / count[kinds[i]], alike));
        }
    }
    costs.frozen_blocks = program.frozen;
    set_apart(costs.block, of_kind, program.depth);
    costs.forward = forward.mean(uneven_share(costs.block.forward_pass()));
    costs.backward = backward.mean(uneven_share(costs.block.backward_pass()));
    costs.embedding = adder.end(program.embedding);
    costs.head.add(adder.end(program.head), program.heads_run);
    for (auto const& run : program.prediction) { costs.head.add(adder.block(run), run.count); }
    return costs;
}

} // namespace headroom::training
