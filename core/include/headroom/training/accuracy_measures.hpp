#pragma once

#include "headroom/training/plan_choice.hpp"
#include "headroom/training/scale_validation.hpp"
#include "headroom/training/validation.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::training {

/// One error figure of the step model, with its value and its bar.
struct AccuracyFigure {
    std::string name; ///< "median", "90th", "inside", "least family", "worst", "skipped"
    double value = 0.0;
    double bar = 0.0;                         ///< the most that is allowed; of `inside` also the least
    std::optional<double> least = {};         ///< of a range
    std::optional<double> with_suspects = {}; ///< value with the dropped rows kept, where there are any
    [[nodiscard]] bool holds() const { return value <= bar && (!least || value >= *least); }
};

/// A group of runs, the constants that predicted them, and the figures of their absolute errors.
struct AccuracyMeasure {
    std::string name;      ///< of the runs: "dense, tuned"
    std::string constants; ///< "in sample", "source left out", "family left out", "model left out", "given one run"
    int rows = 0;
    std::vector<AccuracyFigure> figures;
    [[nodiscard]] bool holds() const;
};

/// Inputs of the accuracy measures. A measure whose input is absent is not computed.
struct AccuracyEvidence {
    Validation const& in_sample;
    Validation const* left_out = nullptr;
    Validation const* models_left_out = nullptr;
    ScaleValidation const* scales = nullptr;
    PlanChoice const* choice = nullptr;
    Validation const* ordinary = nullptr;          ///< software that nobody tuned, in sample
    Validation const* ordinary_left_out = nullptr; ///< each family by constants that never saw it
    Validation const* ordinary_unnamed = nullptr;  ///< each family left out, with the framework guessed
};

/// Error figures of the step model, each with the bar it must reach. *Dense* rows are transformers without experts,
/// fully trained on data-centre GPUs, with all state on the accelerator; llm.q rows are not among them, and one source's
/// sweep of small models on one node has lines of its own. *Tuned* rows are those of vendors and of frameworks made for
/// large runs, *ordinary* ones those that nobody tuned. *Specified* rows state (in the row, its notes, its framework or
/// its arithmetic) layers, width, heads, both batch sizes, all parallel degrees, virtual stages and recomputation.
/// Suspect rows are dropped; `with_suspects` is the error with them. A measure without rows is omitted. Of ordinary
/// software families weigh alike in every figure; *least family* is the least coverage of a family with 8 rows or more.
std::vector<AccuracyMeasure> accuracy_measures(AccuracyEvidence const& evidence);

} // namespace headroom::training
