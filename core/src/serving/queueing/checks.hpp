#pragma once

#include "headroom/serving/queue.hpp"

#include <string>

namespace headroom::serving::queueing {

/// Erlang's recursion takes half a second for them.
inline constexpr int most_servers = 100'000'000;

/// Checks the load and the shape of a queue. Errors: InputError{usage}.
void check(QueueLoad const& load, QueueShape const& shape);
void check(QueueShape const& shape);

} // namespace headroom::serving::queueing
