#pragma once

#include "arguments.hpp"

#include "headroom/queue_simulation.hpp"

#include <span>
#include <string>

namespace headroom::cli {

/// As options and results have it: "shortest-line".
std::string dispatch_word(Dispatch dispatch);

/// What `--dispatch` says, of those that a verb knows; nothing where it is not given.
std::optional<Dispatch> read_dispatch(Arguments const& arguments, std::span<Dispatch const> known);

} // namespace headroom::cli
