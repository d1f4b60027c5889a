#pragma once

#include "headroom/serving/queue.hpp"

namespace headroom::serving::queueing {

/// Servers that take up to `batch` of those waiting when they become free, or one that finds them idle.
QueueAnswer batch_service(QueueLoad const& load, QueueShape const& shape);

/// Requests a second that the servers are done with at most.
double capacity(QueueLoad const& load, QueueShape const& shape);

} // namespace headroom::serving::queueing
