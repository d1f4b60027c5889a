#include "headroom/error.hpp"
#include "headroom/training/critical_batch.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace headroom {

using namespace headroom::training;

namespace {

using namespace units;

constexpr double infinity = std::numeric_limits<double>::infinity();

BatchLaw const law{.critical = 1000.0, .fewest_samples = 2e6};

template <class Call> std::string refusal(Call const& call, Fault fault = Fault::usage) {
    try {
        call();
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), fault);
        EXPECT_NE(error.text().hint, "") << error.what();
        return error.what();
    }
    return "accepted";
}

TEST(CriticalBatch, DoublesStepsAndSamples) {
    // Expectation: at Bc both are twice their minimum: 2 x 2000 steps of 1000 are 2 x 2 million samples.
    EXPECT_EQ(steps_needed(law, 1000.0), 4000.0);
    EXPECT_EQ(samples_needed(law, 1000.0), 4e6);
    EXPECT_EQ(sample_efficiency(1000.0, 1000.0), 0.5);
}

TEST(CriticalBatch, TradesStepsForSamples) {
    // Expectation: at three times Bc a third more steps than the fewest, four times the samples.
    EXPECT_DOUBLE_EQ(steps_needed(law, 3000.0), 2000.0 * 4.0 / 3.0);
    EXPECT_EQ(samples_needed(law, 3000.0), 8e6);
    EXPECT_EQ(sample_efficiency(1000.0, 3000.0), 0.25);
    // Expectation: without noise to average every sample counts in full, and steps fall as 1/B.
    EXPECT_EQ(sample_efficiency(infinity, 3000.0), 1.0);
    EXPECT_EQ(steps_needed({.critical = infinity, .fewest_samples = 6e6}, 3000.0), 2000.0);
}

TEST(CriticalBatch, TimeToTarget) {
    // Expectation: 4000 steps of 2 s.
    EXPECT_EQ(time_to_target(2.0 * s, 1000.0, law), 8000.0 * s);
    EXPECT_EQ(refusal([] { time_to_target(-2.0 * s, 1000.0, law); }),
              "step: below zero. give the time of one step, e.g. 5 s");
}

TEST(CriticalBatch, RefusesWhatIsNoBatch) {
    EXPECT_EQ(refusal([] { samples_needed(law, 0.0); }),
              "batch: not above zero. give the samples of a batch, e.g. 1024");
    EXPECT_EQ(refusal([] { samples_needed({.critical = 0.0, .fewest_samples = 1.0}, 1.0); }),
              "critical batch: not above zero. give it in the samples of the batch, e.g. 2000");
    EXPECT_NE(refusal([] { steps_needed({.critical = 1.0, .fewest_samples = -1.0}, 1.0); }), "accepted");
    EXPECT_NE(refusal([] { sample_efficiency(1.0, infinity); }), "accepted");
}

TEST(GradientNoise, FollowsFromTwoNorms) {
    // Expectation: |G|^2 = 4 and tr Sigma = 800 give 4 + 800/10 = 84 at batch 10, 4 + 800/200 = 8 at batch 200.
    GradientNoise const noise = gradient_noise({.batch = 10, .squared_norm = 84}, {.batch = 200, .squared_norm = 8});
    EXPECT_NEAR(noise.squared_gradient, 4.0, 1e-12);
    EXPECT_NEAR(noise.variance, 800.0, 1e-10);
    EXPECT_NEAR(noise.scale(), 200.0, 1e-9);
    // Expectation: the order of the two does not matter.
    GradientNoise const same = gradient_noise({.batch = 200, .squared_norm = 8}, {.batch = 10, .squared_norm = 84});
    EXPECT_EQ(same.scale(), noise.scale());
    // Expectation: equal norms are a gradient without noise.
    EXPECT_EQ(gradient_noise({.batch = 10, .squared_norm = 4}, {.batch = 20, .squared_norm = 4}).scale(), 0.0);
}

TEST(GradientNoise, RefusesWhatCannotBeToldApart) {
    EXPECT_EQ(refusal([] { gradient_noise({.batch = 10, .squared_norm = 4}, {.batch = 10, .squared_norm = 3}); }),
              "noise scale: both batch sizes are equal (one size does not separate signal from noise). "
              "give the batch of one rank and that of all");
    // Expectation: a norm that falls faster than 1/B leaves less than nothing for the gradient; one that rises leaves
    // less than nothing for the noise. Both say that more data are needed, not that the input is wrong.
    auto const all_noise = [] { gradient_noise({.batch = 10, .squared_norm = 84}, {.batch = 20, .squared_norm = 40}); };
    auto const rising = [] { gradient_noise({.batch = 10, .squared_norm = 4}, {.batch = 20, .squared_norm = 5}); };
    EXPECT_EQ(refusal(all_noise, Fault::insufficient),
              "noise scale: the estimate of the gradient is not above zero (the noise of the norms hides it). "
              "average the norms over more steps, or take batch sizes further apart");
    EXPECT_NE(refusal(rising, Fault::insufficient), "accepted");
    EXPECT_NE(refusal([] { gradient_noise({.batch = 0, .squared_norm = 4}, {.batch = 10, .squared_norm = 3}); }),
              "accepted");
    EXPECT_NE(refusal([] { gradient_noise({.batch = 1, .squared_norm = -4}, {.batch = 10, .squared_norm = 3}); }),
              "accepted");
}

} // namespace
} // namespace headroom
