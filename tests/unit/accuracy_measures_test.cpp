#include "support/planning.hpp"

#include "headroom/training/accuracy_measures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace headroom {

using namespace headroom::training;

namespace {

/// Runs of one kind with given errors, the first with an assumed degree.
struct Evidence {
    std::vector<PublishedRun> runs;
    Validation validation;

    explicit Evidence(std::vector<double> const& errors) {
        runs.reserve(errors.size());
        for (double const error : errors) {
            PublishedRun run;
            run.kind = "dense";
            run.source = "somebody";
            run.states_enough = true;
            run.question = Question{};
            run.question->model = planning::llama_3_70b();
            run.question->cluster = planning::h100_cluster();
            run.question->framework = planning::megatron();
            run.structural_assumption = runs.empty();
            runs.push_back(run);
            validation.rows.push_back({.run = &runs.back(), .predicted = Seconds{1.0}, .relative_error = error});
        }
        validation.summary = summarise(validation.rows);
    }
};

AccuracyMeasure const* find(std::vector<AccuracyMeasure> const& all, std::string const& name) {
    for (auto const& measure : all) {
        if (measure.name == name) { return &measure; }
    }
    return nullptr;
}

TEST(AccuracyMeasures, SpecifiedRunsStateEveryDegree) {
    Evidence const e{{9.0, 0.01, -0.02, 0.03}};
    auto const all = accuracy_measures({.in_sample = e.validation, .left_out = &e.validation});
    auto const* dense = find(all, "dense, tuned, specified");
    ASSERT_NE(dense, nullptr);
    EXPECT_EQ(dense->rows, 3);
    ASSERT_EQ(dense->figures.size(), 2U);
    EXPECT_DOUBLE_EQ(dense->figures[0].value, 0.02); // the median
    EXPECT_TRUE(dense->holds());
    auto const* whole = find(all, "dense, tuned");
    ASSERT_NE(whole, nullptr);
    EXPECT_EQ(whole->rows, 4);
}

TEST(AccuracyMeasures, AFigureBeyondItsBarIsMissed) {
    Evidence const e{{0.0, 0.5, 0.5, 0.5}};
    auto const all = accuracy_measures({.in_sample = e.validation, .left_out = &e.validation});
    auto const* dense = find(all, "dense, tuned");
    ASSERT_NE(dense, nullptr);
    EXPECT_FALSE(dense->holds());
}

TEST(AccuracyMeasures, RegretIsOfSweepsWithEnoughPlans) {
    // Expectation: a sweep of four plans is left out; of the other two the regrets are 0 and 20 %.
    Evidence const e{{0.0}};
    PlanChoice choice;
    for (auto const& [plans, regret] : {std::pair{4U, 0.9}, std::pair{5U, 0.2}, std::pair{6U, 0.0}}) {
        PlanSweep sweep;
        sweep.plans.resize(plans);
        sweep.regret = regret;
        choice.sweeps.push_back(sweep);
    }
    auto const all = accuracy_measures({.in_sample = e.validation, .choice = &choice});
    auto const* regret = find(all, "regret of the chosen plan, sweeps of 5 plans or more");
    ASSERT_NE(regret, nullptr);
    EXPECT_EQ(regret->rows, 2);
    EXPECT_DOUBLE_EQ(regret->figures[0].value, 0.1);
    EXPECT_DOUBLE_EQ(regret->figures[1].value, 0.2);
    EXPECT_FALSE(regret->holds());
}

TEST(AccuracyMeasures, TheFamilyWithTheLeastCoverageIsHeldToABarOfItsOwn) {
    // Expectation: nine of ten rows of one family inside, five of eight of the other: 14 of 18 in all, 62.5 % at least.
    Evidence e{std::vector<double>(18, 0.01)};
    for (std::size_t i = 0; i < 18; ++i) {
        if (i >= 10) { e.runs[i].source = "another"; }
        e.validation.rows[i].inside_interval = i != 0 && i < 15;
    }
    e.validation.summary = summarise(e.validation.rows);
    auto const all = accuracy_measures({.in_sample = e.validation, .left_out = &e.validation});
    auto const* intervals = find(all, "90 % interval");
    ASSERT_NE(intervals, nullptr);
    ASSERT_EQ(intervals->figures.size(), 2U);
    EXPECT_NEAR(intervals->figures[0].value, 14.0 / 18.0, 1e-12);
    EXPECT_NEAR(intervals->figures[1].value, 5.0 / 8.0, 1e-12);
    EXPECT_FALSE(intervals->holds());
}

TEST(AccuracyMeasures, ARangeHasTwoEnds) {
    AccuracyFigure figure{.name = "inside", .value = 0.9, .bar = 0.95, .least = 0.85};
    EXPECT_TRUE(figure.holds());
    figure.value = 0.84;
    EXPECT_FALSE(figure.holds());
    figure.value = 0.96;
    EXPECT_FALSE(figure.holds());
}

TEST(AccuracyMeasures, FamiliesOfOrdinarySoftwareWeighAlike) {
    // Expectation: one family of three rows at 10 %, two of one row at 50 and 60 %: by rows the median is 10 %, by families
    // 50 %; half of the first family's weight is not needed to get there.
    Evidence e{{0.1, -0.1, 0.1, 0.5, 0.6}};
    e.runs[3].source = "another", e.runs[4].source = "a third";
    for (RunComparison& row : e.validation.rows) { row.inside_interval = *row.relative_error < 0.55; }
    auto const all = accuracy_measures(
        {.in_sample = e.validation, .ordinary_left_out = &e.validation, .ordinary_unnamed = &e.validation});
    auto const* errors = find(all, "ordinary software");
    ASSERT_NE(errors, nullptr);
    EXPECT_EQ(errors->constants, "family left out");
    EXPECT_DOUBLE_EQ(errors->figures[0].value, 0.5);
    EXPECT_DOUBLE_EQ(errors->figures[1].value, 0.6);
    EXPECT_FALSE(errors->holds());
    auto const* intervals = find(all, "90 % interval, ordinary software");
    ASSERT_NE(intervals, nullptr);
    EXPECT_NEAR(intervals->figures[0].value, 2.0 / 3.0, 1e-12);
    EXPECT_EQ(intervals->figures.size(), 1U) << "no family has eight rows";
    auto const* unnamed = find(all, "90 % interval, framework not named");
    ASSERT_NE(unnamed, nullptr);
    EXPECT_NEAR(unnamed->figures[0].value, 2.0 / 3.0, 1e-12);
}

TEST(AccuracyMeasures, WhatIsNotKnownIsLeftOut) {
    Evidence const e{{0.0, 0.1}};
    auto const all = accuracy_measures({.in_sample = e.validation});
    for (auto const& measure : all) { EXPECT_EQ(measure.constants, "in sample") << measure.name; }
    auto const* skipped = find(all, "runs that state enough");
    ASSERT_NE(skipped, nullptr);
    EXPECT_DOUBLE_EQ(skipped->figures.front().value, 0.0);
}

} // namespace
} // namespace headroom
