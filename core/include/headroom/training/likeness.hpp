#pragma once

#include "headroom/quantity.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::training {

/// Traits that decide how far a measured step speaks for another one: two steps share an effect when both have equal
/// words in it.
struct StepTraits {
    std::string site;     ///< framework, accelerator, trained weights and offloaded state
    std::string model;    ///< its dimensions, whatever it is called
    std::string workload; ///< precision and sequence length
    std::string layout;   ///< dimensions in use, sharding and recomputation
    std::string replica;  ///< the layout with its degrees and micro-batch; the number of replicas may differ
    bool mixture = false; ///< of experts
};

/// Variances of ln(measured / predicted), by the traits that two steps must share for their errors to be equal.
///
///     ln(measured / predicted) = site + [model + workload + layout + replica] + noise
///
/// Each effect is normal with mean 0 and independent of the others; all but the site's hold within a site only.
/// Estimated by `likeness_of`. Source: [CressieHawkins1980] for the estimator
struct Likeness {
    double site = 0.0, model = 0.0, workload = 0.0, layout = 0.0, replica = 0.0;
    double noise = 0.0;         ///< of repeats
    int pairs = 0, sources = 0; ///< that they were estimated from
    [[nodiscard]] double total() const { return site + model + workload + layout + replica + noise; }
    /// Variance of the effects that two steps share; noise is never shared.
    [[nodiscard]] double shared(StepTraits const& a, StepTraits const& b) const;
};

/// A measured step and its prediction.
struct MeasuredStep {
    std::string name; ///< for people
    StepTraits traits;
    Seconds measured, predicted;
    /// ln(measured / predicted), clipped to the interval of the prediction, or to the 95 % that the variances of
    /// likeness allow where those are wider: differences that are known between steps are no reason to distrust a
    /// measurement.
    double log_factor = 0.0;
    double excess = 0.0;    ///< distance of the logarithm beyond that; 0: inside
    double deviation = 0.0; ///< standard deviation of ln(measured), of the measurement itself; 0: not known
};

/// Posterior of ln(measured / predicted) of a step that was not measured, given the measured ones.
struct WarmPosterior {
    double log_factor = 0.0;
    double narrowing = 1.0; ///< standard deviation given the measured steps over that without them
    double deviation = 0.0; ///< standard deviation given the measured steps
    int related = 0;        ///< steps that share an effect with it
};

/// Best linear prediction (simple kriging) of the effect of `asked`:
///
///     mean = k' (K + N)^-1 y,   variance = total - k' (K + N)^-1 k
///
/// k and K are the shared variances of `asked` with the steps and of the steps with each other, N the noise, to which
/// a step adds the squares of its excess and of its own deviation: the further a measured step lies outside of its interval,
/// and the less sure it was measured, the less it says.
/// Holds for: any number of steps; without a related one nothing changes. Source: [Cressie1993]
WarmPosterior warm_posterior(StepTraits const& asked, std::span<MeasuredStep const> steps, Likeness const& likeness);

/// Measured steps that may correct a prediction, and the variances that weight them.
struct WarmStart {
    Likeness dense, mixtures;
    std::vector<MeasuredStep> steps;
    [[nodiscard]] Likeness const& likeness(StepTraits const& of) const { return of.mixture ? mixtures : dense; }
};

/// An error of a prediction with constants that never saw its source.
struct LeftOutResidual {
    std::string source;
    StepTraits traits;
    double log_factor = 0.0; ///< ln(measured / predicted)
};

/// Method of moments. For each set of shared effects the half mean squared difference of the residuals of pairs of
/// one source and site is the sum of the variances that are not shared; pairs of two sources share nothing. Means are
/// the robust ones of [CressieHawkins1980], by source, and the plain one between sources, for how far sites lie apart is what
/// a measured step is to correct, wild ones included; the variances, none negative, are those that come nearest to all of
/// them in relative error, each weighted by the square root of its pairs. Residuals of `without` are left out.
///
/// Zero pairs: too few residuals to say anything.
Likeness likeness_of(std::span<LeftOutResidual const> residuals, bool mixtures, std::string const& without = {});

} // namespace headroom::training
