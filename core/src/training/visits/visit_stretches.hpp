#pragma once

#include "training/simulation/step_passes.hpp"

#include <array>
#include <vector>

namespace headroom::training::simulation {

/// Which collectives and which traffic of a stage leave by its adapter.
struct AdapterUsers {
    std::array<bool, group3_count> groups{};
    bool data = false, transfers = false;
};

/// Kernels that follow one another, or a collective between kernels, in ticks: all of it begins at once, and what follows when all
/// of it has ended.
struct UnitStretch {
    double kernels = 0.0;                       ///< slowed beside gradients and weights
    double fixed = 0.0;                         ///< waits, and collectives that have a network for themselves
    std::array<double, group3_count> leaving{}; ///< collectives by the adapter
    /// All of it, one after the other: by how far it gets in this a visit is cut into parts.
    [[nodiscard]] double work() const { return kernels + fixed + leaving[0] + leaving[1] + leaving[2]; }
};

/// One pass of one unit, and what issuing it takes the host.
struct UnitVisit {
    std::vector<UnitStretch> stretches;
    double host = 0.0;
    bool routed = false;            ///< the host is no more than a unit ahead of the chip
    double work = 0.0;              ///< of all stretches
    std::vector<double> ended = {}; ///< the same until each kernel has ended, and what waits for the host behind them
    double made = 0.0;              ///< until the last kernel has
};

UnitVisit visit_of(Unit const& unit, PassKind kind, AdapterUsers const& users);

} // namespace headroom::training::simulation
