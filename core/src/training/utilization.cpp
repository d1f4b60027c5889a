#include "headroom/prediction.hpp"

namespace headroom {

/// Zero when the step takes no time or the chip has no such arithmetic: there is nothing to be a share of.
double flops_utilization(Flops work, Seconds step, int workers, FlopsPerSecond peak) {
    Flops const possible = peak * step * static_cast<double>(workers);
    return possible.base() > 0.0 ? work / possible : 0.0;
}

} // namespace headroom
