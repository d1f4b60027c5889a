#pragma once

#include "headroom/quantity.hpp"
#include "headroom/ranks.hpp"

#include <span>

namespace headroom::training {

// ---- what a larger batch is worth ---------------------------------------------------------------------------------

/// Number of samples that a target needs, as a function of the batch. A sample is a sequence or a token, as the batch
/// counts. All functions below throw InputError{usage} when a member or a batch is not above zero; `critical` may be
/// infinite.
struct BatchLaw {
    double critical = 0.0;       ///< Bc, the critical batch size
    double fewest_samples = 0.0; ///< E_min, needed in the limit of a small batch
};

/// Samples to the target at batch B.
///
///     E = E_min (1 + B/Bc)
///
/// Holds for:  one model, data set and target loss; the learning rate is tuned for each B.
/// Assumes:    the noise of the gradient is averaged over the batch and stays about the same while training; in fact
///             Bc grows as the loss falls.
/// Source:     [McCandlish2018]
double samples_needed(BatchLaw const& law, double batch);

/// Optimizer steps to the target at batch B.
///
///     S = E/B = S_min (1 + Bc/B),   so that   (S/S_min - 1) (E/E_min - 1) = 1
///
/// Holds for:  as `samples_needed`.
/// Assumes:    as `samples_needed`.
/// Source:     [McCandlish2018]
double steps_needed(BatchLaw const& law, double batch);

/// Worth of one sample of a batch B against one of a small batch.
///
///     E_min / E = 1 / (1 + B/Bc)
///
/// One half at the critical batch size. Holds for: as `samples_needed`. Source: [McCandlish2018]
double sample_efficiency(double critical_batch, double batch);

/// Time to the target when a step of batch B takes `step`: step x `steps_needed`.
///
/// Errors:     those of `BatchLaw`, and a step that is negative or not finite.
/// Source:     [McCandlish2018]
Seconds time_to_target(Seconds step, double batch, BatchLaw const& law);

// ---- the noise of a gradient --------------------------------------------------------------------------------------

/// The squared length of a gradient averaged over a batch: itself an average over some steps.
struct GradientNorm {
    double batch = 0.0;
    double squared_norm = 0.0;
};

struct GradientNoise {
    double squared_gradient = 0.0; ///< |G|^2 of the true gradient
    double variance = 0.0;         ///< tr Sigma, of one sample's gradient
    /// B_noise = tr Sigma / |G|^2, an estimate of the critical batch size. Source: [McCandlish2018]
    [[nodiscard]] constexpr double scale() const { return variance / squared_gradient; }
};

/// True gradient and noise from the gradients of two batch sizes B and b.
///
///     E|G_B|^2 = |G|^2 + tr Sigma / B, so
///     |G|^2    = (B |G_B|^2 - b |G_b|^2) / (B - b)
///     tr Sigma = (|G_b|^2 - |G_B|^2) / (1/b - 1/B)
///
/// In data parallelism b is the batch of one rank and B that of all, so both are at hand before and after the
/// gradients are summed.
/// Holds for:  any two different sizes, in either order; the estimate is unbiased, its ratio is not quite.
/// Assumes:    samples are drawn independently; norms are averaged over enough steps.
/// Errors:     InputError{usage} when a batch is not above zero, a norm is negative or not finite, or both sizes are
///             equal; InputError{insufficient} when an estimate is negative, or |G|^2 zero: noise hides the gradient.
/// Source:     [McCandlish2018]
GradientNoise gradient_noise(GradientNorm const& one, GradientNorm const& other);

} // namespace headroom::training
