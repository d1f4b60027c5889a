#include "headroom/training/prediction.hpp"

#include <algorithm>

namespace headroom::training {

TrainedWork trained_work(Strategy const& strategy, Model const& model) {
    switch (strategy.trained) {
    case Trained::all: break;
    case Trained::adapters: return {.inputs = 1.0, .weights = 0.0};
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

Flops hardware_flops(SequenceFlops const& forward, TrainedWork const& work, Recompute recompute, double share) {
    Flops const training = training_flops(forward, work);
    double const again = share * work.inputs;
    switch (recompute) {
    case Recompute::full: return training + again * (forward.matrix + forward.attention);
    case Recompute::selective: return training + again * forward.attention;
    case Recompute::none: break;
    }
    return training;
}

double flops_utilization(Flops work, Seconds step, int workers, FlopsPerSecond peak) {
    Flops const possible = peak * step * static_cast<double>(workers);
    return possible.base() > 0.0 ? work / possible : 0.0;
}

} // namespace headroom::training
