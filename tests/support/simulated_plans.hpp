#pragma once

// Random legal plans of models that people train, for the closed form and the simulated step to agree on: those that
// `headroom validate --simulation` draws. A plan follows from its index alone.

#include "support/training.hpp"

#include "headroom/io/plan_menu.hpp"
#include "headroom/simulation_agreement.hpp"

#include <cstdint>

namespace headroom::training {

inline PlanMenu const& simulated_menu() {
    static PlanMenu const menu = io::agreement_menu(catalog());
    return menu;
}

inline Question random_simulated_plan(std::uint64_t index) { return random_plan(simulated_menu(), 0, index); }

/// One plan by both ways.
inline PlanAgreement agreement_of(std::uint64_t index) {
    return headroom::agreement_of(random_simulated_plan(index), fitted());
}

} // namespace headroom::training
