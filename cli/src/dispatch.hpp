#pragma once

#include "arguments.hpp"

#include "headroom/queue_simulation.hpp"

#include <optional>
#include <span>

namespace headroom::cli {

/// What `--dispatch` says, of those that a verb knows; nothing where it is not given.
std::optional<Dispatch> read_dispatch(Arguments const& arguments, std::span<Dispatch const> known);

} // namespace headroom::cli
