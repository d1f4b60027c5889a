#pragma once

#include "headroom/quantity.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace headroom::training {

/// Scales of the spread of measured memory about the predicted one, in units of the uncertain bytes.
struct MemoryScale {
    double below = 0.0, above = 0.0; ///< of measured memory below the prediction, and above it
    int rows = 0, families = 0;      ///< that they were made from
    bool operator==(MemoryScale const&) const = default;
};

/// Spread of measured memory about the predicted one.
///
///     measured = predicted + x u
///     u        = predicted - (1 - w) state
///     P(x < c) = F(c / below) for c < 0, else F(c / above)
///
/// u are the uncertain bytes: what is not state, and a share w of the state, whose bytes a parameter are known. F is Student's t
/// with 4 degrees of freedom, for some runs keep tensors that no record describes. The prediction is the median.
/// Holds for:  allocated, reserved and process memory, each with the prediction of its kind.
/// Assumes:    the scales of catalog/calibration/memory.toml, fitted to published runs.
struct MemorySpread {
    double state_share = 0.0;         ///< w
    MemoryScale seen;                 ///< of frameworks that runs were measured with
    MemoryScale unseen;               ///< of others, and where the framework is a guess
    std::set<std::string> frameworks; ///< that are seen, by name
    [[nodiscard]] MemoryScale const& of(std::string const& framework, bool guessed) const {
        return !guessed && frameworks.contains(framework) ? seen : unseen;
    }
    bool operator==(MemorySpread const&) const = default;
};

/// The uncertain bytes u of a prediction.
Bytes uncertain_bytes(MemorySpread const& spread, Bytes predicted, Bytes state);

/// Probability that the measured memory is at most `limit`.
double probability_within(MemoryScale const& scale, Bytes predicted, Bytes uncertain, Bytes limit);

/// Uncertain bytes, as a multiple of u, that a limit must leave above the prediction so that the memory stays within it with
/// this probability; negative below one half. For the hot path: one number a question.
double margin_factor(MemoryScale const& scale, double probability);

/// Coverage of a memory interval.
inline constexpr double memory_coverage = 0.9;

/// Interval that holds the measured memory with probability `memory_coverage`, each tail half of the rest.
struct MemoryRange {
    Bytes low, high;
    [[nodiscard]] bool holds(Bytes memory) const { return low <= memory && memory <= high; }
};
MemoryRange memory_range(MemoryScale const& scale, Bytes predicted, Bytes uncertain);

/// Risk of a plan unless another is asked for: largest probability that it does not fit.
inline constexpr double usual_memory_risk = 0.05;

/// Rule by which a candidate of a search fits: footprint + factor u <= capacity. Made once a question; without a spread the
/// factor is 0, and the footprint alone decides.
struct MemoryMargin {
    double factor = 0.0, state_share = 0.0;
    MemoryScale scale = {};
    double probability = 0.5; ///< with which a candidate fits at least
    [[nodiscard]] Bytes uncertain(Bytes footprint, Bytes state) const {
        return std::max(Bytes{}, footprint - (1.0 - state_share) * state);
    }
    /// Capacity that this footprint needs.
    [[nodiscard]] Bytes needed(Bytes footprint, Bytes state) const {
        return footprint + factor * uncertain(footprint, state);
    }
    /// Probability that this footprint fits.
    [[nodiscard]] double fits(Bytes footprint, Bytes state, Bytes capacity) const {
        return probability_within(scale, footprint, uncertain(footprint, state), capacity);
    }
};
MemoryMargin memory_margin(MemorySpread const& spread, MemoryScale const& scale, double risk);

/// One measured memory and its prediction.
struct MemorySample {
    std::string family; ///< that published it
    std::string framework;
    bool guessed = false; ///< the framework
    Bytes measured, predicted, state;
};

/// The spread of some samples, families weighed alike: each of n samples of a family weighs 1/n. An end lies half way between the
/// tail's own quantile and that of |x|, for which way a new family is off is not known. The quantiles of n families are those that
/// hold one more: 90 % (n + 1) / n in the place of 90 %. Source: [Lei2018]. Of samples with a guessed framework
/// the scales of `unseen`, no less than those of `seen`; where fewer than 3 families have one, of all samples. A framework is seen
/// with 5 samples. w is that of 0, 0.02, 0.05, 0.1, 0.2 and 0.5 with the narrowest intervals over the measured memory.
MemorySpread fit_memory_spread(std::span<MemorySample const> samples);

} // namespace headroom::training
