#include "headroom/training/critical_batch.hpp"

#include "base/quantity/demand.hpp"

#include "headroom/error.hpp"

namespace headroom::training {

namespace {

void check_batch(double batch) { demand_size(batch, "batch", "give the samples of a batch, e.g. 1024"); }

void check_critical(double critical) {
    demand_positive(critical, "critical batch", "give it in the samples of the batch, e.g. 2000");
}

void check(BatchLaw const& law) {
    check_critical(law.critical);
    demand_size(law.fewest_samples, "fewest samples", "give what a small batch needs to the target, e.g. 1e9");
}

void check(GradientNorm const& gradient) {
    check_batch(gradient.batch);
    demand_amount(gradient.squared_norm, "squared norm of a gradient", "give its mean over some steps");
}

/// Refuses an estimate that noise has carried below zero.
void check_estimate(bool usable, char const* problem) {
    if (usable) { return; }
    throw InputError{Fault::insufficient,
                     {.where = "noise scale",
                      .problem = problem,
                      .why = "the noise of the norms hides it",
                      .hint = "average the norms over more steps, or take batch sizes further apart"}};
}

} // namespace

double samples_needed(BatchLaw const& law, double batch) {
    check(law);
    check_batch(batch);
    return law.fewest_samples * (1.0 + batch / law.critical);
}

double steps_needed(BatchLaw const& law, double batch) { return samples_needed(law, batch) / batch; }

double sample_efficiency(double critical_batch, double batch) {
    check_critical(critical_batch);
    check_batch(batch);
    return 1.0 / (1.0 + batch / critical_batch);
}

Seconds time_to_target(Seconds step, double batch, BatchLaw const& law) {
    demand_amount(step.base(), "step", "give the time of one step, e.g. 5 s");
    return step * steps_needed(law, batch);
}

GradientNoise gradient_noise(GradientNorm const& one, GradientNorm const& other) {
    check(one);
    check(other);
    if (one.batch == other.batch) {
        throw InputError{Fault::usage,
                         {.where = "noise scale",
                          .problem = "both batch sizes are equal",
                          .why = "one size does not separate signal from noise",
                          .hint = "give the batch of one rank and that of all"}};
    }
    GradientNoise const noise{.squared_gradient = (one.batch * one.squared_norm - other.batch * other.squared_norm) /
                                                  (one.batch - other.batch),
                              .variance =
                                  (one.squared_norm - other.squared_norm) / (1.0 / one.batch - 1.0 / other.batch)};
    check_estimate(noise.squared_gradient > 0.0, "the estimate of the gradient is not above zero");
    check_estimate(noise.variance >= 0.0, "the estimate of the variance is below zero");
    return noise;
}

} // namespace headroom::training
