#include "service_behind.hpp"

#include <algorithm>

namespace headroom::serving {
namespace {

QueueLoad load_with(SeenLatencies const& seen, double service, double variation) {
    return {.arrivals_per_second = seen.arrivals_per_second,
            .arrival_variation = seen.arrival_variation,
            .service = Seconds{service},
            .service_variation = variation};
}

QueueAnswer queue_of(SeenLatencies const& seen, double service, double variation) {
    return queue_answer(load_with(seen, service, variation), {.servers = seen.servers});
}

double variance_of(SeenLatencies const& seen, double service, double variation) {
    QueueAnswer const queue = queue_of(seen, service, variation);
    double const wait = queue.wait.base(), served = service * service * variation;
    if (!(queue.wait_probability > 0.0) || !(wait > 0.0)) { return served; }
    return served + wait * wait * (2.0 / queue.wait_probability - 1.0);
}

/// The c_s^2 with which the variance comes out, the mean of service being known. The variance grows with it.
double variation_for(SeenLatencies const& seen, double service) {
    double low = 0.0, high = seen.variance / (service * service);
    for (int step = 0; step < 60; ++step) {
        double const middle = 0.5 * (low + high);
        (variance_of(seen, service, middle) < seen.variance ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

double excess_mean(SeenLatencies const& seen, double service) {
    return service + queue_of(seen, service, variation_for(seen, service)).wait.base() - seen.mean;
}

} // namespace

std::optional<QueueLoad> service_behind(SeenLatencies const& seen) {
    constexpr double step = 0.98, least_share = 1e-3;
    double const full = static_cast<double>(seen.servers) / seen.arrivals_per_second;
    double const most = std::min(seen.mean, full * (1.0 - 1e-6));
    if (!(most > 0.0)) { return std::nullopt; }
    double high = most, low = most;
    while (!(excess_mean(seen, low) <= 0.0)) {
        high = low;
        low *= step;
        if (low < least_share * most) { return std::nullopt; }
    }
    for (int i = 0; i < 50 && low < high; ++i) {
        double const middle = 0.5 * (low + high);
        (excess_mean(seen, middle) <= 0.0 ? low : high) = middle;
    }
    return load_with(seen, low, variation_for(seen, low));
}

} // namespace headroom::serving
