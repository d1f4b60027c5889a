// Influence of the published runs on the constants.

#include "support/training.hpp"

#include "headroom/fit/training_fit.hpp"
#include "headroom/io/embedded.hpp"
#include "headroom/io/runs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string_view>
#include <vector>

namespace headroom::fit {

using namespace headroom::training;

namespace {

std::vector<PublishedRun> published(auto keep) {
    std::string_view csv;
    for (auto const& file : io::embedded_files()) {
        if (file.path == "validation/published_runs.csv") { csv = file.content; }
    }
    auto runs = io::read_runs(csv, "published_runs.csv", training::catalog());
    std::erase_if(runs, [&](PublishedRun const& run) { return !run.question || !keep(run); });
    return runs;
}

CalibrationSet const& independent() {
    static CalibrationSet const set = training::catalog().calibration("independent");
    return set;
}

bool of_own_kernels(PublishedRun const& run) { return run.question->framework.paced; }

double value(CalibrationSet const& set, Constant id) { return set.constant[static_cast<std::size_t>(id)].value; }

FitSettings const quick{.iterations = 2, .threads = 2};

TEST(FitTraining, StacksOfTheirOwnDoNotMoveTheConstantsOfOthers) {
    // Expectation: they have their paces alone. Every fourth of the others is enough: each of those with kernels of
    // their own would move the constants of few runs more than those of many.
    int seen = 0;
    auto const all = published([&seen](PublishedRun const& run) { return of_own_kernels(run) || ++seen % 4 == 0; });
    auto others = all;
    std::erase_if(others, of_own_kernels);
    ASSERT_GT(others.size(), 100U);
    ASSERT_GT(all.size(), others.size() + 300);
    auto const with = fit_training(all, independent(), quick), without = fit_training(others, independent(), quick);
    for (auto const& info : constants()) {
        EXPECT_NEAR(value(with, info.id) / value(without, info.id), 1.0, 1e-9) << info.key;
    }
    EXPECT_FALSE(with.pace.empty());
    EXPECT_TRUE(without.pace.empty());
}

/// Distance by which one run that took `factor` times as long moves the constants, in their own spreads.
double pull_of(std::vector<PublishedRun> runs, std::size_t index, double factor) {
    auto const before = fit_training(runs, independent(), quick);
    runs[index].measured = factor * runs[index].measured;
    auto const after = fit_training(runs, independent(), quick);
    double sum = 0.0;
    for (auto const& info : constants()) {
        double const spread = independent().constant[static_cast<std::size_t>(info.id)].spread;
        if (spread == 0.0) { continue; }
        double const shift = std::log(value(after, info.id) / value(before, info.id)) / spread;
        sum += shift * shift;
    }
    return std::sqrt(sum);
}

TEST(FitTraining, RunsWithAnUnstatedBatchPullLess) {
    int kept = 0;
    auto runs = published([&kept](PublishedRun const& run) {
        return run.kind == "dense" && !of_own_kernels(run) && !run.batch_assumed && ++kept <= 120;
    });
    double const stated = pull_of(runs, 0, 1.3);
    runs[0].batch_assumed = true;
    double const assumed = pull_of(runs, 0, 1.3);
    EXPECT_GT(stated, 0.0);
    EXPECT_LT(assumed, 0.5 * stated);
}

} // namespace
} // namespace headroom::fit
