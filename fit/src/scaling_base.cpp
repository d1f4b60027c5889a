#include "scaling_statistics.hpp"

#include "headroom/fit/scaling_fit.hpp"

#include <cmath>

namespace headroom::fit {

bool of_steps(Measured measured) { return measured != Measured::sync && measured != Measured::value; }

double rate_of(ScalingData const& data, double workers, double value) {
    if (is_rate(data.measured)) { return value; }
    return (data.scaling == Scaling::weak ? workers : 1.0) / value;
}

std::vector<ScalingSample> measured_centres(ScalingData const& data) {
    return data.centre == Centre::median ? medians_of(data.samples) : means_of(data.samples);
}

double base_workers(ScalingData const& data) {
    ScalingSample const first = measured_centres(data).front();
    constexpr double rounded = 0.02; // of a speedup of 1, as printed
    bool const over_one = data.measured == Measured::speedup && std::abs(first.value - 1.0) > rounded;
    return over_one ? 1.0 : first.workers;
}

std::vector<ScalingSample> measured_speedups(ScalingData const& data) {
    std::vector<ScalingSample> centres = measured_centres(data);
    double const base =
        data.measured == Measured::speedup ? 1.0 : rate_of(data, centres.front().workers, centres.front().value);
    for (ScalingSample& one : centres) { one.value = rate_of(data, one.workers, one.value) / base; }
    return centres;
}

} // namespace headroom::fit
