// The published runs that are built in: each is asked or explained, and predicted as closely as the documents say.

#include "support/error_groups.hpp"
#include "support/training.hpp"

#include "headroom/io/embedded.hpp"
#include "headroom/io/runs.hpp"
#include "headroom/io/support.hpp"
#include "headroom/training/validation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::training;

namespace {

std::string_view embedded(std::string_view path) {
    for (auto const& file : io::embedded_files()) {
        if (file.path == path) { return file.content; }
    }
    ADD_FAILURE() << path << " is not built in";
    return {};
}

std::vector<PublishedRun> const& published() {
    static auto const runs =
        io::read_runs(embedded("validation/published_runs.csv"), "validation/published_runs.csv", training::catalog());
    return runs;
}

Folds const& folds() {
    static Folds const all = io::read_folds(embedded("catalog/calibration/folds.toml"), "folds.toml");
    return all;
}

TEST(PublishedRuns, AlmostEveryDenseRowThatStatesEnoughIsPredicted) {
    int enough = 0, predicted = 0;
    for (auto const& run : published()) {
        if (run.kind != "dense" || !run.states_enough) { continue; }
        ++enough;
        predicted += run.question ? 1 : 0;
    }
    std::cout << predicted << " of " << enough << " dense rows that state enough are predicted\n";
    EXPECT_GT(enough, 300);
    EXPECT_GE(predicted, 0.95 * enough);
}

TEST(PublishedRuns, AreCountedInTheEvidenceOfTheCatalog) {
    std::vector<PublishedRun> runs = published();
    std::string_view const path = "validation/published_ordinary.csv";
    for (auto& run : io::read_runs(embedded(path), path, training::catalog())) { runs.push_back(std::move(run)); }
    EXPECT_EQ(io::run_groups(training::catalog()), run_groups(runs)) << "make it anew: headroom-fit --evidence";
}

TEST(PublishedRuns, AreEitherAskedOrExplained) {
    for (auto const& run : published()) {
        EXPECT_EQ(run.question.has_value(), run.skipped_reason.empty()) << run.id;
        EXPECT_FALSE(run.id.empty());
        EXPECT_FALSE(run.source.empty()) << run.id;
        if (!run.question) { continue; }
        EXPECT_GT(run.measured, Seconds{}) << run.id;
        EXPECT_TRUE(std::isfinite(run.measured.base())) << run.id;
        EXPECT_FALSE(run.measured_from.empty()) << run.id;
        EXPECT_GT(run.question->strategy.workers(), 0) << run.id;
    }
}

TEST(PublishedRuns, DenseOnesAreWithinSevenPerCentInTheMiddle) {
    auto const validation = validate(published(), training::fitted());
    std::vector<RunComparison> dense;
    for (auto const& row : validation.rows) {
        if (row.run->kind == "dense" && row.run->states_enough) { dense.push_back(row); }
    }
    auto const summary = summarise(dense);
    std::cout << "dense rows that state enough: median error " << 100.0 * summary.median_absolute_error << " %, p90 "
              << 100.0 * summary.p90_absolute_error << " %\n";
    EXPECT_LE(summary.median_absolute_error, 0.07);
    for (auto const& row : validation.rows) {
        if (row.relative_error) { EXPECT_TRUE(std::isfinite(*row.relative_error)) << row.run->id; }
    }
}

TEST(PublishedRuns, LeftOutSourcesStayInsideTheirInterval) {
    auto const validation = validate_left_out(published(), training::fitted(), folds());
    auto const& dense = group(validation, "kind", "dense").summary;
    std::cout << "every source left out: median error " << 100.0 * dense.median_absolute_error
              << " %, inside the interval " << 100.0 * dense.interval_coverage << " %\n";
    EXPECT_GE(dense.interval_coverage, 0.80);
    EXPECT_LE(dense.interval_coverage, 0.97);
    // Expectation: constants that never saw a source are no better for it than those that did.
    EXPECT_GE(dense.median_absolute_error,
              group(validate(published(), training::fitted()), "kind", "dense").summary.median_absolute_error);
}

TEST(PublishedRuns, EverySourceThatWasFittedHasAFold) {
    for (auto const& run : published()) {
        if (run.question) { EXPECT_EQ(folds().without.count(run.source), 1u) << run.source; }
    }
}

TEST(PublishedRuns, TheSameTableGivesTheSameErrors) {
    auto const once = validate(published(), training::fitted()), again = validate(published(), training::fitted());
    ASSERT_EQ(once.rows.size(), again.rows.size());
    for (std::size_t i = 0; i < once.rows.size(); ++i) {
        EXPECT_EQ(once.rows[i].relative_error, again.rows[i].relative_error);
    }
}

} // namespace
} // namespace headroom
