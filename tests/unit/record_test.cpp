#include "headroom/probe/report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace headroom::probe {
namespace {

Record hundred_over_ten() {
    return {.work_seconds = 100.0,
            .span_seconds = 10.0,
            .burdened_span_seconds = 20.0,
            .elapsed_seconds = 101.0,
            .spawns = 49,
            .syncs = 1};
}

TEST(Record, StrandsFollowFromSpawnsAndSyncs) {
    // Expectation: 1 at the beginning, 2 a spawn, 1 a sync: 100 strands of one second.
    EXPECT_EQ(strands(hundred_over_ten()), 100u);
    EXPECT_DOUBLE_EQ(average_strand_seconds(hundred_over_ten()), 1.0);
}

TEST(Record, SpeedupLiesBetweenTheBounds) {
    // Expectation: on 4 workers 100/4 + 3/4 x 10 = 32.5 s at worst, 40 s with the burdened span; 4x at best.
    auto const four = predicted_speedup(hundred_over_ten(), 4);
    ASSERT_TRUE(four.has_value());
    EXPECT_DOUBLE_EQ(four->at_most, 4.0);
    EXPECT_DOUBLE_EQ(four->at_least, 100.0 / 32.5);
    EXPECT_DOUBLE_EQ(four->burdened, 100.0 / 40.0);
    EXPECT_DOUBLE_EQ(predicted_speedup(hundred_over_ten(), 50)->at_most, 10.0);
}

TEST(Record, OneWorkerIsOneWorker) {
    auto const one = predicted_speedup(hundred_over_ten(), 1);
    EXPECT_DOUBLE_EQ(one->at_most, 1.0);
    EXPECT_DOUBLE_EQ(one->at_least, 1.0);
    EXPECT_DOUBLE_EQ(one->burdened, 1.0);
}

TEST(Record, WithoutWorkThereIsNoAnswer) {
    EXPECT_FALSE(parallelism(Record{}).has_value());
    EXPECT_FALSE(predicted_speedup(Record{}, 4).has_value());
}

TEST(Record, TheLeastOfEachTimeCounts) {
    Record calm = hundred_over_ten();
    Record disturbed = hundred_over_ten();
    disturbed.work_seconds = 130.0;
    disturbed.span_seconds = 9.0;
    Record const best = least(std::vector{disturbed, calm, disturbed});
    EXPECT_EQ(best.work_seconds, 100.0);
    EXPECT_EQ(best.span_seconds, 9.0);
    EXPECT_EQ(best.repeats, 3);
    EXPECT_FALSE(best.structure_varies);
    disturbed.running_share = 0.9;
    calm.running_share = 0.95;
    EXPECT_EQ(least(std::vector{disturbed, calm}).running_share, 0.95);
    disturbed.spawns = 50;
    EXPECT_TRUE(least(std::vector{disturbed, calm}).structure_varies);
    EXPECT_EQ(least({}), Record{});
}

Study study() {
    return {.name = "a \"name\"",
            .problem = "back\\slash\nand line",
            .record = hundred_over_ten(),
            .costs = {.clock_seconds = 2e-8},
            .serial_seconds = 90.0,
            .timings = {{.workers = 3, .seconds = 40.0, .median_seconds = 41.0, .repeats = 5},
                        {.workers = 1, .seconds = 100.0, .median_seconds = 102.0, .repeats = 5}}};
}

TEST(Study, TheCurveHasMeasuredAndPredictedPoints) {
    // Expectation: the measured 1 and 3, and powers of two up to four times the parallelism of 10.
    std::vector<int> workers;
    for (CurvePoint const& point : speedup_curve(study())) { workers.push_back(point.workers); }
    EXPECT_EQ(workers, (std::vector{1, 2, 3, 4, 8, 16, 32}));
    CurvePoint const three = speedup_curve(study())[2];
    EXPECT_DOUBLE_EQ(three.speedup.value(), 2.5);
    EXPECT_DOUBLE_EQ(three.predicted.value().at_least, 100.0 / (100.0 / 3 + 20.0 / 3));
}

TEST(Study, WithoutATimeOnOneWorkerThereIsNoSpeedup) {
    Study only = study();
    only.timings.pop_back();
    EXPECT_FALSE(speedup_curve(only)[2].speedup.has_value());
    EXPECT_TRUE(speedup_curve(only)[2].timing.has_value());
}

TEST(Study, TimesAreSummarizedByLeastAndMedian) {
    Timing const odd = summarize(2, {3.0, 1.0, 2.0});
    EXPECT_EQ(odd.seconds, 1.0);
    EXPECT_EQ(odd.median_seconds, 2.0);
    EXPECT_EQ(summarize(2, {4.0, 1.0, 2.0, 3.0}).median_seconds, 2.5);
    EXPECT_EQ(summarize(2, {}).repeats, 0);
}

TEST(Study, RoundsAreTimedWithWhatIsBeforeAndAfterThem) {
    std::string order;
    auto const timings = time_on(
        std::vector{1, 2}, 2, [&] { order += 'b'; }, [&] { order += '<'; }, [&] { order += '>'; });
    EXPECT_EQ(order, "<b><b><b><b>");
    ASSERT_EQ(timings.size(), 2u);
    EXPECT_EQ(timings[1].workers, 2);
    EXPECT_EQ(timings[1].repeats, 2);
    EXPECT_GE(timings[1].median_seconds, timings[1].seconds);
}

TEST(Study, JsonHoldsWhatWasMeasured) {
    std::ostringstream out;
    write_json(out, study());
    auto const json = nlohmann::json::parse(out.str());
    EXPECT_EQ(json["schema"], "headroom.record/1");
    EXPECT_EQ(json["name"], "a \"name\"");
    EXPECT_EQ(json["problem"], "back\\slash\nand line");
    EXPECT_EQ(json["work_seconds"], 100.0);
    EXPECT_EQ(json["parallelism"], 10.0);
    EXPECT_EQ(json["burdened_parallelism"], 5.0);
    EXPECT_EQ(json["strands"], 100);
    EXPECT_EQ(json["serial_seconds"], 90.0);
    EXPECT_EQ(json["costs"]["clock_seconds"], 2e-8);
    ASSERT_EQ(json["curve"].size(), 7u);
    EXPECT_EQ(json["curve"][2]["workers"], 3);
    EXPECT_EQ(json["curve"][2]["measured_speedup"], 2.5);
    EXPECT_EQ(json["curve"][2]["measured_median_seconds"], 41.0);
    EXPECT_TRUE(json["curve"][3]["measured_seconds"].is_null());
}

TEST(Study, JsonHasNoInfinity) {
    Study odd = study();
    odd.record.work_seconds = std::numeric_limits<double>::infinity();
    odd.record.span_seconds = 0.0;
    std::ostringstream out;
    write_json(out, odd);
    auto const json = nlohmann::json::parse(out.str());
    EXPECT_TRUE(json["work_seconds"].is_null());
    EXPECT_TRUE(json["parallelism"].is_null());
    EXPECT_TRUE(json["curve"][0]["speedup_at_most"].is_null());
}

std::string widest_line(Study const& study) {
    std::ostringstream out;
    print(out, study);
    std::istringstream lines{out.str()};
    std::string widest;
    for (std::string line; std::getline(lines, line);) { widest = line.size() > widest.size() ? line : widest; }
    return widest;
}

TEST(Study, TheTableFitsATerminal) {
    std::ostringstream out;
    Study one = study();
    one.problem = "100 numbers";
    print(out, one);
    EXPECT_LE(widest_line(one).size(), 80u) << widest_line(one);
    EXPECT_NE(out.str().find("Parallelism 10: more than 10 workers cannot help."), std::string::npos) << out.str();
    EXPECT_NE(out.str().find("        3      2.14      2.50      3.00      2.50"), std::string::npos) << out.str();
}

TEST(Study, NumbersOfAnyLengthFitATerminal) {
    // Expectation: times of seven characters in every place, counts of twenty, and every warning.
    Study slow = study();
    slow.problem = "99999999 numbers, pieces of at most 99999999, and many more words of what was done with them";
    slow.costs = {.clock_seconds = 1.234e-4,
                  .plain_seconds = 1.234e-4,
                  .recorded_seconds = 1.234e-4,
                  .queued_seconds = 1.234e-4,
                  .handover_seconds = 1.234e-4};
    slow.record.spawns = 1'000'000'000'000'000'000;
    slow.record.clock_seconds = 1.234e-4;
    slow.record.burden_seconds = 1.234e-4;
    slow.record.running_share = 0.123;
    slow.record.structure_varies = true;
    for (double const seconds : {1.234e-4, 1234.5, 1.234e9}) {
        slow.timings = {{.workers = 256, .seconds = seconds, .median_seconds = seconds, .repeats = 5},
                        {.workers = 1, .seconds = 1.234e4, .median_seconds = 1.234e4, .repeats = 5}};
        EXPECT_LE(widest_line(slow).size(), 80u) << widest_line(slow);
    }
}

TEST(Study, NumbersBeyondAllMachinesFitATerminal) {
    // Expectation: parallelism of 1e300, speedups of 1e200, two billion workers: four digits and an exponent each.
    Study vast = study();
    vast.record.work_seconds = 1e300;
    vast.record.span_seconds = 1.0;
    vast.record.burdened_span_seconds = 1.0;
    vast.serial_seconds = 1e300;
    for (double const share : {1.0, 0.5}) {
        vast.record.running_share = share;
        vast.timings = {{.workers = 2'000'000'000, .seconds = 1e100, .median_seconds = 1e100, .repeats = 5},
                        {.workers = 1, .seconds = 1e300, .median_seconds = 1e300, .repeats = 5}};
        EXPECT_LE(widest_line(vast).size(), 80u) << widest_line(vast);
    }
}

TEST(Study, AMeasurementBelowThePredictionIsSaid) {
    // Expectation: the structure promises at least 100 / 46.7 = 2.14 on 3 workers; 1.25 has another reason.
    Study slow = study();
    slow.timings[0].seconds = 80.0;
    std::ostringstream out;
    print(out, slow);
    EXPECT_NE(out.str().find("3 workers gave 1.25, "), std::string::npos) << out.str();
    std::ostringstream fine;
    print(fine, study());
    EXPECT_EQ(fine.str().find("3 workers gave"), std::string::npos);
}

TEST(Study, ATimeOnOneWorkerThatIsNotTheWorkIsSaid) {
    // Expectation: 100 s of work take 100 s on one worker; 150 s of them were something else.
    Study disturbed = study();
    disturbed.timings[1].seconds = 150.0;
    std::ostringstream out;
    print(out, disturbed);
    EXPECT_NE(out.str().find("one worker took 150 s, work and spawns come to 100 s:"), std::string::npos) << out.str();
    std::ostringstream fine;
    print(fine, study());
    EXPECT_EQ(fine.str().find("one worker took"), std::string::npos);
}

TEST(Study, ADisturbedRecordingIsSaid) {
    Study disturbed = study();
    disturbed.record.running_share = 0.6;
    std::ostringstream out;
    print(out, disturbed);
    EXPECT_NE(out.str().find("even the best run got only 60 % of a core"), std::string::npos) << out.str();
    EXPECT_NE(out.str().find("so roughly:\nparallelism 10: more than 10"), std::string::npos) << out.str();
    disturbed.clock = "cpu"; // which does not count what others did
    std::ostringstream fine;
    print(fine, disturbed);
    EXPECT_EQ(fine.str().find("even the best run"), std::string::npos);
}

TEST(Record, SleepingIsNotRunning) {
    // Expectation: a strand that sleeps lasts on the wall and takes next to no time of the thread.
    auto const sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds{20}); };
    Record const steady = record(sleep, {.burden_seconds = 0.0});
    EXPECT_GE(steady.work_seconds, 0.019);
    ASSERT_TRUE(steady.running_share.has_value());
    EXPECT_LT(*steady.running_share, 0.5);
    EXPECT_LT((record<ThreadCpuClock>(sleep, {.burden_seconds = 0.0}).work_seconds), 0.010);
    EXPECT_FALSE(record([] {}, {.workers = 2, .burden_seconds = 0.0}).running_share.has_value());
}

TEST(Study, SerialAndEmptyProgramsHaveAVerdict) {
    Study serial = study();
    serial.record.spawns = 0;
    std::ostringstream out;
    print(out, serial);
    EXPECT_NE(out.str().find("Nothing was spawned"), std::string::npos);
    serial.record = {};
    print(out, serial);
    EXPECT_NE(out.str().find("Nothing was measured"), std::string::npos);
}

} // namespace
} // namespace headroom::probe
