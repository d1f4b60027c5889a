#pragma once

#include "headroom/serving/latency_samples.hpp"

#include <optional>
#include <span>

namespace headroom::serving {

/// Times of service behind whole latencies of alike servers with one line, first come, first served: a request starts when
/// it is sent, or when the first server becomes free, and is served until its answer.
///
///     start = max(sent, earliest end of the last c that started),   service = sent + latency - start
///
/// Nothing where answers come before their starts by more than 0.5 % of all service, as steps of a clock do not explain:
/// such latencies are of more servers, or of another order.
/// Assumes:    no request is missing, and all servers were free at the first.
std::optional<LatencyHistogram> rebuilt_services(std::span<SentRequest const> requests, int servers);

} // namespace headroom::serving
