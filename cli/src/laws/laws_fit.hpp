#pragma once

#include "verb.hpp"

namespace headroom::cli {

/// The options of `laws` that belong to --fit, and what it does with them: laws fitted to a table of measurements.
std::span<Option const> fit_options();
int run_fit(Arguments const& arguments);

} // namespace headroom::cli
