#pragma once

// Random legal plans of models that people train, for the closed form and the simulated step to agree on: those that
// `headroom validate --simulation` draws. A plan follows from its index alone.

#include "support/training.hpp"

#include "headroom/io/plan_menu.hpp"
#include "headroom/training/simulation_agreement.hpp"

#include <cstdint>

namespace headroom::training {

inline training::PlanMenu const& simulated_menu() {
    static training::PlanMenu const menu = io::agreement_menu(catalog());
    return menu;
}

inline training::Question random_simulated_plan(std::uint64_t index) {
    return training::random_plan(simulated_menu(), 0, index);
}

/// One plan by both ways.
inline training::PlanAgreement agreement_of(std::uint64_t index) {
    return headroom::training::agreement_of(random_simulated_plan(index), fitted());
}

} // namespace headroom::training
