#pragma once

#include "headroom/fit/training_fit.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace headroom::fit {

/// One element of the step model taken out: what is asked instead, and the constants that are held at values which make
/// it nothing. The other constants are free to make up for it.
struct Ablation {
    std::string_view name;    ///< of the element
    std::string_view instead; ///< what the model has in its place, in words
    void (*change)(Question&) = nullptr;
    struct Held {
        Constant constant;
        double value;
    };
    std::vector<Held> held = {};
};

/// The elements of the model, one by one; the first is the whole model, with nothing taken out.
std::vector<Ablation> ablations();

/// Errors of a model without an element, fitted anew.
struct AblationResult {
    std::string_view name, instead;
    int free_constants = 0;
    ErrorSummary dense, dense_left_out;       ///< runs of dense models; each source left out
    ErrorSummary mixtures, mixtures_left_out; ///< runs of mixtures and hybrids
};

/// Fits the model without an element to the runs, and again without each source. Runs of stacks whose kernels are their
/// own take no part. What an element is worth is the difference to the whole model; the fit can only hide what another
/// constant can stand in for, and left-out errors say whether it did so honestly.
AblationResult without_element(Ablation const& ablation, std::span<PublishedRun const> runs,
                               CalibrationSet const& independent, FitSettings const& settings);

} // namespace headroom::fit
