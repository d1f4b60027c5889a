#include "support/planning.hpp"

#include "headroom/training/accuracy_measures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
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
    auto const all = accuracy_measures({.in_sample = e.validation});
    auto const* dense = find(all, "dense, specified");
    ASSERT_NE(dense, nullptr);
    EXPECT_EQ(dense->rows, 3);
    ASSERT_EQ(dense->figures.size(), 3U);
    EXPECT_DOUBLE_EQ(dense->figures[0].value, 0.02); // the median
    EXPECT_DOUBLE_EQ(dense->figures[1].value, 0.02); // the mean
    EXPECT_TRUE(dense->holds());
}

TEST(AccuracyMeasures, AFigureBeyondItsBarIsMissed) {
    Evidence const e{{0.0, 0.5, 0.5, 0.5}};
    auto const all = accuracy_measures({.in_sample = e.validation});
    auto const* dense = find(all, "dense, specified");
    ASSERT_NE(dense, nullptr);
    EXPECT_FALSE(dense->holds());
}

TEST(AccuracyMeasures, ARangeHasTwoEnds) {
    AccuracyFigure figure{.name = "inside", .value = 0.9, .bar = 0.95, .least = 0.85};
    EXPECT_TRUE(figure.holds());
    figure.value = 0.84;
    EXPECT_FALSE(figure.holds());
    figure.value = 0.96;
    EXPECT_FALSE(figure.holds());
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
