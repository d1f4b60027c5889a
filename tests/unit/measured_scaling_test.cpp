#include "headroom/fit/measured_scaling.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace headroom::fit {

using namespace headroom::measure;

namespace {

ScalingQuestion question() {
    return {.words = {"./app", "-p", "{workers}", "-n", "{size}", "it's"}, .workers = {1, 2, 4}, .problem = 100};
}

/// Five runs of each count whose times follow Amdahl's law with a serial share of a tenth.
MeasuredScaling measured() {
    MeasuredScaling answer{.question = question()};
    answer.campaign.points = points_of(answer.question);
    for (std::uint32_t point = 0; point < 3; ++point) {
        for (std::uint32_t i = 0; i < 5; ++i) {
            double const workers = answer.question.workers[point];
            answer.campaign.samples.push_back(
                {.point = point, .repetition = i, .value = (0.1 + 0.9 / workers) * (1.0 + 0.001 * i)});
        }
    }
    return answer;
}

bool warns(MeasuredScaling const& answer, std::string_view kind) {
    return std::ranges::find(answer.warnings, kind, &ScalingWarning::kind) != answer.warnings.end();
}

TEST(MeasuredScaling, FillsPlaceholdersAndQuotesWords) {
    EXPECT_EQ(command_words(command_at(question(), 4)), R"(./app -p 4 -n 100 'it'\''s')");
    ScalingQuestion weak = question();
    weak.weak = true;
    EXPECT_EQ(filled(weak, "{size} {per_worker}", 4), "400 100");
    weak.shell = true;
    EXPECT_EQ(command_at(weak, 2).front(), "/bin/sh");
    EXPECT_EQ(fact(settings_of(weak, "/here"), "mode"), "weak");
}

TEST(MeasuredScaling, SpeedupsAndFitFollowFromTheSamples) {
    MeasuredScaling answer = measured();
    work_out(answer, {}, 8, false);
    ASSERT_EQ(answer.rows.size(), 3U);
    EXPECT_NEAR(answer.rows[2].speedup.value_or(0.0), 1.0 / 0.325, 0.01);
    EXPECT_NEAR(answer.rows[2].efficiency.value_or(0.0), 1.0 / 0.325 / 4.0, 0.01);
    ASSERT_NE(last_serial_fraction(answer), nullptr);
    EXPECT_NEAR(last_serial_fraction(answer)->serial_fraction, 0.1, 0.005);
    EXPECT_TRUE(stop_words(answer).has_value());
    EXPECT_TRUE(answer.warnings.empty());
}

TEST(MeasuredScaling, OneSpeedupIsReportedWhereARunIsAnOutlier) {
    MeasuredScaling answer = measured();
    Sample* last = nullptr;
    for (Sample& sample : answer.campaign.samples) {
        if (sample.point == 2) { last = &sample; }
    }
    ASSERT_NE(last, nullptr);
    last->value *= 3.0; // something else ran
    work_out(answer, {}, 8, false);
    ASSERT_TRUE(answer.fit.has_value());
    auto const speedups = measured_speedups(answer.fit->data);
    ASSERT_EQ(speedups.size(), 3U);
    EXPECT_DOUBLE_EQ(speedups[2].value, answer.rows[2].speedup.value_or(0.0));
    EXPECT_DOUBLE_EQ(last_serial_fraction(answer)->speedup, answer.rows[2].speedup.value_or(0.0));
    EXPECT_NEAR(answer.rows[2].speedup.value_or(0.0), 1.0 / 0.325, 0.01); // medians bear it
    auto const named = std::ranges::find(answer.warnings, "outliers", &ScalingWarning::kind);
    ASSERT_NE(named, answer.warnings.end());
    EXPECT_NE(named->text.find("run 5 at 4 workers (979 ms, median 326 ms)"), std::string::npos) << named->text;
}

TEST(MeasuredScaling, SaysWhyThereIsNoFitAndWhatMakesNumbersLess) {
    MeasuredScaling answer = measured();
    for (Sample& sample : answer.campaign.samples) {
        if (sample.point > 0) {
            sample.outcome = SampleOutcome::failed;
            sample.message = "exit status 1";
        }
    }
    answer.noticed = {.left_behind = 2};
    work_out(answer, {}, 2, true);
    EXPECT_FALSE(answer.fit);
    EXPECT_NE(answer.why_no_fit.find("1 of 3 worker counts has a result"), std::string::npos) << answer.why_no_fit;
    EXPECT_EQ(answer.failures(), 10U);
    EXPECT_EQ(answer.first_message(), "exit status 1");
    EXPECT_FALSE(stop_words(answer).has_value());
    for (char const* kind : {"workers_beyond_cores", "others_measure", "left_behind"}) {
        EXPECT_TRUE(warns(answer, kind)) << kind;
    }
}

TEST(MeasuredScaling, PlansWhatIsLeftAndEstimatesIt) {
    Campaign known;
    known.id = 7;
    known.points = points_of(question());
    for (std::uint32_t i = 0; i < 4; ++i) {
        known.samples.push_back({.point = 0, .repetition = i, .began_ns = 1 + std::int64_t{2'000'000'000} * i});
    }
    ScalingPlan const plan = plan_of(question(), known, true, 2.0);
    EXPECT_EQ(plan.there, 4U);
    EXPECT_EQ(plan.left.size(), 11U);
    EXPECT_NEAR(plan.estimate_seconds.value_or(0.0), 22.0, 1e-9);
    EXPECT_EQ(plan.estimated_from, "campaign 7 of the same command");
    EXPECT_FALSE(plan.at_most_seconds);
    EXPECT_EQ(plan_of(question(), {}, false, 2.0).left.size(), 15U);
}

} // namespace
} // namespace headroom::fit
