#pragma once

#include "arguments.hpp"

#include "headroom/serving/queue_simulation.hpp"

#include <optional>
#include <span>

namespace headroom::cli {

/// Dispatch of `--dispatch`, of those that a verb knows; nothing where it is not given.
std::optional<serving::Dispatch> read_dispatch(Arguments const& arguments, std::span<serving::Dispatch const> known);

} // namespace headroom::cli
