#include "headroom/laws/laws.hpp"

#include "search.hpp"

#include <cmath>

namespace headroom::laws {

double amdahl_speedup(double serial_fraction, Ranks workers) {
    double const s = serial_fraction, k = workers.count();
    return 1.0 / (s + (1.0 - s) / k);
}

double gustafson_speedup(double serial_fraction, Ranks workers) {
    double const s = serial_fraction, k = workers.count();
    return k - s * (k - 1.0);
}

std::optional<double> amdahl_ceiling(double serial_fraction) {
    if (serial_fraction <= 0.0) { return std::nullopt; }
    return 1.0 / serial_fraction;
}

std::optional<std::int64_t> workers_for_share_of_ceiling(double serial_fraction, double share) {
    double const s = serial_fraction, q = share;
    if (s <= 0.0 || q >= 1.0) { return std::nullopt; }
    return smallest_whole_at_least(q * (1.0 - s) / (s * (1.0 - q)));
}

double marginal_speedup_per_doubling(Seconds before, Seconds after, int workers_before, int workers_after) {
    double const doublings = std::log2(static_cast<double>(workers_after) / workers_before);
    return std::pow(before / after, 1.0 / doublings);
}

Seconds step_at(Profile const& profile, Ranks workers) {
    return profile.communication + profile.compute * profile.workers.count() / workers.count();
}

double serial_share_at(Profile const& profile, Ranks workers) {
    Seconds const step = step_at(profile, workers);
    return step.base() > 0.0 ? profile.communication / step : 0.0;
}

double speedup_over_k0(Profile const& profile, Ranks workers) {
    Seconds const step = step_at(profile, workers);
    return step.base() > 0.0 ? step_at(profile, profile.workers) / step : 1.0;
}

std::optional<double> ceiling_over_k0(Profile const& profile) {
    return amdahl_ceiling(serial_share_at(profile, profile.workers));
}

std::optional<double> ceiling_over_one_worker(Profile const& profile) {
    return amdahl_ceiling(serial_share_at(profile, Ranks{1}));
}

} // namespace headroom::laws
