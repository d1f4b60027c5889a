#pragma once

#include "headroom/training/validation.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::training {

/// Runs of one plan: repeats count as one, by their medians.
struct MeasuredPlan {
    std::vector<RunComparison const*> runs;
    Seconds predicted, measured;
    double spread = 0.0; ///< largest over least measured step of its repeats, less 1
};

/// Measured plans of one model on one cluster from one source. Degrees, micro-batch, sharding and recomputation differ;
/// model, framework, accelerators, batch, length and precision do not.
struct PlanSweep {
    std::string source, model, accelerator;
    int accelerators = 0, batch = 0, sequence_length = 0;
    std::vector<MeasuredPlan> plans;  ///< in the order of the table
    std::size_t chosen = 0, best = 0; ///< least predicted, least measured
    double regret = 0.0;              ///< measured time of the chosen plan over the least, less 1
    double noise = 0.0;               ///< largest spread of repeats in it; 0: nothing was repeated
    double tau = 0.0;                 ///< Kendall's tau-b of predicted and measured
};

struct PlanChoiceSummary {
    int sweeps = 0, plans = 0;
    double median_regret = 0.0, worst_regret = 0.0, median_tau = 0.0;
    int best_chosen = 0; ///< sweeps without any regret
};

/// Regret of choosing plans by prediction, in published sweeps.
struct PlanChoice {
    std::vector<PlanSweep> sweeps; ///< the worst regret first
    PlanChoiceSummary summary;
};

/// Every sweep of at least three plans among the rows that were predicted.
PlanChoice plan_choice(std::span<RunComparison const> rows);

/// Kendall's tau-b of two lists of one length: (concordant - discordant) pairs over the geometric mean of the pairs
/// that are not tied in each. Zero where all of one are tied. Source: [Kendall1945]
double kendall_tau_b(std::span<double const> x, std::span<double const> y);

} // namespace headroom::training
