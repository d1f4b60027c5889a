#include "headroom/error.hpp"
#include "headroom/serving/queue_choices.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace headroom::serving {
namespace {

/// Services as they were measured, after a wait.
struct Tail {
    std::vector<double> seconds, share; ///< ascending; shares sum to 1
    double waits = 0.0, wait = 0.0;     ///< probability, and mean of those that wait

    /// P(T > t)
    [[nodiscard]] double beyond(double t) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < seconds.size(); ++i) {
            bool const longer = seconds[i] > t;
            double const waited = longer ? 1.0 : wait > 0.0 ? std::exp((seconds[i] - t) / wait) : 0.0;
            sum += share[i] * ((longer ? 1.0 - waits : 0.0) + waits * waited);
        }
        return sum;
    }
};

} // namespace

Seconds measured_quantile(QueueAnswer const& answer, LatencyHistogram const& service, double scale, double q) {
    if (!(q > 0.0 && q < 1.0)) { refuse("quantile", "not between 0 and 1", {}, "say 0.99"); }
    if (service.empty()) { too_little("service", "no samples"); }
    if (!answer.stable) { return Seconds{std::numeric_limits<double>::infinity()}; }
    Tail tail;
    double const count = static_cast<double>(service.count());
    service.each([&](LatencyHistogram::Cell const& cell) {
        tail.seconds.push_back(cell.value * scale);
        tail.share.push_back(static_cast<double>(cell.count) / count);
    });
    tail.waits = answer.wait_probability;
    tail.wait = tail.waits > 0.0 ? answer.wait.base() / tail.waits : 0.0;
    double low = 0.0, high = tail.seconds.back();
    while (tail.beyond(high) > 1.0 - q) {
        low = high;
        high = 2.0 * high + tail.wait;
    }
    for (int i = 0; i < 200 && high - low > 1e-13 * high; ++i) {
        double const middle = low + 0.5 * (high - low);
        (tail.beyond(middle) > 1.0 - q ? low : high) = middle;
    }
    return Seconds{high};
}

} // namespace headroom::serving
