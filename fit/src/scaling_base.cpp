#include "headroom/fit/scaling_fit.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::fit {

bool of_steps(Measured measured) { return measured != Measured::sync && measured != Measured::value; }

double rate_of(ScalingData const& data, double workers, double value) {
    if (is_rate(data.measured)) { return value; }
    return (data.scaling == Scaling::weak ? workers : 1.0) / value;
}

double base_workers(ScalingData const& data) {
    ScalingSample const first = means_of(data.samples).front();
    constexpr double rounded = 0.02; // of a speedup of 1, as printed
    bool const over_one = data.measured == Measured::speedup && std::abs(first.value - 1.0) > rounded;
    return over_one ? 1.0 : first.workers;
}

std::vector<ScalingSample> measured_speedups(ScalingData const& data) {
    std::vector<ScalingSample> means = means_of(data.samples);
    double const base =
        data.measured == Measured::speedup ? 1.0 : rate_of(data, means.front().workers, means.front().value);
    for (ScalingSample& mean : means) { mean.value = rate_of(data, mean.workers, mean.value) / base; }
    return means;
}

} // namespace headroom::fit
