#pragma once

#include "headroom/serving/latency_histogram.hpp"

namespace headroom::serving {

/// Errors: InputError{usage} where it is not above zero.
void check_request_interval(double interval);

/// Number of requests that were not sent while one took longer than the interval between them.
double unsent_requests(LatencyHistogram const& samples, double interval);

} // namespace headroom::serving
