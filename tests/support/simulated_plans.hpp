#pragma once

// Random legal plans of models that people train, on which price and simulation agree: those that
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

inline training::SimulatedStep simulated_plan(std::uint64_t index) {
    Priced const priced{random_simulated_plan(index)};
    return simulate_step(priced.setting(), priced.question.strategy, priced.costs);
}

} // namespace headroom::training
