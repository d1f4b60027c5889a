#include "headroom/prediction.hpp"

namespace headroom {

Flops training_flops(SequenceFlops const& forward, Trained trained) {
    if (trained == Trained::adapters) { return 2.0 * (forward.matrix + forward.head) + 3.0 * forward.attention; }
    return 3.0 * forward.total();
}

Flops hardware_flops(SequenceFlops const& forward, Trained trained, Recompute recompute) {
    Flops const training = training_flops(forward, trained);
    switch (recompute) {
    case Recompute::full: return training + (forward.matrix + forward.attention);
    case Recompute::selective: return training + forward.attention;
    case Recompute::none: break;
    }
    return training;
}

double flops_utilization(Flops work, Seconds step, int workers, FlopsPerSecond peak) {
    Flops const possible = peak * step * static_cast<double>(workers);
    return possible.base() > 0.0 ? work / possible : 0.0;
}

} // namespace headroom
