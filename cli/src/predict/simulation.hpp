#pragma once

#include "document/document.hpp"
#include "document/json.hpp"

#include "headroom/simulated_step.hpp"

#include <vector>

namespace headroom::cli {

/// A simulated step beside the closed form's.
struct Simulation {
    SimulatedStep step;
    CollectiveDetail collectives = CollectiveDetail::operation; ///< how they were priced
    StepTime closed;
    std::vector<ClosedFormLimit> limits; ///< why the two may differ; none: the closed form claims to hold
    [[nodiscard]] bool ran() const { return step.refused.empty(); }
    [[nodiscard]] double difference() const { return step.step() / closed.total() - 1.0; }
};

/// Why the closed form claims nothing about a step whose collectives are priced by messages.
inline constexpr ClosedFormLimit prices_no_messages{
    .name = "collectives by messages",
    .reason = "the closed form takes groups to lie on domains evenly, each with its share of the adapters"};

/// Where the closed form claims to hold it is this close to the simulation.
inline constexpr double closed_form_tolerance = 0.01;

std::vector<Block> simulation_blocks(Simulation const& simulation);
Json simulation_json(Simulation const& simulation);

} // namespace headroom::cli
