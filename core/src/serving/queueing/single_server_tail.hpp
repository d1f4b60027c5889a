#pragma once

#include "headroom/quantity.hpp"
#include "headroom/serving/latency_histogram.hpp"
#include "headroom/serving/queue.hpp"

#include <functional>

namespace headroom::serving::queueing {

/// Distribution of times of service by two functions of it.
struct ServiceTail {
    double mean = 0.0;
    std::function<double(double)> above;        ///< P(S > x)
    std::function<double(double)> square_above; ///< E[max(0, S - x)^2]
};
/// Gamma times, always the mean at a variation of 0.
ServiceTail tail_of(double mean, double variation);
/// Measured times, each times `scale`.
ServiceTail tail_of(LatencyHistogram const& samples, double scale);

/// Whether `single_server_quantile` holds: M/G/1 that is stable, without bounds or batches.
bool is_single_server(QueueLoad const& load, QueueShape const& shape);

/// A quantile of the time until served, M/G/1: the wait is a sum of N remainders of services, P(N = n) = (1 - rho) rho^n,
/// which are put on a lattice of 1,024 steps up to the quantile with their mean kept:
///
///     w(0) (1 - rho r(0)) = 1 - rho,   w(k) (1 - rho r(0)) = rho sum over j = 1..k of r(j) w(k - j)
///     r(k) = (G(k - 1) - 2 G(k) + G(k + 1)) / h,   G(k) = E[max(0, S - k h)^2] / (2 E[S])
///
/// Errs by less than 0.5 %. `guess`: about the quantile.
/// Source: [Kleinrock1975] (Pollaczek and Khinchine's transform as a series)
Seconds single_server_quantile(double rho, ServiceTail const& service, double q, double guess);

} // namespace headroom::serving::queueing
