#include "headroom/training/critical_batch.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace headroom {

using namespace headroom::training;

namespace {

constexpr double slack = 1e-12;

/// A number spread evenly over the powers of ten between two bounds.
double spread(double low, double high) {
    double const share = *rc::gen::inRange(0, 1 << 20) / static_cast<double>(1 << 20);
    return low * std::pow(high / low, share);
}

BatchLaw any_law() { return {.critical = spread(1.0, 1e8), .fewest_samples = spread(1e6, 1e13)}; }

RC_GTEST_PROP(CriticalBatchProperty, StepsAndSamplesTradeOnAHyperbola, ()) {
    BatchLaw const law = any_law();
    double const batch = law.critical * spread(1e-3, 1e3); // nearer to the limits a difference to 1 loses its digits
    double const steps = steps_needed(law, batch) / (law.fewest_samples / law.critical) - 1.0;
    double const samples = samples_needed(law, batch) / law.fewest_samples - 1.0;
    RC_ASSERT(std::abs(steps * samples - 1.0) <= 1e-11);
}

RC_GTEST_PROP(CriticalBatchProperty, ALargerBatchSavesStepsAndCostsSamples, ()) {
    BatchLaw const law = any_law();
    double const batch = spread(1.0, 1e9), larger = batch * spread(1.0, 1e3);
    RC_ASSERT(steps_needed(law, larger) <= steps_needed(law, batch) * (1.0 + slack));
    RC_ASSERT(samples_needed(law, larger) >= samples_needed(law, batch));
    RC_ASSERT(steps_needed(law, batch) >= law.fewest_samples / law.critical * (1.0 - slack));
    RC_ASSERT(samples_needed(law, batch) >= law.fewest_samples);
    RC_ASSERT(sample_efficiency(law.critical, larger) <= sample_efficiency(law.critical, batch));
}

RC_GTEST_PROP(CriticalBatchProperty, EfficiencyIsAShareWithItsLimits, ()) {
    double const batch = spread(1.0, 1e9);
    double const efficiency = sample_efficiency(spread(1.0, 1e9), batch);
    RC_ASSERT(efficiency > 0.0);
    RC_ASSERT(efficiency < 1.0);
    RC_ASSERT(sample_efficiency(1e-30, batch) < 1e-29); // nothing to average: only the steps count
    RC_ASSERT(sample_efficiency(1e30, batch) == 1.0);   // all noise: every sample counts
}

RC_GTEST_PROP(CriticalBatchProperty, NoiseIsRecovered, ()) {
    double const squared = spread(1e-6, 1e6), variance = squared * spread(1e-2, 1e6);
    double const small = spread(1.0, 1e3), large = small * spread(2.0, 1e3);
    auto const norm = [&](double batch) {
        return GradientNorm{.batch = batch, .squared_norm = squared + variance / batch};
    };
    // Rounding of the norms is magnified where noise outweighs the gradient by far.
    double const tolerance = 1e-14 * (1.0 + variance / squared) * 10.0 + 1e-12 * large;
    RC_PRE(tolerance < 1e-3);
    GradientNoise const noise = gradient_noise(norm(small), norm(large));
    RC_ASSERT(std::abs(noise.squared_gradient / squared - 1.0) <= tolerance);
    RC_ASSERT(std::abs(noise.variance / variance - 1.0) <= tolerance);
    RC_ASSERT(std::abs(noise.scale() / (variance / squared) - 1.0) <= 3.0 * tolerance);
}

} // namespace
} // namespace headroom
