#include "headroom/probe/roofline_bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace headroom::probe {
namespace {

using namespace headroom::measure;

/// A machine whose time passes where points say so, and nowhere else.
class RooflineSamples : public ::testing::Test {
protected:
    double clock = 0.0;
    std::stop_source stop;
    std::vector<TimedPoint> points;
    std::vector<Sample> kept;

    /// A point whose repetition takes so long, and the first one `first` longer.
    void add(std::string label, double seconds, double first = 0.0, bool essential = false) {
        points.push_back({.point = {std::move(label), {}, "seconds"}, .essential = essential});
        points.back().whole = [this, seconds, first, begun = false](std::stop_token const& token) mutable {
            clock += seconds + (begun ? 0.0 : first);
            begun = true;
            return token.stop_requested() ? std::nullopt : std::optional{seconds};
        };
    }

    RooflineSampling take(double budget, std::vector<Sample> const& earlier = {}) {
        RooflineTime const time{.budget_seconds = budget, .now = [this] { return clock; }};
        return take_samples(
            points, time, 1, earlier, [this](Sample const& one) { kept.push_back(one); }, [](double) {},
            stop.get_token());
    }

    [[nodiscard]] std::map<std::uint32_t, int> counts() const {
        std::map<std::uint32_t, int> found;
        for (Sample const& one : kept) { found[one.point] += one.outcome == SampleOutcome::measured ? 1 : 0; }
        return found;
    }
};

TEST_F(RooflineSamples, EndWithinTheBudgetSetUpIncluded) {
    clock = 3.0; // set-up took that long
    for (int i = 0; i < 10; ++i) { add("point " + std::to_string(i), 0.05, 0.2); }
    RooflineSampling const done = take(10.0);
    EXPECT_FALSE(done.interrupted);
    EXPECT_TRUE(done.left_out.empty());
    EXPECT_LE(clock, 10.0);
    for (auto const& [point, count] : counts()) { EXPECT_GE(count, 6) << point; }
}

TEST_F(RooflineSamples, LeaveOutWhatTheTimeIsTooShortFor) {
    add("quick", 0.01, 0.0, true);
    add("slow", 2.0);
    RooflineSampling const done = take(10.0);
    EXPECT_LE(clock, 10.0);
    ASSERT_EQ(done.left_out.size(), 1U);
    EXPECT_EQ(done.left_out[0], "slow: a repetition takes 2.0 s, and the time allows none (--time allows more)");
    EXPECT_GE(counts()[0], 6);
}

TEST_F(RooflineSamples, StopWhereTheMachineTurnsOutSlower) {
    add("steady", 0.05);
    points.push_back({.point = {"slower and slower", {}, "seconds"}});
    points.back().whole = [this, seconds = 0.05](std::stop_token const&) mutable {
        clock += seconds;
        seconds *= 1.3;
        return std::optional{seconds};
    };
    static_cast<void>(take(10.0));
    EXPECT_LE(clock, 12.0); // the repetition that was begun is finished
}

TEST_F(RooflineSamples, KeepNothingOfARepetitionThatAStopCutShort) {
    add("point", 0.05);
    points.push_back({.point = {"stops", {}, "seconds"}});
    points.back().whole = [this](std::stop_token const&) {
        stop.request_stop();
        return std::optional<double>{};
    };
    EXPECT_TRUE(take(10.0).interrupted);
    EXPECT_TRUE(std::ranges::none_of(kept, [](Sample const& one) { return one.point == 1; }));
}

TEST_F(RooflineSamples, GoOnToTheSameNumberOfRepetitions) {
    for (int i = 0; i < 4; ++i) { add("point " + std::to_string(i), 0.05); }
    std::vector<Sample> earlier{{.point = 0, .repetition = 0, .value = 1.0, .outcome = SampleOutcome::warm_up},
                                {.point = 0, .repetition = 1, .value = 1.0},
                                {.point = 2, .repetition = 0, .value = 1.0, .outcome = SampleOutcome::warm_up}};
    static_cast<void>(take(20.0, earlier));
    std::map<std::uint32_t, int> all = counts();
    all[0] += 1;
    for (auto const& [point, count] : all) { EXPECT_EQ(count, all[1]) << point; }
}

} // namespace
} // namespace headroom::probe
