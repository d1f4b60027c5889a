#include "support/training.hpp"

#include "headroom/error.hpp"
#include "headroom/fit/training_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace headroom::fit {

using namespace headroom::training;

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

/// Drawn towards 1 as by three more runs.
double drawn(double pace, int runs) { return std::exp(std::log(pace) * runs / (runs + 3.0)); }

TEST(FitPaces, FewRunsAreDrawnTowardsOne) {
    for (int const count : {1, 3, 30}) {
        auto const paces = fit_paces(several(count, 2.0, "a"), training::fitted(), {});
        ASSERT_EQ(paces.size(), 1u);
        EXPECT_NEAR(paces.at(stack).factor / drawn(2.0, count), 1.0, 1e-9); // to which a pace is solved
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

CalibrationSet const& independent() {
    static CalibrationSet const set = training::catalog().calibration("independent");
    return set;
}

FitSettings const quick{.iterations = 2, .threads = 2};

TEST(FitTraining, NeedsMoreRunsThanConstants) {
    auto const few = several(3, 1.0, "a");
    try {
        static_cast<void>(fit_training(few, independent(), quick));
        FAIL() << "three runs cannot determine the constants";
    } catch (InputError const& error) { EXPECT_EQ(error.fault(), Fault::insufficient); }
}

} // namespace
} // namespace headroom::fit
