#pragma once

// Links that groups of one system share: inside a node and between nodes.

#include "headroom/fit/communication_fit.hpp"

namespace headroom::fit {

/// Adds the levels of every system that has groups with a closed form; inside a node first, then between nodes given that.
void fit_levels(std::span<network::MeasuredCollective const> rows, CommunicationFitSettings const& settings,
                CommunicationFits& fits);

} // namespace headroom::fit
