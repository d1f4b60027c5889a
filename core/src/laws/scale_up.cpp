#include "headroom/laws/scale_up.hpp"

#include "search.hpp"

namespace headroom::laws {

std::optional<std::int64_t> workers_to_match(double serial_fraction, double factor) {
    double const s = serial_fraction, f = factor;
    if (f <= 1.0) { return 1; }
    if (s * f >= 1.0) { return std::nullopt; }
    return smallest_whole_at_least(f * (1.0 - s) / (1.0 - s * f));
}

DollarsPerSecond price_of_work(DollarsPerSecond machine, double speedup, Ranks workers) {
    return machine * (workers.count() / speedup);
}

DollarsPerSecond tie_price(DollarsPerSecond machine, double factor, double speedup, Ranks workers) {
    return factor * price_of_work(machine, speedup, workers);
}

} // namespace headroom::laws
