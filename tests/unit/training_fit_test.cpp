#include "support/training.hpp"

#include "headroom/error.hpp"
#include "headroom/fit/training_fit.hpp"
#include "headroom/io/embedded.hpp"
#include "headroom/io/runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace headroom::fit {
namespace {

constexpr char const* stack = "mxnet-horovod";

/// ResNet-50 on some workers, with the step that a stack of this pace takes; a table of its own.
PublishedRun pictures(double pace, std::string source, int workers = 1, char const* framework = stack) {
    static int tables = 0;
    PublishedRun run;
    run.kind = "cnn";
    run.source = std::move(source);
    run.table = std::to_string(++tables);
    run.question = training::question(training::catalog().model("resnet-50"), training::catalog().cluster("dgx-v100"),
                                      training::catalog().framework(framework),
                                      {.dp = workers, .zero = 0, .micro_batch = 64, .precision = Precision::fp16},
                                      {.sequence_length = 1, .global_batch = 64 * workers});
    Question paced = *run.question;
    paced.pace = pace;
    run.measured = predict(paced, training::fitted()).step();
    return run;
}

std::vector<PublishedRun> several(int count, double pace, std::string const& source) {
    std::vector<PublishedRun> runs;
    for (int i = 0; i < count; ++i) { runs.push_back(pictures(pace, source)); }
    return runs;
}

std::vector<PublishedRun> operator+(std::vector<PublishedRun> a, std::vector<PublishedRun> const& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/// Drawn towards 1 as if three more runs had said so.
double drawn(double pace, int runs) { return std::exp(std::log(pace) * runs / (runs + 3.0)); }

TEST(FitPaces, FewRunsAreDrawnTowardsOne) {
    for (int const count : {1, 3, 30}) {
        auto const paces = fit_paces(several(count, 2.0, "a"), training::fitted(), {});
        ASSERT_EQ(paces.size(), 1u);
        EXPECT_NEAR(paces.at(stack).factor, drawn(2.0, count), 1e-9);
        EXPECT_EQ(paces.at(stack).rows, count);
        EXPECT_EQ(paces.at(stack).sources, 1);
    }
    EXPECT_TRUE(fit_paces({}, training::fitted(), {}).empty());
}

TEST(FitPaces, NoTableOutvotesTheOthers) {
    // Expectation: 9 runs weigh 3, twice 4 runs weigh 2 each: the factor is that of the two sources, though most runs
    // say the other.
    auto const runs = several(9, 3.0, "a table") + several(4, 2.0, "b") + several(4, 2.0, "c");
    auto const all = fit_paces(runs, training::fitted(), {});
    EXPECT_NEAR(all.at(stack).factor, drawn(2.0, 17), 1e-9);
    EXPECT_EQ(all.at(stack).sources, 3);
    auto const without = fit_paces(runs, training::fitted(), "b");
    EXPECT_NEAR(without.at(stack).factor, drawn(3.0, 13), 1e-9);
    EXPECT_EQ(without.at(stack).sources, 2);
    EXPECT_TRUE(fit_paces(several(4, 2.0, "b"), training::fitted(), "b").empty());
}

TEST(FitPaces, RunsThatAreGivenAPaceAndOtherStacksHaveNoSay) {
    auto runs = several(2, 2.0, "a") + std::vector{pictures(9.0, "a", 8), pictures(5.0, "a", 1, "megatron-core")};
    runs[2].table = runs[0].table; // 8 workers in the table of a 1-worker row
    auto const paces = fit_paces(runs, training::fitted(), {});
    ASSERT_EQ(paces.size(), 1u);
    EXPECT_EQ(paces.at(stack).rows, 2);
    EXPECT_NEAR(paces.at(stack).factor, drawn(2.0, 2), 1e-9);
}

// ---- constants ----------------------------------------------------------------------------------------------------

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

constexpr FitSettings quick{.iterations = 2, .threads = 2};

TEST(FitTraining, StacksOfTheirOwnDoNotMoveTheConstantsOfOthers) {
    // Expectation: only the spread of their ranks, which no other stack has a say in. Every fourth of the others is enough:
    // each of those with kernels of their own would move the constants of few runs more than those of many.
    int seen = 0;
    auto const all = published([&seen](PublishedRun const& run) { return of_own_kernels(run) || ++seen % 4 == 0; });
    auto others = all;
    std::erase_if(others, of_own_kernels);
    ASSERT_GT(others.size(), 100U);
    ASSERT_GT(all.size(), others.size() + 300);
    auto const with = fit_training(all, independent(), quick), without = fit_training(others, independent(), quick);
    for (auto const& info : constants()) {
        if (info.id == Constant::rank_spread) { continue; }
        EXPECT_NEAR(value(with, info.id) / value(without, info.id), 1.0, 1e-9) << info.key;
    }
    EXPECT_FALSE(with.pace.empty());
    EXPECT_TRUE(without.pace.empty());
}

/// How far one run that took `factor` times as long moves the constants, in their own spreads.
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

TEST(FitTraining, NeedsMoreRunsThanConstants) {
    auto const few = several(3, 1.0, "a");
    try {
        static_cast<void>(fit_training(few, independent(), quick));
        FAIL() << "three runs cannot determine the constants";
    } catch (InputError const& error) { EXPECT_EQ(error.fault(), Fault::insufficient); }
}

} // namespace
} // namespace headroom::fit
