#pragma once

#include "headroom/queue.hpp"

namespace headroom::queueing {

/// A queue whose places are stated. Times are of those let in.
QueueAnswer finite_queue(QueueLoad const& load, QueueShape const& shape);

} // namespace headroom::queueing
