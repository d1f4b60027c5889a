#pragma once

#include "headroom/queue.hpp"

#include <string>

namespace headroom::queueing {

/// What every question about a queue asks of it first. Errors: InputError{usage}.
void check(QueueLoad const& load, QueueShape const& shape);
void check(QueueShape const& shape);
[[noreturn]] void refuse(std::string where, std::string problem, std::string why, std::string hint);

} // namespace headroom::queueing
