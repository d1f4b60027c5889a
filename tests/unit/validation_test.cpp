#include "support/error_groups.hpp"
#include "support/training.hpp"

#include "headroom/training/validation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::training;

namespace {

PublishedRun skipped(bool states_enough) {
    PublishedRun run;
    run.kind = "dense";
    run.skipped_reason = "no global batch stated";
    run.states_enough = states_enough;
    return run;
}

RunComparison not_compared(PublishedRun const& run) {
    RunComparison row;
    row.run = &run;
    return row;
}

RunComparison compared(PublishedRun const& run, double error, bool inside = true) {
    return {.run = &run, .predicted = Seconds{1.0 + error}, .relative_error = error, .inside_interval = inside};
}

/// A run of 8 accelerators whose measured step is `factor` times the predicted one.
PublishedRun measured(double factor, std::string source = "somebody") {
    PublishedRun run;
    run.kind = "dense";
    run.source = std::move(source);
    run.accelerator = "H100-80GB";
    run.strategy_kind = "data parallel";
    run.states_enough = true;
    run.question = training::question(training::catalog().model("llama-3-8b"), training::catalog().cluster("dgx-h100"),
                                      training::catalog().framework("megatron-core"), {.dp = 8, .zero = 1},
                                      {.sequence_length = 4096, .global_batch = 64});
    run.measured = training::step(*run.question) * factor;
    return run;
}

TEST(Summarise, ASkipThatStatesEnoughIsAllWrong) {
    // Expectation: errors 0.1, -0.2 and one hidden 100 %: the median is 0.2; the row that states too little is only
    // counted.
    PublishedRun const run, whole = skipped(true), bare = skipped(false);
    std::vector<RunComparison> const rows{compared(run, 0.1), compared(run, -0.2, false), not_compared(whole),
                                          not_compared(bare)};
    auto const summary = summarise(rows);
    EXPECT_EQ(summary.rows, 4);
    EXPECT_EQ(summary.skipped, 2);
    EXPECT_DOUBLE_EQ(summary.median_absolute_error, 0.2);
    EXPECT_DOUBLE_EQ(summary.p90_absolute_error, 0.2 + 0.8 * 0.8);
    EXPECT_DOUBLE_EQ(summary.mean_error, -0.05);
    EXPECT_DOUBLE_EQ(summary.interval_coverage, 0.5);
}

TEST(Summarise, NothingIsNothing) {
    auto const summary = summarise({});
    EXPECT_EQ(summary.rows, 0);
    EXPECT_EQ(summary.median_absolute_error, 0.0);
    EXPECT_EQ(summary.interval_coverage, 0.0);
    PublishedRun const bare = skipped(false);
    std::vector<RunComparison> const rows{not_compared(bare)};
    EXPECT_EQ(summarise(rows).median_absolute_error, 0.0);
}

TEST(Validate, ComparesWithWhatWasMeasured) {
    // Expectation: a measured step of 1.25 times the prediction is a prediction 20 % too short.
    std::vector<PublishedRun> const runs{measured(1.25), measured(1.0), measured(0.5), skipped(true)};
    auto const validation = validate(runs, training::fitted());
    ASSERT_EQ(validation.rows.size(), 4u);
    EXPECT_NEAR(*validation.rows[0].relative_error, -0.2, 1e-12);
    EXPECT_NEAR(*validation.rows[1].relative_error, 0.0, 1e-12);
    EXPECT_NEAR(*validation.rows[2].relative_error, 1.0, 1e-12);
    EXPECT_TRUE(validation.rows[1].inside_interval);
    EXPECT_FALSE(validation.rows[2].inside_interval);
    EXPECT_FALSE(validation.rows[3].predicted.has_value());
    EXPECT_EQ(validation.rows[1].run, &runs[1]);
    EXPECT_EQ(validation.summary.rows, 4);
    EXPECT_EQ(validation.summary.skipped, 1);
}

TEST(Validate, GroupsByKindSourceChipAndStrategy) {
    std::vector<PublishedRun> runs{measured(1.0, "a"), measured(1.1, "a"), measured(1.2, "b"), skipped(false)};
    runs[1].structural_assumption = true;
    auto const validation = validate(runs, training::fitted());
    EXPECT_EQ(group(validation, "source", "a").summary.rows, 2);
    EXPECT_EQ(group(validation, "source", "b").summary.rows, 1);
    EXPECT_EQ(group(validation, "kind", "dense").summary.rows, 4);
    EXPECT_EQ(group(validation, "accelerator", "H100-80GB").summary.rows, 3);
    EXPECT_EQ(group(validation, "strategy", "data parallel").summary.rows, 3);
    EXPECT_EQ(group(validation, "assumed", "assumed").summary.rows, 1);
}

TEST(ValidateLeftOut, UsesTheConstantsThatNeverSawTheSource) {
    // Expectation: the run of a source with a fold is predicted by the fold's constants, any other by the set's.
    std::vector<PublishedRun> const runs{measured(1.0, "known"), measured(1.0, "new")};
    Folds one;
    Calibration slower = training::fitted().values();
    slower[Constant::gemm_hopper] *= 0.5;
    one.without.emplace("known", slower);
    auto const left_out = validate_left_out(runs, training::fitted(), one);
    EXPECT_GT(*left_out.rows[0].relative_error, 0.3);
    EXPECT_NEAR(*left_out.rows[1].relative_error, 0.0, 1e-12);
}

// ---- stacks whose kernels are their own ---------------------------------------------------------------------------

constexpr char const* stack = "mxnet-horovod";

/// ResNet-50 on some workers, with the step that a stack of this pace takes.
PublishedRun pictures(int workers, double pace, std::string table = "a table", std::string source = "somebody") {
    PublishedRun run;
    run.id = table + " on " + std::to_string(workers);
    run.kind = "cnn";
    run.source = std::move(source);
    run.table = std::move(table);
    run.states_enough = true;
    run.question = training::question(training::catalog().model("resnet-50"), training::catalog().cluster("dgx-v100"),
                                      training::catalog().framework(stack),
                                      {.dp = workers, .zero = 0, .micro_batch = 64, .precision = Precision::fp16},
                                      {.sequence_length = 1, .global_batch = 64 * workers});
    Question paced = *run.question;
    paced.pace = pace;
    run.measured = predict(paced, training::fitted()).step();
    return run;
}

/// The fitted constants with this factor for the framework.
CalibrationSet with_pace(double factor) {
    CalibrationSet set = training::fitted();
    set.pace[stack] = {.factor = factor, .rows = 1, .sources = 1};
    return set;
}

TEST(PaceToMeet, FindsTheKnownPace) {
    for (double const pace : {0.05, 0.4, 1.0, 2.5, 40.0}) {
        for (int const workers : {1, 8, 16}) {
            // ticks of 1 ps are rounded once a task
            EXPECT_NEAR(pace_to_meet(pictures(workers, pace), with_pace(3.0)), pace, 1e-8 * pace + 1e-9) << workers;
        }
    }
}

TEST(PaceToMeet, IsAboveZeroHoweverShortTheStep) {
    auto run = pictures(8, 1.0);
    run.measured = Seconds{1e-12};
    EXPECT_EQ(pace_to_meet(run, training::fitted()), 0.01);
}

TEST(Anchors, AreTheOneWorkerRowsOfTheSameTable) {
    std::vector<PublishedRun> runs{pictures(8, 1.0), pictures(1, 2.0), pictures(16, 1.0), pictures(8, 1.0, "another"),
                                   pictures(1, 3.0), measured(1.0),    skipped(true)};
    runs[5].table = runs[6].table = "a table"; // no paced stack, nothing to ask
    auto const found = anchors(runs);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found.at(&runs[0]), &runs[1]); // the first of two
    EXPECT_EQ(found.at(&runs[2]), &runs[1]);
}

TEST(Validate, RunsOnManyWorkersHaveThePaceOfTheOneWorkerRow) {
    // Expectation: the 1-worker row and a row without one have the framework's factor, the others the one of their
    // table.
    std::vector<PublishedRun> const runs{pictures(1, 1.7), pictures(8, 1.7), pictures(8, 1.7, "another table")};
    auto const validation = validate(runs, with_pace(1.3));
    ASSERT_EQ(validation.rows.size(), 3u);
    EXPECT_EQ(validation.rows[0].anchor, nullptr);
    EXPECT_DOUBLE_EQ(validation.rows[0].pace, 1.3);
    EXPECT_EQ(validation.rows[1].anchor, &runs[0]);
    EXPECT_NEAR(validation.rows[1].pace, 1.7, 1e-9);
    EXPECT_NEAR(*validation.rows[1].relative_error, 0.0, 1e-9);
    EXPECT_EQ(validation.rows[2].anchor, nullptr);
    EXPECT_DOUBLE_EQ(validation.rows[2].pace, 1.3);
    EXPECT_LT(*validation.rows[2].relative_error, -0.1);
    EXPECT_EQ(group(validation, "given the 1-worker row", "cnn").summary.rows, 1);
    EXPECT_EQ(group(validation, "given the 1-worker row", "all").summary.rows, 1);
    EXPECT_DOUBLE_EQ(validate(runs, training::fitted()).rows[1].pace, validation.rows[1].pace);
}

TEST(Validate, NoRowSetsItsOwnPace) {
    // Expectation: what a row measured changes its error, never its prediction.
    std::vector<PublishedRun> runs{pictures(1, 1.7), pictures(8, 1.7)};
    auto const before = validate(runs, with_pace(1.3));
    runs[1].measured = 5.0 * runs[1].measured;
    auto const many = validate(runs, with_pace(1.3));
    EXPECT_EQ(many.rows[1].predicted, before.rows[1].predicted);
    runs[0].measured = 5.0 * runs[0].measured;
    auto const one = validate(runs, with_pace(1.3));
    EXPECT_EQ(one.rows[0].predicted, before.rows[0].predicted);
    EXPECT_GT(*one.rows[1].predicted, *before.rows[1].predicted);
}

TEST(Validate, OtherStacksHaveNoPace) {
    std::vector<PublishedRun> runs{measured(1.0), measured(1.0)};
    runs[0].question->strategy.dp = 1;
    runs[0].question->workload.global_batch = 8;
    auto set = training::fitted();
    set.pace["megatron-core"] = {.factor = 2.0, .rows = 5, .sources = 1};
    auto const validation = validate(runs, set);
    for (auto const& row : validation.rows) {
        EXPECT_EQ(row.anchor, nullptr);
        EXPECT_EQ(row.pace, 1.0);
    }
}

TEST(ValidateLeftOut, UsesThePaceThatNeverSawTheSource) {
    // Expectation: the fold's factor; 1 for a framework that no other source ran; the set's where there is no fold.
    std::vector<PublishedRun> const runs{pictures(1, 1.0, "t1", "known"), pictures(1, 1.0, "t2", "only"),
                                         pictures(1, 1.0, "t3", "new"), pictures(8, 1.0, "t1", "known")};
    Folds folds;
    for (auto const* source : {"known", "only"}) { folds.without.emplace(source, training::fitted().values()); }
    folds.pace["known"][stack].factor = 0.5;
    folds.pace["only"] = {};
    auto const rows = validate_left_out(runs, with_pace(1.3), folds).rows;
    EXPECT_DOUBLE_EQ(rows[0].pace, 0.5);
    EXPECT_DOUBLE_EQ(rows[1].pace, 1.0);
    EXPECT_DOUBLE_EQ(rows[2].pace, 1.3);
    EXPECT_NEAR(rows[3].pace, 1.0, 1e-9); // of its own table's 1-worker row: its users have one, too
}

TEST(Summarise, CountsWhatStatesEnoughAndIsPredicted) {
    PublishedRun bare, whole;
    whole.states_enough = true;
    PublishedRun const skip = skipped(true);
    std::vector<RunComparison> const rows{compared(bare, 0.1), compared(whole, -0.3), not_compared(skip)};
    auto const summary = summarise(rows);
    EXPECT_EQ(summary.states_enough, 2);
    EXPECT_EQ(summary.predicted_of_stating_enough, 1);
    EXPECT_DOUBLE_EQ(summary.median_absolute_error, 0.3);
    EXPECT_DOUBLE_EQ(summary.median_absolute_error_predicted, 0.2);
}

} // namespace
} // namespace headroom
