#include "headroom/training/operation.hpp"
#include "headroom/training/prediction.hpp"

#include <algorithm>

namespace headroom::training {

namespace {

/// Shares of the products of a list of operators whose input and whose weights have gradients; 1 of any other model.
TrainedWork trained_products(Model const& model) {
    double all = 0.0, inputs = 0.0, weights = 0.0;
    for (auto const& one : model.operators) {
        double const products = parameters_of(one) * one.positions();
        all += products;
        inputs += one.backward ? products : 0.0;
        weights += one.trained ? products : 0.0;
    }
    return all > 0.0 ? TrainedWork{.inputs = inputs / all, .weights = weights / all}
                     : TrainedWork{.inputs = 1.0, .weights = 1.0};
}

} // namespace

TrainedWork trained_work(Strategy const& strategy, Model const& model) {
    switch (strategy.trained) {
    case Trained::all: return trained_products(model);
    case Trained::lora: return {.inputs = 1.0, .weights = 0.0};
    case Trained::last_layers: {
        double const share = std::min(1.0, static_cast<double>(strategy.trained_layers) / depth_of(model));
        return {.inputs = share, .weights = share};
    }
    }
    return {};
}

double recomputed_share(Strategy const& strategy, Model const& model) {
    if (strategy.recompute_layers == 0) { return 1.0; }
    double const trained = trained_work(strategy, model).inputs * depth_of(model);
    return std::min(1.0, strategy.recompute_layers / trained);
}

Flops training_flops(SequenceFlops const& forward, TrainedWork const& work) {
    double const head = work.weights > 0.0 ? 3.0 : 2.0; // the head is above every trained layer
    return (1.0 + work.inputs + work.weights) * forward.matrix + (1.0 + 2.0 * work.inputs) * forward.attention +
           head * forward.head;
}

RecomputedWork recomputed_work(Strategy const& strategy, Model const& model) {
    double const share = recomputed_share(strategy, model);
    switch (strategy.recompute) {
    case Recompute::none: return {};
    case Recompute::selective: return {.matrix = 0.0, .attention = share};
    case Recompute::full: return {.matrix = share, .attention = share};
    case Recompute::alternate:
    case Recompute::modules: break;
    }
    Strategy whole; // one rank that does nothing but recompute as this one does
    whole.recompute = strategy.recompute;
    whole.recomputed = strategy.recomputed;
    auto const program = step_program(model, shape_of(whole, {.sequence_length = 1, .global_batch = 1}), Framework{});
    double products = 0.0, again = 0.0;
    bool core = false;
    for (auto const& block : program.blocks) {
        for (auto const& one : block.program.operations()) {
            bool const product = one.kind == OperationKind::gemm || one.kind == OperationKind::grouped_gemm;
            core = core || (one.phase == Phase::recompute && one.kind == OperationKind::attention);
            if (!product || one.phase == Phase::backward) { continue; }
            (one.phase == Phase::forward ? products : again) += block.count * one.m * one.n * one.k * one.times;
        }
    }
    return {.matrix = products > 0.0 ? share * again / products : 0.0, .attention = core ? share : 0.0};
}

Flops hardware_flops(SequenceFlops const& forward, TrainedWork const& work, RecomputedWork const& again) {
    return training_flops(forward, work) +
           work.inputs * (again.matrix * forward.matrix + again.attention * forward.attention);
}

double flops_utilization(Flops work, Seconds step, int workers, FlopsPerSecond peak) {
    Flops const possible = peak * step * static_cast<double>(workers);
    return possible.base() > 0.0 ? work / possible : 0.0;
}

} // namespace headroom::training
