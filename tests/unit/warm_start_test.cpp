#include "support/training.hpp"

#include "headroom/training/warm_start.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::training;

namespace {

constexpr Likeness likeness{
    .site = 0.04, .model = 0.01, .workload = 0.01, .layout = 0.01, .replica = 0.02, .noise = 0.01};

StepTraits traits(std::string site, std::string replica = "tp8") {
    return {.site = std::move(site), .model = "m", .workload = "w", .layout = "l", .replica = std::move(replica)};
}

MeasuredStep step(StepTraits of, double log_factor, double excess = 0.0) {
    MeasuredStep one;
    one.traits = std::move(of);
    one.log_factor = log_factor;
    one.excess = excess;
    return one;
}

TEST(WarmPosterior, OneStepByHand) {
    // Expectation: all but the noise is shared: 0.09 of 0.10, so 0.9 of the factor; the variance left is
    // 0.10 - 0.09^2 / 0.10 = 0.019. With another replica 0.07 is shared: 0.7 of it.
    std::vector const steps{step(traits("a"), 0.2)};
    auto const same = warm_posterior(traits("a"), steps, likeness);
    EXPECT_EQ(same.related, 1);
    EXPECT_NEAR(same.log_factor, 0.18, 1e-12);
    EXPECT_NEAR(same.narrowing, std::sqrt(0.19), 1e-12);
    EXPECT_NEAR(warm_posterior(traits("a", "tp4"), steps, likeness).log_factor, 0.14, 1e-12);
}

TEST(WarmPosterior, AnotherSiteSaysNothing) {
    auto const other = warm_posterior(traits("b"), std::vector{step(traits("a"), 0.2)}, likeness);
    EXPECT_EQ(other.related, 0);
    EXPECT_EQ(other.log_factor, 0.0);
    EXPECT_EQ(other.narrowing, 1.0);
}

TEST(WarmPosterior, RepeatsAreWeighedTogether) {
    // Expectation: two repeats have the mean 0.2 with half the noise: 0.09 / (0.09 + 0.005) of it.
    std::vector const steps{step(traits("a"), 0.1), step(traits("a"), 0.3)};
    EXPECT_NEAR(warm_posterior(traits("a"), steps, likeness).log_factor, 0.2 * 0.09 / 0.095, 1e-12);
}

TEST(WarmPosterior, TheFurtherOutsideTheLessItSays) {
    double before = 1.0, narrowing = 0.0;
    for (double const excess : {0.0, 0.1, 0.5, 2.0}) {
        auto const now = warm_posterior(traits("a"), std::vector{step(traits("a"), 0.3, excess)}, likeness);
        EXPECT_LT(now.log_factor, before);
        EXPECT_GT(now.narrowing, narrowing);
        before = now.log_factor;
        narrowing = now.narrowing;
    }
    EXPECT_LT(before, 0.01);
}

TEST(LikenessOf, FindsTheVariancesThatMadeTheResiduals) {
    // Expectation: 60 sources with effects of known spread; each standard deviation is found within a third.
    std::mt19937 engine{7};
    auto const draw = [&](double deviation) { return std::normal_distribution<double>{0.0, deviation}(engine); };
    std::vector<LeftOutResidual> residuals;
    for (int s = 0; s < 60; ++s) {
        std::string const source = std::to_string(s);
        double const site = draw(0.15);
        std::vector<double> models{draw(0.08), draw(0.08), draw(0.08)};
        for (int i = 0; i < 15; ++i) {
            double const replica = draw(0.06);
            for (int repeat = 0; repeat < 2; ++repeat) {
                residuals.push_back({source,
                                     {source, std::to_string(i % 3), "w", "l", std::to_string(i)},
                                     site + models[static_cast<std::size_t>(i % 3)] + replica + draw(0.03)});
            }
        }
    }
    auto const found = likeness_of(residuals, false);
    EXPECT_EQ(found.sources, 60);
    EXPECT_NEAR(std::sqrt(found.site), 0.15, 0.05);
    EXPECT_NEAR(std::sqrt(found.model), 0.08, 0.027);
    EXPECT_NEAR(std::sqrt(found.replica), 0.06, 0.02);
    EXPECT_NEAR(std::sqrt(found.noise), 0.03, 0.01);
    EXPECT_EQ(likeness_of(residuals, false, "3").sources, 59);
    EXPECT_EQ(likeness_of(residuals, true).pairs, 0) << "there are no mixtures";
}

Question question(int dp) {
    return training::question(training::catalog().model("llama-3-8b"), training::catalog().cluster("dgx-h100"),
                              training::catalog().framework("megatron-core"), {.dp = dp, .zero = 1},
                              {.sequence_length = 4096, .global_batch = 8 * dp});
}

TEST(CalibrationFile, KeepsLikenessAndMeasuredSteps) {
    // Expectation: what is written is read again, a measured step is no constant, and likeness comes from below a
    // partial file.
    auto const& set = training::fitted();
    EXPECT_GT(set.warm.dense.noise, 0.0);
    auto const again = io::read_calibration(io::write_calibration(set, {}), "again.toml");
    EXPECT_EQ(again.warm.dense.site, set.warm.dense.site);
    EXPECT_EQ(again.warm.mixtures.replica, set.warm.mixtures.replica);
    io::MeasuredEntry const entry{.words = {{"model", "llama-3-8b"}, {"step_seconds", "6.9"}}, .place = {}};
    auto const text = "partial = true\n" + io::written_measured_entry(entry) + io::written_measured_entry(entry);
    EXPECT_EQ(io::read_calibration(text, "mine.toml", set).warm.dense.site, set.warm.dense.site);
    auto const entries = io::read_measured_entries(text, "mine.toml");
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[1].words, entry.words);
    EXPECT_EQ(entries[0].place, "mine.toml:4");
}

TEST(WarmStart, SharpensALargerRunOfTheSame) {
    // Expectation: a run that was 10 % slower than predicted makes one on more machines slower, by less than that; its
    // parts still add up, its interval is narrower, and what it computes in a step is the same.
    auto set = training::fitted();
    auto const before = predict(question(64), set);
    auto const small = predict(question(8), set);
    set.warm.steps.push_back(measured_step(question(8), small.step() * 1.1, set, "measured"));
    EXPECT_EQ(set.warm.steps.front().excess, 0.0);
    auto const after = predict(question(64), set);
    ASSERT_TRUE(after.warm);
    EXPECT_GT(after.warm->factor, 1.05);
    EXPECT_LT(after.warm->factor, 1.1);
    EXPECT_NEAR(after.step() / before.step(), after.warm->factor, 1e-12);
    EXPECT_NEAR(after.mfu * after.warm->factor, before.mfu, 1e-12);
    EXPECT_LT(after.interval.high / after.interval.low, before.interval.high / before.interval.low);
    EXPECT_EQ(after.warm->step_before.base(), before.step().base());
    EXPECT_EQ(after.model_flops.base(), before.model_flops.base());
    set.warm = of_any_plan(set.warm);
    auto const any = predict(question(64), set);
    EXPECT_GT(any.warm->factor, 1.0);
    EXPECT_LT(any.warm->factor, after.warm->factor);
}

TEST(WarmStart, ABadStepIsClippedAndOtherMachinesAreLeftAlone) {
    auto set = training::fitted();
    auto const small = predict(question(8), set);
    set.warm.steps.push_back(measured_step(question(8), small.step() * 5.0, set, "wrong by five"));
    // Expectation: the wider of its interval and of what 95 % of all steps differ by.
    double const of_interval = std::log(small.interval.high / small.step());
    EXPECT_NEAR(set.warm.steps.front().log_factor, std::max(of_interval, 1.96 * std::sqrt(set.warm.dense.total())),
                1e-12);
    auto const after = predict(question(64), set);
    EXPECT_EQ(after.warm->outside, 1);
    EXPECT_LT(after.warm->factor, 1.05) << "what lies far outside says next to nothing";
    auto elsewhere = question(64);
    elsewhere.cluster = training::catalog().cluster("dgx-a100");
    EXPECT_FALSE(predict(elsewhere, set).warm);
}

} // namespace
} // namespace headroom
