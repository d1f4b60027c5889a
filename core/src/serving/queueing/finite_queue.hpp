#pragma once

#include "headroom/serving/queue.hpp"

namespace headroom::serving::queueing {

/// A queue whose places are stated. Times are of those let in.
QueueAnswer finite_queue(QueueLoad const& load, QueueShape const& shape);

} // namespace headroom::serving::queueing
