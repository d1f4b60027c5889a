#include "support/training.hpp"

#include "headroom/error.hpp"
#include "headroom/training/memory_spread.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headroom::training {
namespace {

constexpr Bytes G = 1.0 * units::GiB;

TEST(MemorySpread, UncertainBytesAreThoseThatAreNoStateAndAShareOfTheState) {
    MemorySpread const spread{.state_share = 0.1, .seen = {}, .unseen = {}, .frameworks = {}};
    // 60 GiB of which 40 are state: 20 and a tenth of 40
    EXPECT_DOUBLE_EQ(uncertain_bytes(spread, 60.0 * G, 40.0 * G) / G, 24.0);
    EXPECT_EQ(uncertain_bytes({}, 30.0 * G, 40.0 * G), Bytes{});
}

TEST(MemorySpread, ProbabilitiesAreThoseOfStudentsT) {
    MemoryScale const scale{.below = 0.2, .above = 0.1};
    auto const within = [&](double limit) { return probability_within(scale, 50.0 * G, 20.0 * G, limit * G); };
    EXPECT_DOUBLE_EQ(within(50.0), 0.5);
    // Tables of t with 4 degrees of freedom: 2.132 at 95 %, 3.747 at 99 %. One unit is 2 GiB above, 4 GiB below.
    EXPECT_NEAR(within(50.0 + 2.0 * 2.1318), 0.95, 1e-4);
    EXPECT_NEAR(within(50.0 + 2.0 * 3.7469), 0.99, 1e-4);
    EXPECT_NEAR(within(50.0 - 4.0 * 2.1318), 0.05, 1e-4);
    EXPECT_EQ(probability_within({}, 50.0 * G, 20.0 * G, 50.0 * G), 1.0);
    EXPECT_EQ(probability_within({}, 50.0 * G, 20.0 * G, 49.0 * G), 0.0);
}

TEST(MemorySpread, TheIntervalHasBothTails) {
    MemoryScale const scale{.below = 0.2, .above = 0.1};
    auto const range = memory_range(scale, 50.0 * G, 20.0 * G);
    EXPECT_NEAR(range.low / G, 50.0 - 4.0 * 2.1318, 1e-3);
    EXPECT_NEAR(range.high / G, 50.0 + 2.0 * 2.1318, 1e-3);
    EXPECT_NEAR(margin_factor(scale, 0.95), 0.21318, 1e-5);
    EXPECT_NEAR(margin_factor(scale, 0.05), -0.42637, 1e-5);
    EXPECT_EQ(memory_range({.below = 9.0, .above = 1.0}, G, G).low, Bytes{}) << "no memory is below nothing";
}

/// `count` samples of a family, all with the same measured memory, predicted at 10 GiB of which none is state.
void add(std::vector<MemorySample>& samples, std::string const& family, int count, double measured,
         bool guessed = false) {
    for (int i = 0; i < count; ++i) {
        samples.push_back({.family = family,
                           .framework = guessed ? "default" : "known",
                           .guessed = guessed,
                           .measured = measured * G,
                           .predicted = 10.0 * G,
                           .state = {}});
    }
}

TEST(FitMemorySpread, FamiliesCountAlike) {
    // 100 runs that are 1 % above, and 2 runs of another family that are 40 % above: half the weight each.
    std::vector<MemorySample> samples;
    add(samples, "many", 100, 10.1);
    add(samples, "few", 2, 14.0);
    auto const spread = fit_memory_spread(samples);
    EXPECT_NEAR(spread.seen.above, 0.4 / 2.1318, 1e-4);
    EXPECT_EQ(spread.seen.rows, 102);
    EXPECT_EQ(spread.seen.families, 2);
    // The lower end: no run is below, so half of the way to the length of the other tail.
    EXPECT_NEAR(spread.seen.below, 0.2 / 2.1318, 1e-4);
}

TEST(FitMemorySpread, OneMoreFamilyIsHeldAsOftenAsTheIntervalSays) {
    // Nine families, the k-th 10 k % above. 90 % of nine is between the eighth and the ninth; nine of ten are held by the ninth.
    std::vector<MemorySample> samples;
    for (int k = 1; k <= 9; ++k) { add(samples, std::string(1, static_cast<char>('a' + k)), 1, 10.0 + k); }
    EXPECT_NEAR(fit_memory_spread(samples).seen.above, 0.9 / 2.1318, 1e-4);
}

TEST(FitMemorySpread, GuessedFrameworksAreNoSurerThanSeenOnes) {
    std::vector<MemorySample> samples;
    add(samples, "a", 5, 12.0);
    add(samples, "b", 4, 9.0);
    for (char const* family : {"c", "d", "e"}) { add(samples, family, 3, 16.0, true); }
    auto const spread = fit_memory_spread(samples);
    EXPECT_NEAR(spread.unseen.above, 0.6 / 2.1318, 1e-4);
    EXPECT_GE(spread.unseen.below, spread.seen.below);
    EXPECT_TRUE(spread.frameworks.contains("known"));
    EXPECT_FALSE(spread.frameworks.contains("default"));
    EXPECT_EQ(&spread.of("known", false), &spread.seen);
    EXPECT_EQ(&spread.of("known", true), &spread.unseen);
    EXPECT_EQ(&spread.of("other", false), &spread.unseen);
}

TEST(FitMemorySpread, OfTooFewGuessesAllSamplesSpeak) {
    std::vector<MemorySample> samples;
    add(samples, "a", 5, 15.0);
    add(samples, "b", 5, 10.0, true);
    auto const spread = fit_memory_spread(samples);
    EXPECT_EQ(spread.unseen.rows, 10);
    EXPECT_EQ(spread.unseen.above, spread.seen.above);
}

TEST(MemorySpreadFile, IsReadAsItWasWritten) {
    MemorySpread const spread{.state_share = 0.05,
                              .seen = {.below = 0.125, .above = 0.25, .rows = 7, .families = 3},
                              .unseen = {.below = 0.5, .above = 1.5, .rows = 9, .families = 4},
                              .frameworks = {"one", "two"}};
    EXPECT_EQ(io::read_memory_spread(io::write_memory_spread(spread, {"how it was made"}), "memory.toml"), spread);
    EXPECT_THROW(io::read_memory_spread(
                     "state_share = 2\n[seen]\nbelow = 1\nabove = 1\n[unseen]\nbelow = 1\nabove = 1\n", "memory.toml"),
                 InputError);
}

} // namespace
} // namespace headroom::training
