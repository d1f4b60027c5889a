#include "support/made_trace.hpp"

#include "headroom/fit/trace_fit.hpp"
#include "headroom/trace/trace_slowdown.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace headroom {

using namespace headroom::trace;

namespace {

using test::MadeTrace;

/// Layers of three kernels; communication covers the middle one of every other layer, which then takes `slower` times as long.
RankTrace layers(int count, double slower, double noise = 0.0, std::uint64_t seed = 1) {
    std::mt19937_64 random{seed};
    std::normal_distribution<double> normal;
    MadeTrace made;
    Ticks clock = 1000;
    auto const run = [&](char const* name, double ticks) {
        auto const end = clock + static_cast<Ticks>(std::llround(ticks * (1.0 + noise * normal(random))));
        made.on_stream(SpanKind::compute, name, 7, clock, end);
        Ticks const begin = clock;
        clock = end + 10;
        return std::pair{begin, end};
    };
    for (int layer = 0; layer < count; ++layer) {
        bool const covered = layer % 2 == 1;
        run("norm", 10000);
        auto const [begin, end] = run("gemm", covered ? 100000 * slower : 100000);
        if (covered) { made.on_stream(SpanKind::communication, "ncclDevKernel_AllReduce", 20, begin, end); }
        run("gelu", 20000);
        run("gemm", 300000); // the same name, other work: its neighbours tell
        run("add", 5000);
    }
    return made.trace();
}

TEST(TraceSlowdown, SameKernelWithAndWithoutCommunication) {
    auto const kernels = kernels_beside_communication(layers(20, 1.25));
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(kernels[0].name, "gemm");
    EXPECT_EQ(kernels[0].alone.count, 10);
    EXPECT_EQ(kernels[0].beside.count, 10);
    // Expectation: the gemm of 300 us between other neighbours is no run of it.
    EXPECT_NEAR(kernels[0].alone.mean(), 100e-6, 1e-12);
    EXPECT_NEAR(kernels[0].beside.mean(), 125e-6, 1e-12);
    EXPECT_NEAR(kernels[0].alone.variance(), 0.0, 1e-20);
}

TEST(TraceSlowdown, KernelsThatShareTheDeviceOrAreHalfCoveredDoNotCount) {
    MadeTrace made;
    for (int i = 0; i < 4; ++i) {
        Ticks const at = 1000 * (i + 1);
        made.on_stream(SpanKind::compute, "a", 7, at, at + 100);
        if (i == 1) { made.on_stream(SpanKind::communication, "nccl", 20, at + 50, at + 100); } // half
        if (i == 2) {
            made.on_stream(SpanKind::communication, "nccl", 20, at, at + 100);
            made.on_stream(SpanKind::compute, "b", 8, at + 20, at + 40);
        }
    }
    EXPECT_TRUE(kernels_beside_communication(made.trace()).empty());
}

TEST(TraceSlowdown, NothingWithoutTimesOrDevice) {
    RankTrace sums = layers(20, 1.25);
    sums.only_sums = true;
    EXPECT_TRUE(kernels_beside_communication(sums).empty());
    MadeTrace host;
    host.on_thread(SpanKind::host, "aten::mm", 1, 0, 100);
    EXPECT_TRUE(kernels_beside_communication(host.trace()).empty());
}

TEST(TraceSlowdown, RatioComesOutWithinItsIntervalInNineOfTen) {
    int held = 0;
    constexpr int trials = 300;
    for (int trial = 0; trial < trials; ++trial) {
        TraceAnswer answer;
        answer.ranks.resize(1);
        answer.ranks[0].beside =
            kernels_beside_communication(layers(24, 1.2, 0.03, 1000U + static_cast<std::uint64_t>(trial)));
        auto const found = fit::compute_slowdown(answer);
        ASSERT_TRUE(found);
        held += found->ratio.low <= 1.2 && 1.2 <= found->ratio.high ? 1 : 0;
        EXPECT_NEAR(found->ratio.value, 1.2, 0.08);
    }
    EXPECT_GT(held, trials * 85 / 100);
    EXPECT_LT(held, trials * 97 / 100);
}

TEST(TraceSlowdown, LostRateIsWhatTheStepModelCallsALoss) {
    TraceAnswer answer;
    answer.ranks.resize(1);
    answer.ranks[0].beside = kernels_beside_communication(layers(20, 1.25));
    auto const found = fit::compute_slowdown(answer);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->ratio.value, 1.25, 1e-9);
    EXPECT_NEAR(found->lost_rate().value, 0.2, 1e-9); // 1 - 1 / 1.25
    EXPECT_EQ(found->kernels, 1U);
    answer.ranks[0].beside = kernels_beside_communication(layers(4, 1.25));
    EXPECT_FALSE(fit::compute_slowdown(answer)) << "two runs on a side are too few";
}

} // namespace
} // namespace headroom
