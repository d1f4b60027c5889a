#include "headroom/counter_random.hpp"
#include "headroom/measure/repeat_interval.hpp"
#include "headroom/sample_statistics.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace headroom {

using namespace headroom::measure;

namespace {

/// A machine whose time is counted, not waited for. Its speed wanders: a first-order process of a given memory.
class WanderingMachine {
public:
    WanderingMachine(std::uint64_t seed, double wander, double memory, double noise)
        : random_{seed}, wander_{wander}, memory_{memory}, noise_{noise}, state_{normal()} {}

    /// One repetition of 20 ms, now and then one that another program disturbs.
    double time_of_work() {
        pass(0.02);
        double const disturbed = random_.uniform() < 0.05 ? 1.0 + random_.exponential() : 1.0;
        return (1.0 + wander_ * state_) * (1.0 + noise_ * std::abs(normal())) * disturbed;
    }
    void pass(double seconds) {
        double const kept = std::exp(-seconds / memory_);
        state_ = kept * state_ + std::sqrt(1.0 - kept * kept) * normal();
    }

private:
    double normal() {
        return std::sqrt(-2.0 * std::log(random_.uniform())) * std::cos(6.283185307179586 * random_.uniform());
    }

    CounterRandom random_;
    double wander_, memory_, noise_, state_;
};

struct Agreement {
    double of_repeats = 0.0;   ///< share of second runs whose median lies in the first run's interval
    double of_one_block = 0.0; ///< share of second medians in the interval of one point measured at one go
};

/// A run takes a point once a round; between its turns others are measured, for so many seconds.
Agreement agreement(double wander, double memory, double noise, int rounds, double between) {
    constexpr int pairs = 200;
    Agreement share;
    for (int i = 0; i < pairs; ++i) {
        std::array<RepeatInterval, 2> runs;
        std::array<SampleSummary, 2> blocks;
        for (int run = 0; run < 2; ++run) {
            WanderingMachine machine{static_cast<std::uint64_t>(2 * i + run + 1), wander, memory, noise};
            std::vector<double> spread, block;
            for (int round = 0; round < rounds; ++round) {
                spread.push_back(machine.time_of_work());
                machine.pass(between);
            }
            for (int k = 0; k < rounds; ++k) { block.push_back(machine.time_of_work()); }
            runs[run] = repeat_interval(spread, 0.0);
            blocks[run] = summarize(block);
        }
        share.of_repeats += runs[1].median >= runs[0].low && runs[1].median <= runs[0].high ? 1.0 / pairs : 0.0;
        share.of_one_block +=
            blocks[1].median >= blocks[0].low && blocks[1].median <= blocks[0].high ? 1.0 / pairs : 0.0;
    }
    return share;
}

TEST(Repeat, NineOfTenLieInTheStatedIntervalOfAMachineThatWanders) {
    // Rounds of 2 s, 10 to 30 of them: the machine's speed changes by 3 % over seconds: much faster than a round, about as
    // fast, and slower, so that neighbouring rounds are alike.
    for (double const memory : {0.05, 1.0, 4.0}) {
        auto const share = agreement(0.03, memory, 0.01, 30, 2.0);
        EXPECT_GE(share.of_repeats, 0.9) << "memory of " << memory << " s";
        if (memory >= 1.0) { EXPECT_LT(share.of_one_block, 0.6) << memory; } // what rounds are for
    }
    EXPECT_GE(agreement(0.03, 1.0, 0.01, 10, 2.0).of_repeats, 0.9);
}

TEST(Repeat, SoDoThoseOfASteadyMachine) { EXPECT_GE(agreement(0.0, 1.0, 0.02, 30, 2.0).of_repeats, 0.9); }

TEST(Repeat, AFewRoundsStateAWiderIntervalAndNoLess) {
    EXPECT_GE(agreement(0.03, 0.2, 0.01, 3, 2.0).of_repeats, 0.9);
    EXPECT_GE(agreement(0.03, 0.2, 0.01, 6, 2.0).of_repeats, 0.9);
}

TEST(RepeatInterval, IsWidenedByTheLikenessOfNeighbours) {
    // Twelve rounds in four steps: c_1 = 3/4, c_1 + (1 + 3 c_1) / 12 is above 1: r is the most there is.
    std::vector<double> const rising{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}, mixed{1, 4, 2, 3, 1, 4, 2, 3, 1, 4, 2, 3};
    auto const like = repeat_interval(rising, 0.0), unlike = repeat_interval(mixed, 0.0);
    EXPECT_DOUBLE_EQ(like.median, unlike.median);
    EXPECT_EQ(unlike.round_likeness, 0.0);
    EXPECT_DOUBLE_EQ(unlike.low, 1.0); // of twelve rounds the first and the last in order
    EXPECT_DOUBLE_EQ(unlike.high, 4.0);
    EXPECT_DOUBLE_EQ(like.round_likeness, 0.95);
    EXPECT_DOUBLE_EQ(like.worth(), 12.0 * 0.05 / 1.95);
    EXPECT_GT(like.high - like.low, 5.0 * (unlike.high - unlike.low));
    EXPECT_DOUBLE_EQ(like.coverage, 0.95);
}

TEST(RepeatInterval, OfThreeRoundsIsStudents) {
    std::vector<double> const rounds{10, 9, 11};
    auto const interval = repeat_interval(rounds, 0.0);
    EXPECT_NEAR(interval.high, 10.0 + 4.3027 * std::sqrt(3.14159265358979 / 3.0), 1e-3); // s is 1
}

TEST(RepeatInterval, OfOneRoundSaysThatItCoversNothing) {
    std::vector<double> const one{4.0};
    auto const interval = repeat_interval(one, 0.01);
    EXPECT_EQ(interval.coverage, 0.0);
    EXPECT_DOUBLE_EQ(interval.low, 3.96);
    EXPECT_NEAR(interval.width(), 0.02, 1e-12);
}

TEST(RepeatInterval, OfEqualRoundsIsWhatRunsDifferByAtLeast) {
    std::vector<double> const same(20, 8.0);
    auto const interval = repeat_interval(same, 0.01);
    EXPECT_DOUBLE_EQ(interval.low, 7.92);
    EXPECT_DOUBLE_EQ(interval.high, 8.08);
    EXPECT_EQ(repeat_interval(same, 0.0).width(), 0.0);
}

TEST(RepeatInterval, ScalesWithTheUnit) {
    CounterRandom random{5};
    for (int i = 0; i < 200; ++i) {
        std::vector<double> rounds, scaled;
        for (int k = 1 + random.below(30); k > 0; --k) { rounds.push_back(1.0 + random.uniform()); }
        for (double const value : rounds) { scaled.push_back(value * 1024.0); }
        auto const a = repeat_interval(rounds), b = repeat_interval(scaled);
        EXPECT_DOUBLE_EQ(a.low * 1024.0, b.low);
        EXPECT_DOUBLE_EQ(a.high * 1024.0, b.high);
        EXPECT_LE(a.low, a.median);
        EXPECT_GE(a.high, a.median);
    }
}

} // namespace
} // namespace headroom
