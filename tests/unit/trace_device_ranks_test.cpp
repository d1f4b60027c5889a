// Several devices of one process: which ranks they are, and whose steps they have.

#include "support/chrome_events.hpp"

#include "headroom/trace/rank_digest.hpp"
#include "headroom/trace/trace_breakdown.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::trace;
using test::Events;

namespace {

std::vector<std::int64_t> step_numbers(RankTrace const& trace) {
    std::vector<std::int64_t> numbers;
    for (auto const& step : breakdown_of(trace).steps) { numbers.push_back(step.detected ? -1 : step.step.number); }
    return numbers;
}

using Numbers = std::vector<std::int64_t>;

/// Two devices that work one after the other, in two steps of 1000 us.
Events layers_on_two_devices() {
    Events events;
    for (int step = 0; step < 2; ++step) {
        int const at = 1000 * step;
        events.span("900", "900", fmt::format("ProfilerStep#{}", step), at, 1000, R"(,"cat":"user_annotation")")
            .launch("900", at + 10, 10 * step + 1)
            .launch("900", at + 20, 10 * step + 2)
            .kernel(0, at + 100, 400, 10 * step + 1)
            .kernel(1, at + 500, 300, 10 * step + 2);
    }
    return events;
}

TEST(TraceDeviceRanks, OfOneProcessAreRanksWithItsSteps) {
    auto const traces = layers_on_two_devices().read(
        R"("schemaVersion":1,"deviceProperties":[{"id":0,"name":"A100"},{"id":1,"name":"H100"}],)");
    ASSERT_EQ(traces.size(), 2U);
    for (std::int64_t rank = 0; rank < 2; ++rank) {
        RankTrace const& trace = traces[static_cast<std::size_t>(rank)];
        auto const breakdown = breakdown_of(trace);
        EXPECT_EQ(trace.rank, rank);
        EXPECT_EQ(trace.device.name, rank == 0 ? "A100" : "H100");
        EXPECT_EQ(breakdown.whole.compute, rank == 0 ? 800'000 : 600'000);
        EXPECT_EQ(breakdown.without_launch, 0);
        EXPECT_EQ(step_numbers(trace), (Numbers{0, 1}));
        EXPECT_EQ(breakdown.steps.at(1).shares.compute, rank == 0 ? 400'000 : 300'000);
    }
}

TEST(TraceDeviceRanks, HaveTheThreadsThatDriveThem) {
    auto const traces = Events{}
                            .span("900", "1", "ProfilerStep#4", 0, 1000, R"(,"cat":"user_annotation")")
                            .launch("1", 10, 1)
                            .launch("2", 20, 2) // a thread of its own for the second device
                            .kernel(0, 100, 400, 1)
                            .kernel(1, 100, 300, 2)
                            .read();
    ASSERT_EQ(traces.size(), 2U);
    auto const calls = [](RankTrace const& trace) {
        return std::count(trace.kind.begin(), trace.kind.end(), SpanKind::launch);
    };
    EXPECT_EQ(calls(traces[0]), 1);
    EXPECT_EQ(calls(traces[1]), 2) << "the thread of the steps is everybody's";
    EXPECT_EQ(step_numbers(traces[1]), (Numbers{4}));
}

TEST(TraceDeviceRanks, OfOneStatedRankAreNamedInAnIssue) {
    auto const traces =
        layers_on_two_devices().read(R"("schemaVersion":1,"distributedInfo":{"rank":3,"world_size":8},)");
    ASSERT_EQ(traces.size(), 1U);
    EXPECT_EQ(traces[0].rank, 3);
    ASSERT_EQ(traces[0].issues.size(), 1U);
    EXPECT_EQ(traces[0].issues[0].kind, "several devices in one rank, read as one");
    EXPECT_EQ(traces[0].issues[0].count, 2U);
}

TEST(TraceDeviceRanks, WithStrayKernelsAloneAreNoRanks) {
    auto const traces = Events{}.kernel(0, 10, 2).kernel(5, 100, 400).read();
    ASSERT_EQ(traces.size(), 1U);
    EXPECT_TRUE(traces[0].issues.empty());
}

/// Two devices of XLA, each with a kernel of 300 us in each of three steps.
Events two_devices_of_xla() {
    Events events;
    for (int device = 0; device < 2; ++device) {
        auto const pid = std::to_string(device + 1);
        events.process(pid, fmt::format("/device:GPU:{}", device)).thread(pid, "7", "Stream #7(Compute)");
        events.thread(pid, "20", "Steps");
        for (int step = 0; step < 3; ++step) { events.span(pid, "7", "fusion", 1000 * step + 100, 300); }
    }
    return events.process("701", "/host:CPU");
}

TEST(TraceDeviceRanks, OfXlaHaveTheStepsOfTheirHost) {
    auto named = two_devices_of_xla(), stated = two_devices_of_xla(), parts = two_devices_of_xla();
    for (int step = 0; step < 3; ++step) {
        named.span("701", "1", fmt::format("train {}", 10 + step), 1000 * step, 900);
        auto const number = fmt::format(R"(,"args":{{"step_num":"{}"}})", 10 + step);
        stated.span("701", "1", "train", 1000 * step, 900, number);
        parts.span("701", "1", "forward", 1000 * step, 400, number);
        parts.span("701", "1", "backward", 1000 * step + 400, 500, number);
    }
    for (auto const& events : {named, stated}) {
        auto const traces = events.read();
        ASSERT_EQ(traces.size(), 2U);
        for (auto const& trace : traces) {
            EXPECT_EQ(step_numbers(trace), (Numbers{10, 11, 12}));
            EXPECT_EQ(breakdown_of(trace).steps[1].shares.compute, 300'000);
        }
    }
    auto const host_work = [](RankTrace const& trace) {
        return std::count(trace.kind.begin(), trace.kind.end(), SpanKind::host);
    };
    EXPECT_EQ(host_work(stated.read().at(1)), 0) << "a step is no work of the host";
    auto const of_parts = parts.read();
    EXPECT_EQ(host_work(of_parts.at(0)), 6);
    for (auto const number : step_numbers(of_parts[0])) { EXPECT_EQ(number, -1) << "parts of steps are none"; }
}

TEST(TraceDeviceRanks, OfXlaDrawStepsWhereTheHostNamesNone) {
    auto events = two_devices_of_xla();
    for (int step = 0; step < 3; ++step) {
        events.span("1", "20", std::to_string(step + 5), 1000 * step + 100, 300);
        events.span("2", "20", std::to_string(step + 5), 1000 * step + 100, 300);
    }
    auto const drawn = events.read();
    ASSERT_EQ(drawn.size(), 2U);
    EXPECT_EQ(step_numbers(drawn[0]), (Numbers{5, 6, 7}));
    EXPECT_EQ(step_numbers(drawn[1]), (Numbers{5, 6, 7}));
    auto const named = events.span("701", "1", "train 0", 0, 900).span("701", "1", "train 1", 1000, 900).read();
    EXPECT_EQ(step_numbers(named.at(1)), (Numbers{0, 1}));
}

} // namespace
} // namespace headroom
