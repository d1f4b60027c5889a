#pragma once

// What groups of one system have in common: the links inside a node and between nodes.

#include "headroom/fit/communication_fit.hpp"

namespace headroom::fit {

/// The levels of every system that has groups with a closed form; inside a node first, then between nodes given that.
std::vector<FittedLevel> fit_levels(std::span<network::MeasuredCollective const> rows,
                                    std::span<CommunicationFit const> fits);

} // namespace headroom::fit
