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
    std::string_view instead; ///< its replacement in the model, in words
    void (*change)(training::Question&) = nullptr;
    struct Held {
        training::Constant constant;
        double value;
    };
    std::vector<Held> held = {};
};

/// Constants, with those of an element held at the values that switch it off.
training::CalibrationSet holding(training::CalibrationSet set, Ablation const& ablation);

/// The elements of the model, one by one; the first is the whole model, with nothing taken out.
std::vector<Ablation> ablations();

/// A model without an element, fitted to the runs, and again without each source. Runs of frameworks with kernels of
/// their own take no part.
struct FittedModel {
    std::vector<training::PublishedRun> runs; ///< as this model asks them
    training::CalibrationSet set;
    training::Validation fitted, left_out; ///< of them
};
FittedModel fitted_without(Ablation const& ablation, std::span<training::PublishedRun const> runs,
                           training::CalibrationSet const& independent, FitSettings const& settings);

/// Errors of a model without an element, fitted anew.
struct AblationResult {
    std::string_view name, instead;
    training::ErrorSummary dense, dense_left_out;       ///< runs of dense models; each source left out
    training::ErrorSummary mixtures, mixtures_left_out; ///< runs of mixtures and hybrids
    /// Runs whose step the element is more than `moved_by` of, by the constants of the whole model; and the means of their
    /// absolute errors, by the whole model and without the element.
    struct Means {
        double whole = 0.0, without = 0.0;
    };
    int moved = 0;
    Means moved_fitted = {}, moved_left_out = {};
    /// Sources whose moved runs have a larger error without the element when the source is left out, and a smaller one; a
    /// thousandth apart at least.
    int sources_worse = 0, sources_better = 0;
};
inline constexpr double moved_by = 0.03;

/// Result of removing an element: the difference to the whole model is the element's worth. The fit can only hide an
/// element that another constant can replace; left-out errors show whether it did. An element that concerns few runs is
/// judged by those.
AblationResult without_element(Ablation const& ablation, FittedModel const& whole,
                               std::span<training::PublishedRun const> runs,
                               training::CalibrationSet const& independent, FitSettings const& settings);

/// Elements that ordinary software has and tuned frameworks do not; the first is the whole model.
std::vector<Ablation> ordinary_ablations();

/// Errors of ordinary runs without an element, each family predicted by constants of ordinary software that were fitted
/// without it, those of tuned frameworks held; families weigh alike.
struct OrdinaryResult {
    std::string_view name, instead;
    double median = 0.0, p90 = 0.0;              ///< of the absolute errors
    int moved = 0;                               ///< runs whose step the element is more than `moved_by` of
    AblationResult::Means errors = {};           ///< means of the absolute errors of those
    int families_worse = 0, families_better = 0; ///< without it, by a thousandth at least
};

/// Result of removing each element, with the constants of ordinary software free to make up for it.
std::vector<OrdinaryResult> without_ordinary_elements(std::span<training::PublishedRun const> runs,
                                                      training::CalibrationSet const& set, FitSettings const& settings);

} // namespace headroom::fit
