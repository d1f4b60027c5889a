#include "headroom/counter_random.hpp"
#include "headroom/probe/repeat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

namespace headroom::probe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

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
        now_ += seconds;
        double const kept = std::exp(-seconds / memory_);
        state_ = kept * state_ + std::sqrt(1.0 - kept * kept) * normal();
    }
    [[nodiscard]] RepeatWorld world() {
        return {[this] { return now_; }, [this] { return static_cast<std::int64_t>(now_ * 1e9); }, [] { return 0.5; }};
    }

private:
    double normal() {
        return std::sqrt(-2.0 * std::log(random_.uniform())) * std::cos(6.283185307179586 * random_.uniform());
    }

    CounterRandom random_;
    double wander_, memory_, noise_, state_, now_ = 0.0;
};

RepeatTask working_on(WanderingMachine& machine, std::size_t points) {
    return {.points = points, .measure_once = [&machine](std::uint32_t, std::stop_token const&) {
                return std::optional<double>{machine.time_of_work()};
            }};
}

struct Agreement {
    double of_repeats = 0.0;   ///< share of second runs whose median lies in the first run's interval
    double of_one_block = 0.0; ///< the same of one point measured at one go, by the interval of its median
};

Agreement agreement(double wander, double memory, double noise, RepeatOptions const& options) {
    constexpr int pairs = 150;
    Agreement share;
    for (int i = 0; i < pairs; ++i) {
        std::array<RepeatInterval, 2> runs;
        std::array<SampleSummary, 2> blocks;
        for (int run = 0; run < 2; ++run) {
            WanderingMachine machine{static_cast<std::uint64_t>(2 * i + run + 1), wander, memory, noise};
            runs[run] = *repeat_points(working_on(machine, 8), options, {}, {}, machine.world()).points[0].interval;
            std::vector<double> block;
            for (int k = 0; k < 30; ++k) { block.push_back(machine.time_of_work()); }
            blocks[run] = summarize(block);
        }
        share.of_repeats += runs[1].median >= runs[0].low && runs[1].median <= runs[0].high ? 1.0 / pairs : 0.0;
        share.of_one_block +=
            blocks[1].median >= blocks[0].low && blocks[1].median <= blocks[0].high ? 1.0 / pairs : 0.0;
    }
    return share;
}

TEST(Repeat, NineOfTenRepeatsLieInTheStatedIntervalOfAMachineThatWanders) {
    // Rounds take 0.6 to 2 s and a run at least 20 s. The machine's speed changes by 3 % over seconds: much faster than a
    // round, about as fast, and slower, so that neighbouring rounds are alike.
    RepeatOptions const options{.seconds = 60.0, .least_half_width = 0.0};
    for (double const memory : {0.05, 1.0, 4.0}) {
        auto const share = agreement(0.03, memory, 0.01, options);
        EXPECT_GE(share.of_repeats, 0.9) << "memory of " << memory << " s";
        if (memory >= 1.0) { EXPECT_LT(share.of_one_block, 0.6) << memory; } // what rounds are for
    }
}

TEST(Repeat, SoDoThoseOfASteadyMachine) {
    RepeatOptions const options{.seconds = 60.0, .least_half_width = 0.0};
    EXPECT_GE(agreement(0.0, 1.0, 0.02, options).of_repeats, 0.9);
}

TEST(Repeat, AFewRoundsStateAWiderIntervalAndNoLess) {
    RepeatOptions const options{.width = 0.0, .least_rounds = 3, .most_rounds = 3, .least_half_width = 0.0};
    EXPECT_GE(agreement(0.03, 0.2, 0.01, options).of_repeats, 0.9);
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

TEST(RoundMedians, ARoundBeginsWithAWarmUp) {
    auto const sample = [](std::uint32_t point, double value, SampleOutcome outcome) {
        return Sample{.point = point, .value = value, .outcome = outcome};
    };
    auto const warm = SampleOutcome::warm_up, measured = SampleOutcome::measured, failed = SampleOutcome::failed;
    std::vector<Sample> const samples{sample(0, 9, warm),     sample(0, 1, measured), sample(1, 50, measured),
                                      sample(0, 2, measured), sample(0, 3, measured), sample(0, 9, warm),
                                      sample(0, 9, warm),     sample(0, 0, failed),   sample(0, 7, measured)};
    EXPECT_THAT(round_medians(samples, 0), ElementsAre(2.0, 7.0));
    EXPECT_THAT(round_medians(samples, 1), ElementsAre(50.0));
    EXPECT_TRUE(round_medians(samples, 2).empty());
}

TEST(Repeat, EveryRoundVisitsEveryPointInAnOrderDrawnAnew) {
    WanderingMachine machine{1, 0.0, 1.0, 0.0};
    std::vector<Sample> samples;
    int before = 0;
    auto task = working_on(machine, 6);
    task.before_round = [&before] { ++before; };
    RepeatOptions const options{.width = 0.0, .least_seconds = 0.0, .most_rounds = 5, .in_round = 2, .seed = 3};
    auto const report = repeat_points(
        task, options, [&](Sample const& sample) { samples.push_back(sample); }, {}, machine.world());
    EXPECT_EQ(report.rounds, 5);
    EXPECT_EQ(before, 5);
    EXPECT_DOUBLE_EQ(report.most_load, 0.5);
    std::set<std::vector<std::uint32_t>> orders;
    std::vector<std::uint32_t> order;
    int counted = 0;
    for (Sample const& sample : samples) {
        if (sample.outcome != SampleOutcome::measured || ++counted % 2 == 1) { continue; } // two a visit
        order.push_back(sample.point);
        if (order.size() == 6) { orders.insert(std::exchange(order, {})); }
    }
    EXPECT_GT(orders.size(), 3U);
    for (auto const& one : orders) { EXPECT_EQ(std::set<std::uint32_t>(one.begin(), one.end()).size(), 6U); }
    std::map<std::uint32_t, std::uint32_t> next;
    for (Sample const& sample : samples) { EXPECT_EQ(sample.repetition, next[sample.point]++); }
}

TEST(Repeat, TheSameSeedDrawsTheSameOrder) {
    auto const points_of = [](std::uint64_t seed) {
        WanderingMachine machine{1, 0.0, 1.0, 0.0};
        std::vector<std::uint32_t> points;
        RepeatOptions const options{.least_seconds = 0.0, .most_rounds = 2, .seed = seed};
        repeat_points(
            working_on(machine, 9), options, [&](Sample const& sample) { points.push_back(sample.point); }, {},
            machine.world());
        return points;
    };
    EXPECT_EQ(points_of(4), points_of(4));
    EXPECT_NE(points_of(4), points_of(5));
}

TEST(Repeat, TimeOverEndsItAndTheFirstRoundIsWhole) {
    WanderingMachine machine{1, 0.5, 1.0, 0.5};
    RepeatOptions options{.width = 0.001, .seconds = 30.0};
    auto const report = repeat_points(working_on(machine, 5), options, {}, {}, machine.world());
    EXPECT_GE(report.seconds, 30.0);
    EXPECT_LT(report.seconds, 30.5); // not a visit longer
    EXPECT_THAT(report.points[0].remarks, Contains(HasSubstr(" rounds, 0.1 % was asked")));
    options.seconds = 0.0;
    auto const once = repeat_points(working_on(machine, 5), options, {}, {}, machine.world());
    EXPECT_EQ(once.rounds, 1);
    for (auto const& point : once.points) {
        ASSERT_TRUE(point.interval);
        EXPECT_EQ(point.interval->coverage, 0.0);
        EXPECT_THAT(point.remarks, Contains(HasSubstr("one round")));
    }
}

TEST(Repeat, WarmsUpUntilTwoAgreeOrABound) {
    double now = 0.0, value = 64.0;
    std::vector<Sample> samples;
    RepeatTask const settling{.points = 1, .measure_once = [&](std::uint32_t, std::stop_token const&) {
                                  now += 0.01;
                                  value = std::max(value / 2.0, 1.0);
                                  return std::optional<double>{value};
                              }};
    RepeatWorld const world{[&] { return now; }, [] { return std::int64_t{0}; }, [] { return 0.0; }};
    RepeatOptions const options{.least_seconds = 0.0, .most_rounds = 1, .most_warm_ups = 20};
    auto const sink = [&](Sample const& sample) { samples.push_back(sample); };
    auto const report = repeat_points(settling, options, sink, {}, world);
    ASSERT_EQ(samples.size(), 7U + 3U); // 32, 16, 8, 4, 2, 1, 1 and three that count
    EXPECT_EQ(samples[6].outcome, SampleOutcome::warm_up);
    EXPECT_EQ(samples[7].outcome, SampleOutcome::measured);
    EXPECT_DOUBLE_EQ(report.points[0].interval->median, 1.0);
    samples.clear();
    RepeatTask const restless{.points = 1, .measure_once = [&](std::uint32_t, std::stop_token const&) {
                                  return std::optional<double>{now += 1.0};
                              }};
    repeat_points(restless, {.least_seconds = 0.0, .most_rounds = 1, .most_warm_ups = 4, .settled = 0.0}, sink, {},
                  world);
    EXPECT_EQ(samples.size(), 4U + 3U);
}

TEST(Repeat, AStopEndsItWhereItIs) {
    WanderingMachine machine{1, 0.0, 1.0, 0.0};
    std::stop_source stop;
    int calls = 0;
    RepeatTask task{.points = 3, .measure_once = {}};
    task.measure_once = [&](std::uint32_t, std::stop_token token) -> std::optional<double> {
        if (++calls == 20) { stop.request_stop(); }
        if (token.stop_requested()) { return std::nullopt; }
        return machine.time_of_work();
    };
    int kept = 0;
    auto const report = repeat_points(
        task, {}, [&](Sample const&) { ++kept; }, stop.get_token(), machine.world());
    EXPECT_TRUE(report.stopped);
    EXPECT_EQ(kept, 19); // the one in flight is not kept
    EXPECT_EQ(calls, 20);
}

TEST(Repeat, WhatFailsIsToldAndLeftAlone) {
    WanderingMachine machine{1, 0.0, 1.0, 0.0};
    RepeatTask task{.points = 3, .measure_once = {}};
    task.measure_once = [&](std::uint32_t point, std::stop_token const&) -> std::optional<double> {
        double const value = machine.time_of_work();
        if (point == 1) { throw std::runtime_error{"no such cable"}; }
        return point == 2 ? std::numeric_limits<double>::quiet_NaN() : value;
    };
    std::vector<Sample> samples;
    RepeatOptions const options{.least_seconds = 0.0, .most_failures = 2};
    auto const report = repeat_points(
        task, options, [&](Sample const& sample) { samples.push_back(sample); }, {}, machine.world());
    EXPECT_TRUE(report.points[0].narrow);
    EXPECT_FALSE(report.points[1].interval);
    EXPECT_THAT(report.points[1].remarks, ElementsAre("2 repetitions failed: no such cable", "not measured"));
    std::map<SampleOutcome, int> outcomes;
    for (Sample const& sample : samples) { ++outcomes[sample.outcome]; }
    EXPECT_EQ(outcomes[SampleOutcome::failed], 2);
    EXPECT_EQ(outcomes[SampleOutcome::unreadable], 2);
    EXPECT_GE(outcomes[SampleOutcome::measured], 9 * 3);
}

TEST(Repeat, GoesOnWhereItWasInterrupted) {
    WanderingMachine machine{1, 0.0, 1.0, 0.001};
    std::vector<Sample> samples;
    auto const sink = [&](Sample const& sample) { samples.push_back(sample); };
    RepeatOptions const five{.least_seconds = 0.0, .most_rounds = 5};
    auto task = working_on(machine, 2);
    repeat_points(task, five, sink, {}, machine.world());
    task.earlier = samples;
    auto const report = repeat_points(task, {.least_seconds = 0.0, .least_worth = 0.0}, sink, {}, machine.world());
    EXPECT_EQ(report.rounds, 4); // nine in all
    EXPECT_EQ(report.points[0].interval->rounds, 9U);
    EXPECT_EQ(round_medians(samples, 0).size(), 9U);
    std::map<std::uint32_t, std::uint32_t> next;
    for (Sample const& sample : samples) { EXPECT_EQ(sample.repetition, next[sample.point]++); }
    task.earlier = samples;
    EXPECT_EQ(repeat_points(task, {.least_worth = 0.0}, sink, {}, machine.world()).rounds, 0); // all is narrow
}

TEST(Repeat, ADriftFallsOnAllPointsAlikeAndIsTold) {
    // The machine loses half a percent of its speed a second; points of equal work come out equal.
    double now = 0.0;
    RepeatTask const task{.points = 10, .measure_once = [&now](std::uint32_t, std::stop_token const&) {
                              now += 0.02;
                              return std::optional<double>{1.0 + 0.005 * now};
                          }};
    RepeatWorld const world{[&] { return now; }, [] { return std::int64_t{0}; }, [] { return 0.0; }};
    auto const report = repeat_points(task, {.width = 0.001, .seconds = 40.0}, {}, {}, world);
    for (auto const& point : report.points) {
        EXPECT_NEAR(point.interval->median / report.points[0].interval->median, 1.0, 0.01);
        EXPECT_THAT(point.remarks, Contains(HasSubstr("rose by 1")));
        EXPECT_GT(point.interval->round_likeness, 0.5);
    }
}

TEST(Repeat, NoPointsAreNoRounds) {
    auto const report = repeat_points({.points = 0, .measure_once = {}}, {}, {});
    EXPECT_EQ(report.rounds, 0);
    EXPECT_TRUE(report.points.empty());
}

} // namespace
} // namespace headroom::probe
