#include "support/training.hpp"

#include "headroom/training/extrapolation.hpp"
#include "headroom/training/prediction.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

using namespace headroom::training;

namespace {

TEST(Extrapolation, KindsHaveKeysOfTheirOwnAndWords) {
    std::set<std::string_view> keys;
    for (Extrapolation const kind : extrapolations) {
        EXPECT_TRUE(keys.insert(name_of(kind)).second) << name_of(kind);
        EXPECT_FALSE(words_of(kind).empty());
    }
}

Seen seen_on(Generation generation, std::string const& framework) {
    Experience const some{.hardware = {generation}, .frameworks = {framework}};
    return {.dense = some, .mixtures = some};
}

Question on_hopper(char const* model = "llama-3-70b", char const* framework = "megatron-core") {
    return training::question(training::catalog().model(model), training::catalog().cluster("dgx-h100"),
                              training::catalog().framework(framework), {.dp = 8},
                              {.sequence_length = 4096, .global_batch = 64});
}

TEST(Extrapolation, WordsNameTheRunsAndNoneThatWereNotMade) {
    Question question = on_hopper();
    // Expectation: hardware and framework were each measured, which need not have been in the same runs.
    EXPECT_EQ(evidence_words(question, Extrapolation::seen), "runs of hopper and runs of megatron-core");
    EXPECT_EQ(evidence_words(question, Extrapolation::seen, true),
              "runs of hopper, and of megatron-core on other hardware");
    EXPECT_EQ(evidence_words(question, Extrapolation::mixture, true),
              "runs of mixtures and hybrids on hopper, and with megatron-core on other hardware");
    EXPECT_EQ(evidence_words(question, Extrapolation::unseen_framework), "runs of hopper with other frameworks");
    EXPECT_EQ(evidence_words(question, Extrapolation::unseen_hardware), "runs on hardware other than hopper");
    question.strategy.offload = Offload::optimizer; // a reason of its own, on hardware that has been measured
    EXPECT_EQ(evidence_words(question, Extrapolation::unseen_hardware),
              "runs on hardware that was not fitted, as offload to the host was not");
    for (Extrapolation const kind : extrapolations) {
        std::string const words = evidence_words(question, kind);
        EXPECT_TRUE(words.starts_with("runs ")) << words;
        EXPECT_EQ(words.find("such software"), std::string::npos) << "nothing before it says which: " << words;
        EXPECT_EQ(words.find("this"), std::string::npos) << words;
    }
    Prediction prediction{.question = on_hopper()};
    EXPECT_EQ(evidence_words(prediction), "published runs of hopper and runs of megatron-core");
    prediction.warm = WarmEffect{.related = 2};
    EXPECT_EQ(evidence_words(prediction), "published runs and 2 measured steps") << "the interval is theirs, too";
}

TEST(Extrapolation, FollowsFromWhatMovedTheConstants) {
    Question const dense = on_hopper();
    EXPECT_EQ(extrapolation_of(dense, seen_on(Generation::hopper, "megatron-core")), Extrapolation::seen);
    EXPECT_EQ(extrapolation_of(dense, seen_on(Generation::hopper, "other")), Extrapolation::unseen_framework);
    EXPECT_EQ(extrapolation_of(dense, seen_on(Generation::volta, "megatron-core")), Extrapolation::unseen_hardware);
    EXPECT_EQ(extrapolation_of(dense, Seen{}), Extrapolation::unseen_hardware);
    EXPECT_EQ(extrapolation_of(dense, std::nullopt), Extrapolation::seen) << "a file that does not tell widens nothing";
}

TEST(Extrapolation, GuessesCountBeforeTheFrameworkAndAfterTheHardware) {
    Question guessed = on_hopper();
    guessed.assumptions.push_back({.field = "price", .value = "2", .reason = "median", .structural = false});
    EXPECT_EQ(extrapolation_of(guessed, seen_on(Generation::hopper, "megatron-core")), Extrapolation::seen);
    guessed.assumptions.push_back({.field = "tp", .value = "8", .reason = "fits", .structural = true});
    EXPECT_EQ(extrapolation_of(guessed, seen_on(Generation::hopper, "other")), Extrapolation::assumed);
    EXPECT_EQ(extrapolation_of(guessed, seen_on(Generation::volta, "other")), Extrapolation::unseen_hardware);
    EXPECT_EQ(extrapolation_of(guessed, std::nullopt), Extrapolation::assumed);
}

TEST(Extrapolation, AFrameworkThatNobodyNamedIsNeverSeen) {
    Question guessed = on_hopper();
    EXPECT_FALSE(framework_is_guessed(guessed));
    guessed.assumptions.push_back(
        {.field = "framework", .value = "megatron-core", .reason = "usual", .structural = false});
    EXPECT_TRUE(framework_is_guessed(guessed));
    EXPECT_EQ(extrapolation_of(guessed, seen_on(Generation::hopper, "megatron-core")),
              Extrapolation::guessed_framework);
}

TEST(Extrapolation, SoftwareThatUsersPutTogetherIsAKindOfItsOwn) {
    Question const trainer = on_hopper("llama-3-70b", "hf-trainer");
    EXPECT_EQ(extrapolation_of(trainer, seen_on(Generation::hopper, "hf-trainer")), Extrapolation::ordinary);
    Question offloaded = trainer;
    offloaded.strategy.offload = Offload::optimizer;
    EXPECT_EQ(extrapolation_of(offloaded, seen_on(Generation::hopper, "hf-trainer")), Extrapolation::ordinary_offload);
    Question alone = trainer;
    alone.strategy.dp = alone.strategy.tp = alone.strategy.pp = alone.strategy.cp = 1;
    EXPECT_EQ(extrapolation_of(alone, seen_on(Generation::hopper, "hf-trainer")), Extrapolation::ordinary_alone)
        << "nothing lies between";
}

TEST(Extrapolation, NoConstantDescribesAHost) {
    Question offloaded = on_hopper();
    offloaded.strategy.offload = Offload::optimizer;
    EXPECT_EQ(extrapolation_of(offloaded, seen_on(Generation::hopper, "megatron-core")),
              Extrapolation::unseen_hardware);
}

TEST(Extrapolation, NoConstantDescribesAnEncoder) {
    Question const both = on_hopper("nemo-t5-3b");
    EXPECT_EQ(extrapolation_of(both, seen_on(Generation::hopper, "megatron-core")), Extrapolation::unseen_hardware);
    EXPECT_EQ(evidence_words(both, Extrapolation::unseen_hardware),
              "runs on hardware that was not fitted, as encoders were not");
}

TEST(Extrapolation, MixturesAndStacksOfTheirOwnStandApart) {
    Question const mixture = on_hopper("mixtral-8x7b");
    Seen seen = seen_on(Generation::hopper, "megatron-core");
    EXPECT_EQ(extrapolation_of(mixture, seen), Extrapolation::mixture);
    Question guessed = mixture;
    guessed.assumptions.push_back(
        {.field = "framework", .value = "megatron-core", .reason = "usual", .structural = false});
    EXPECT_EQ(extrapolation_of(guessed, seen), Extrapolation::unseen_mixture) << "an assumed framework was not seen";
    seen.mixtures.frameworks.clear();
    EXPECT_EQ(extrapolation_of(mixture, seen), Extrapolation::unseen_mixture) << "dense runs tell nothing of experts";
    Question pictures = on_hopper("resnet-50", "mxnet-horovod");
    EXPECT_EQ(extrapolation_of(pictures, seen), Extrapolation::own_kernels);
    pictures.pace = 0.8;
    EXPECT_EQ(extrapolation_of(pictures, seen), Extrapolation::given_pace);
}

// ---- bands ----------------------------------------------------------------------------------------------------------

std::vector<Residual> rows(Extrapolation kind, std::string const& group, int count, double from, double to) {
    std::vector<Residual> residuals;
    for (int i = 0; i < count; ++i) {
        residuals.push_back({kind, group, group, from + (to - from) * i / std::max(1, count - 1)});
    }
    return residuals;
}

std::vector<Residual> operator+(std::vector<Residual> a, std::vector<Residual> const& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

TEST(ConformalBands, HoldTheShareOfWhatTheyWereMadeFrom) {
    // Expectation: of residuals that are spread evenly over -0.1 .. 0.1 the band of 90 % is -0.09 .. 0.09; one group
    // tells the middle of others no better than its own variance: sqrt(2) as far.
    auto const bands = conformal_bands(rows(Extrapolation::mixture, "a", 2001, -0.1, 0.1));
    ASSERT_EQ(bands.size(), 1u);
    auto const& band = bands.at(Extrapolation::mixture);
    double const lone = std::sqrt(2.0);
    EXPECT_NEAR(std::log(band.low), -0.09 * lone, 2e-4);
    EXPECT_NEAR(std::log(band.high), 0.09 * lone, 2e-4);
    EXPECT_NEAR(band.half_width(), std::exp(0.09 * lone), 2e-4);
    EXPECT_EQ(band.rows, 2001);
    EXPECT_EQ(band.sources, 1);
    auto const half = conformal_bands(rows(Extrapolation::mixture, "a", 2001, -0.1, 0.1), 0.5);
    EXPECT_NEAR(std::log(half.at(Extrapolation::mixture).high), 0.05 * lone, 2e-4);
}

TEST(ConformalBands, FewGroupsTellLessThanMany) {
    // Expectation: of g equal groups sqrt(1 + 1/g) as far as their residuals; of more than 9 groups the quantile of
    // 0.9 (1 + 1/g), which for residuals that are spread evenly lies at 0.09 (1 + 1/g). A group of few rows hardly counts.
    for (int const groups : {1, 2, 4, 8, 10, 25}) {
        std::vector<Residual> all;
        for (int g = 0; g < groups; ++g) {
            all = std::move(all) + rows(Extrapolation::mixture, "g" + std::to_string(g), 1001, -0.1, 0.1);
        }
        auto const band = conformal_bands(all).at(Extrapolation::mixture);
        double const more = 1.0 + 1.0 / groups;
        EXPECT_NEAR(std::log(band.high), 0.09 * (groups < 9 ? std::sqrt(more) : more), 3e-4) << groups;
        EXPECT_NEAR(band.low * band.high, 1.0, 1e-3) << groups;
    }
    auto const lone = rows(Extrapolation::mixture, "a", 2001, -0.1, 0.1);
    EXPECT_NEAR(conformal_bands(lone + rows(Extrapolation::mixture, "b", 2, 0.0, 0.0)).at(Extrapolation::mixture).high,
                conformal_bands(lone).at(Extrapolation::mixture).high, 1e-3);
}

TEST(ConformalBands, AreWiderTowardsTheSideOfTheErrors) {
    auto const band = conformal_bands(rows(Extrapolation::mixture, "a", 2001, 0.0, 0.2)).at(Extrapolation::mixture);
    double const lone = std::sqrt(2.0);
    EXPECT_NEAR(std::log(band.high), 0.5 * (0.19 + 0.18) * lone, 3e-4);
    EXPECT_NEAR(std::log(band.low), 0.5 * (0.01 - 0.18) * lone, 3e-4)
        << "half way to the other side: a new source may be off so";
    EXPECT_LE(band.low, 1.0);
}

TEST(ConformalBands, NoGroupOutvotesTheOthersAndFewRowsAreNotATable) {
    // Expectation: a table of 2000 good rows next to one of 60 bad ones weighs 45 to 6.7; a lone bad row weighs 0.2.
    auto const good = rows(Extrapolation::mixture, "a", 2000, -0.01, 0.01);
    auto const with =
        conformal_bands(good + rows(Extrapolation::mixture, "b", 60, 0.5, 0.5)).at(Extrapolation::mixture);
    EXPECT_GT(std::log(with.high), 0.4);
    auto const lone = conformal_bands(good + rows(Extrapolation::mixture, "b", 1, 0.5, 0.5)).at(Extrapolation::mixture);
    EXPECT_LT(std::log(lone.high), 0.011 * std::sqrt(2.0));
}

TEST(ConformalBands, FewRowsMakeNoBandAndTheNextKindStandsIn) {
    auto const bands = conformal_bands(rows(Extrapolation::seen, "a", 4, 0.0, 0.1) +
                                       rows(Extrapolation::unseen_hardware, "b", 50, -0.4, 0.4));
    EXPECT_FALSE(bands.contains(Extrapolation::seen));
    Band const far = bands.at(Extrapolation::unseen_hardware);
    for (Extrapolation const kind : extrapolations) { EXPECT_EQ(band_of(bands, kind), far) << name_of(kind); }
    EXPECT_EQ(band_of({}, Extrapolation::seen), Band{});
}

TEST(ConformalBands, KindsLendOnlyToThoseNear) {
    // Expectation: mixtures say nothing of dense runs, runs on another framework do.
    auto const near = rows(Extrapolation::seen, "a", 100, -0.05, 0.05);
    auto const alone = conformal_bands(near).at(Extrapolation::seen);
    EXPECT_EQ(conformal_bands(near + rows(Extrapolation::unseen_mixture, "b", 100, -1.0, 1.0)).at(Extrapolation::seen),
              alone);
    EXPECT_GT(conformal_bands(near + rows(Extrapolation::unseen_framework, "b", 100, -0.3, 0.3))
                  .at(Extrapolation::seen)
                  .half_width(),
              alone.half_width());
}

TEST(Predict, ItsIntervalIsTheBandOfItsKind) {
    CalibrationSet set = training::fitted();
    set.seen = seen_on(Generation::hopper, "megatron-core");
    set.bands = {{Extrapolation::seen, {.low = 0.9, .high = 1.2}},
                 {Extrapolation::unseen_framework, {.low = 0.8, .high = 1.5, .coverage = 0.8}}};
    auto const known = predict(on_hopper(), set);
    EXPECT_EQ(known.interval.kind, Extrapolation::seen);
    EXPECT_NEAR(known.interval.high / known.step(), 1.2, 1e-12);
    set.seen->dense.frameworks.clear();
    auto const unknown = predict(on_hopper(), set);
    EXPECT_EQ(unknown.interval.kind, Extrapolation::unseen_framework);
    EXPECT_EQ(unknown.step(), known.step());
    EXPECT_NEAR(unknown.interval.low / unknown.step(), 0.8, 1e-12);
    EXPECT_EQ(unknown.interval.coverage, 0.8);
}

} // namespace
} // namespace headroom
