#pragma once

#include "headroom/training/plan_choice.hpp"
#include "headroom/training/scale_validation.hpp"
#include "headroom/training/validation.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::training {

/// One figure that the step model is held to: what it came to and what it must come to.
struct AccuracyFigure {
    std::string name; ///< "median", "mean", "90th", "inside", "half-width", "worst", "skipped"
    double value = 0.0;
    double bar = 0.0;                         ///< the most that is allowed; of `inside` also the least
    std::optional<double> least = {};         ///< of a range
    std::optional<double> with_suspects = {}; ///< value with the dropped rows kept, where there are any
    [[nodiscard]] bool holds() const { return value <= bar && (!least || value >= *least); }
};

/// A group of runs, the constants that predicted them, and the figures of their absolute errors.
struct AccuracyMeasure {
    std::string name;      ///< of the runs: "dense, specified"
    std::string constants; ///< "in sample", "source left out", "model left out", "given one run"
    int rows = 0;
    std::vector<AccuracyFigure> figures;
    [[nodiscard]] bool holds() const;
};

/// What the measures are made of; what is not known is left out of them.
struct AccuracyEvidence {
    Validation const& in_sample;
    Validation const* left_out = nullptr;
    Validation const* models_left_out = nullptr;
    ScaleValidation const* scales = nullptr;
    PlanChoice const* choice = nullptr;
};

/// The figures of the step model, each beside its bar. *Dense* are transformers without experts on data-centre GPUs that are
/// trained whole and keep their state on the accelerator, but for llm.q. vTrain's sweep of small models on one node has a bar of
/// its own; it is in the other dense lines only where they name it. *Specified*: the row, its notes, its stack or arithmetic fix the layers,
/// width and heads, both batches, all degrees, the virtual stages and the recomputation. Suspect rows are dropped; the
/// error with them is `with_suspects`. A measure without rows is left out.
std::vector<AccuracyMeasure> accuracy_measures(AccuracyEvidence const& evidence);

} // namespace headroom::training
