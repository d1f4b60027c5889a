#include "support/made_trace.hpp"
#include "support/trace_times.hpp"

#include "headroom/trace/rank_digest.hpp"
#include "headroom/trace/trace_breakdown.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::trace;

namespace {

using test::MadeTrace;

constexpr Ticks us = 1000;

/// Two kernels and a collective that overlaps the first and reaches beyond it.
MadeTrace two_kernels_and_a_collective() {
    MadeTrace made;
    made.on_stream(SpanKind::compute, "gemm", 7, 200 * us, 300 * us);
    made.on_stream(SpanKind::communication, "ncclDevKernel_AllReduce", 20, 120 * us, 180 * us);
    made.on_stream(SpanKind::compute, "gemm", 7, 100 * us, 150 * us);
    return made;
}

TEST(DeviceTimes, AreUnionsAndTheirIntersections) {
    auto const times = device_times(two_kernels_and_a_collective().trace());
    EXPECT_EQ(times.begin, 100 * us);
    EXPECT_EQ(times.end, 300 * us);
    EXPECT_EQ(times.window, 200 * us);
    EXPECT_EQ(times.compute, 150 * us);
    EXPECT_EQ(times.communication, 60 * us);
    EXPECT_EQ(times.overlap, 30 * us);
    EXPECT_EQ(times.exposed, 30 * us);
    EXPECT_EQ(times.busy, 180 * us);
    EXPECT_EQ(times.idle, 20 * us);
    EXPECT_EQ(times.count, (std::array<std::int64_t, 3>{2, 1, 0}));
}

TEST(DeviceTimes, OfAWindowAreClippedToIt) {
    // Expectation: [140, 220) holds the end of the first kernel, the end of the collective, the begin of the second.
    auto const times = device_times(two_kernels_and_a_collective().trace(), 140 * us, 220 * us);
    EXPECT_EQ(times.window, 80 * us);
    EXPECT_EQ(times.compute, 30 * us);
    EXPECT_EQ(times.communication, 40 * us);
    EXPECT_EQ(times.overlap, 10 * us);
    EXPECT_EQ(times.idle, 20 * us);
    EXPECT_EQ(times.total, (std::array<Ticks, 3>{30 * us, 40 * us, 0}));
}

TEST(DeviceTimes, CountKernelsThatOverlapOnOneStreamOnce) {
    MadeTrace made;
    made.on_stream(SpanKind::compute, "outer", 7, 0, 100);
    made.on_stream(SpanKind::compute, "inner", 7, 20, 50);
    made.on_stream(SpanKind::compute, "late", 7, 90, 120);
    made.on_stream(SpanKind::memory, "Memcpy HtoD", 9, 110, 140);
    auto const times = device_times(made.trace());
    EXPECT_EQ(times.compute, 120);
    EXPECT_EQ(times.memory, 30);
    EXPECT_EQ(times.memory_only, 20);
    EXPECT_EQ(times.total, (std::array<Ticks, 3>{160, 0, 30}));
}

TEST(DeviceTimes, AreOfTheDeviceAlone) {
    auto made = two_kernels_and_a_collective();
    made.on_stream(SpanKind::device_wait, "Stream Wait Event", 7, 0, 500 * us);
    made.on_thread(SpanKind::communication, "nccl:all_reduce", 1, 0, 500 * us);
    made.on_thread(SpanKind::host, "aten::mm", 1, 0, 500 * us);
    EXPECT_EQ(device_times(made.trace()).window, 200 * us);
}

// ---- idle time ------------------------------------------------------------------------------------------------------

TEST(IdleTime, IsTheHostsWhereTheLaunchCameLate) {
    // Expectation: the device is idle from 10 to 200 us. The call lasts until 105 us and a kernel may need 30 us: until
    // 135 us the host is to blame, from there the kernel waits.
    MadeTrace made;
    made.on_thread(SpanKind::launch, "cudaLaunchKernel", 1, 0, 5 * us, 1);
    made.on_stream(SpanKind::compute, "first", 7, 5 * us, 10 * us, 1);
    made.on_thread(SpanKind::launch, "cudaLaunchKernel", 1, 100 * us, 105 * us, 2);
    made.on_stream(SpanKind::compute, "second", 7, 200 * us, 210 * us, 2);
    auto const idle = breakdown_of(made.trace()).idle;
    EXPECT_EQ(idle.host_bound, 125 * us);
    EXPECT_EQ(idle.waiting, 65 * us);
    EXPECT_EQ(idle.other, 0);
}

TEST(IdleTime, IsWaitingWhereTheLaunchCameInTime) {
    MadeTrace made;
    made.on_thread(SpanKind::launch, "cudaLaunchKernel", 1, 0, 5 * us, 1);
    made.on_thread(SpanKind::launch, "cudaLaunchKernel", 1, 5 * us, 8 * us, 2);
    made.on_thread(SpanKind::launch, "cudaLaunchKernel", 1, 8 * us, 9 * us, 3);
    made.on_stream(SpanKind::compute, "first", 7, 10 * us, 20 * us, 1);
    made.on_stream(SpanKind::compute, "same stream, soon", 7, 25 * us, 30 * us, 2);    // 5 us: its own start
    made.on_stream(SpanKind::compute, "another stream", 8, 40 * us, 50 * us, 3);       // 10 us: it waited
    made.on_stream(SpanKind::compute, "launched elsewhere", 8, 57 * us, 60 * us, 999); // 7 us: nobody knows
    auto const breakdown = breakdown_of(made.trace());
    EXPECT_EQ(breakdown.idle.host_bound, 0);
    EXPECT_EQ(breakdown.idle.waiting, 10 * us);
    EXPECT_EQ(breakdown.idle.other, 12 * us);
    EXPECT_EQ(breakdown.without_launch, 1);
}

TEST(IdleTime, IsTheSameHoweverCorrelationsAreNumbered) {
    for (std::uint32_t const base : {1U, 4'000'000'000U}) {
        MadeTrace made;
        for (std::uint32_t i = 0; i < 50; ++i) {
            auto const at = static_cast<Ticks>(i) * 100 * us;
            made.on_thread(SpanKind::launch, "cudaLaunchKernel", 1, at + 50 * us, at + 60 * us, base + i);
            made.on_stream(SpanKind::compute, "kernel", 7, at + 70 * us, at + 100 * us, base + i);
        }
        auto const breakdown = breakdown_of(made.trace());
        EXPECT_EQ(breakdown.idle.host_bound, 49 * 70 * us);
        EXPECT_EQ(breakdown.without_launch, 0);
    }
}

// ---- steps and names ------------------------------------------------------------------------------------------------

TEST(Breakdown, TellsEveryStepInItsOwnWindow) {
    auto made = two_kernels_and_a_collective();
    made.step(6, 160 * us, 400 * us);
    made.step(5, 50 * us, 160 * us);  // annotations come in any order
    made.step(6, 160 * us, 400 * us); // told by a second thread
    auto const breakdown = breakdown_of(made.trace());
    EXPECT_FALSE(breakdown.steps_detected);
    ASSERT_EQ(breakdown.steps.size(), 2U);
    EXPECT_EQ(breakdown.steps[0].step.number, 5);
    EXPECT_EQ(breakdown.steps[0].shares.window, 110 * us);
    EXPECT_EQ(breakdown.steps[0].shares.compute, 50 * us);
    EXPECT_EQ(breakdown.steps[0].shares.exposed, 10 * us);
    EXPECT_EQ(breakdown.steps[0].shares.idle, 50 * us);
    EXPECT_EQ(breakdown.steps[1].shares.begin, 160 * us);
    EXPECT_EQ(breakdown.steps[1].shares.end, 300 * us);
    EXPECT_EQ(breakdown.steps[1].shares.idle, 120 * us);
    EXPECT_EQ(breakdown.steps[1].idle.other, 120 * us); // no launch is known
}

TEST(Breakdown, TakesRangesOfAGivenNameForSteps) {
    // Expectation: the outermost ranges of just that name; where there is none of it, those that have it in theirs. The
    // profiler's own steps do not count then, nor do copies of ranges on the device.
    MadeTrace made = two_kernels_and_a_collective();
    made.on_thread(SpanKind::annotation, "ProfilerStep#3", 1, 90 * us, 310 * us);
    made.on_thread(SpanKind::annotation, "train", 1, 95 * us, 190 * us);
    made.on_thread(SpanKind::annotation, "train", 1, 100 * us, 120 * us);
    made.on_thread(SpanKind::annotation, "train_step", 1, 195 * us, 305 * us);
    made.on_stream(SpanKind::annotation, "train", 7, 400 * us, 500 * us);
    auto const trace = made.trace();
    auto const windows = [&](std::string_view name) {
        std::vector<std::pair<Ticks, Ticks>> all;
        for (auto const& step : breakdown_of(trace, name).steps) {
            EXPECT_EQ(step.step.number, static_cast<std::int64_t>(all.size()));
            all.emplace_back(step.step.begin, step.step.end);
        }
        return all;
    };
    using Windows = std::vector<std::pair<Ticks, Ticks>>;
    EXPECT_EQ(windows("train"), (Windows{{95 * us, 190 * us}}));
    EXPECT_EQ(windows("rain"), (Windows{{95 * us, 190 * us}, {195 * us, 305 * us}}));
    EXPECT_TRUE(windows("validate").empty());
    EXPECT_EQ(breakdown_of(trace, "rain").steps[1].shares.compute, 100 * us);
}

TEST(Breakdown, TakesTheOnlyRepeatedNameOfATrainingStep) {
    auto const trained = [](std::string const& other) {
        MadeTrace made;
        for (int step = 0; step < 3; ++step) {
            Ticks const at = 1000 * us * step;
            made.on_stream(SpanKind::compute, "gemm", 7, at + 100 * us, at + 300 * us);
            made.on_thread(SpanKind::annotation, "train_step", 1, at, at + 900 * us);
            if (!other.empty()) { made.on_thread(SpanKind::annotation, other, 1, at + 900 * us, at + 950 * us); }
        }
        return breakdown_of(made.trace());
    };
    for (std::string const other : {"", "step", "evaluate"}) {
        auto const found = trained(other);
        ASSERT_EQ(found.steps.size(), 3U) << other;
        EXPECT_FALSE(found.steps_detected) << other;
        EXPECT_EQ(found.steps[1].step.number, 1) << other;
        EXPECT_EQ(found.steps[1].step.begin, 1000 * us) << other;
    }
    auto const two = trained("iteration"); // which of them is the step?
    EXPECT_TRUE(two.steps.empty() || two.steps_detected);
}

TEST(Breakdown, CountsAStepOnceThatTwoThreadsRecord) {
    MadeTrace made;
    for (int step = 0; step < 3; ++step) {
        Ticks const at = 1000 * us * step;
        made.on_stream(SpanKind::compute, "gemm", 7, at + 100 * us, at + 300 * us);
        made.on_thread(SpanKind::annotation, "iteration " + std::to_string(step), 1, at, at + 1000 * us);
        made.on_thread(SpanKind::annotation, "iteration " + std::to_string(step), 2, at + 100 * us, at + 1050 * us);
    }
    auto const lengths = [](RankTrace const& trace) {
        std::vector<Ticks> all;
        for (auto const& step : breakdown_of(trace).steps) { all.push_back(step.step.end - step.step.begin); }
        return all;
    };
    EXPECT_EQ(lengths(made.trace()), std::vector<Ticks>(3, 1000 * us));
    auto numbered = two_kernels_and_a_collective();
    numbered.step(0, 105 * us, 250 * us);
    numbered.step(0, 100 * us, 300 * us);
    EXPECT_EQ(lengths(numbered.trace()), std::vector<Ticks>{200 * us});
}

TEST(Breakdown, LeavesTheTimeBetweenTwoCyclesOfAProfilerOut) {
    MadeTrace made;
    for (int const step : {2, 3, 12, 13}) {
        Ticks const at = 1000 * us * step;
        made.on_stream(SpanKind::compute, "gemm", 7, at + 100 * us, at + 700 * us);
        made.step(step, at, at + 1000 * us);
    }
    auto const whole = breakdown_of(made.trace());
    // Expectation: 2.1 to 4.0 ms, the end of a step, and 12.0 to 13.7 ms were recorded.
    EXPECT_EQ(whole.whole.window, 1'900 * us + 1'700 * us);
    EXPECT_EQ(whole.whole.idle, whole.whole.window - 2'400 * us);
    EXPECT_EQ(whole.idle.other + whole.idle.host_bound + whole.idle.waiting, whole.whole.idle);
}

TEST(Breakdown, NumbersStepsWhoseNamesWereCutShort) {
    auto made = two_kernels_and_a_collective();
    made.on_thread(SpanKind::annotation, "ProfilerStep*", 1, 200 * us, 300 * us);
    made.on_thread(SpanKind::annotation, "ProfilerStep*", 1, 100 * us, 200 * us);
    made.on_stream(SpanKind::annotation, "ProfilerStep*", 7, 120 * us, 300 * us); // the device's copy is no step
    auto const steps = detected_steps(made.trace());
    ASSERT_EQ(steps.size(), 2U);
    EXPECT_EQ(steps[0].number, 0);
    EXPECT_EQ(steps[0].begin, 100 * us);
    EXPECT_EQ(steps[1].number, 1);
}

TEST(Breakdown, SumsNamesByKind) {
    auto made = two_kernels_and_a_collective();
    made.on_stream(SpanKind::memory, "gemm", 9, 400 * us, 401 * us); // the same name as a copy
    auto const names = breakdown_of(made.trace()).names;
    ASSERT_EQ(names.size(), 3U);
    EXPECT_EQ(names[0].name, "gemm");
    EXPECT_EQ(names[0].kind, SpanKind::compute);
    EXPECT_EQ(names[0].count, 2);
    EXPECT_EQ(names[0].total, 150 * us);
    EXPECT_EQ(names[0].shortest, 50 * us);
    EXPECT_EQ(names[0].longest, 100 * us);
    EXPECT_EQ(names[1].kind, SpanKind::communication);
    EXPECT_EQ(names[2].kind, SpanKind::memory);
}

TEST(Breakdown, OfNothingIsNothing) {
    auto const breakdown = breakdown_of(RankTrace{});
    EXPECT_EQ(breakdown.whole.window, 0);
    EXPECT_TRUE(breakdown.steps.empty());
    MadeTrace made;
    made.step(1, 0, 100); // a step without any work is idle
    EXPECT_EQ(breakdown_of(made.trace()).steps.at(0).shares.idle, 100);
}

// ---- without a device -----------------------------------------------------------------------------------------------

TEST(HostBreakdown, TakesOperatorsForComputeAndTransfersForCommunication) {
    MadeTrace made;
    made.on_thread(SpanKind::annotation, "ProfilerStep#0", 1, 0, 1000);
    made.on_thread(SpanKind::host, "backward", 1, 0, 900); // a range: it also waits for the transfers
    made.on_thread(SpanKind::host, "autograd::engine::evaluate_function: AddmmBackward0", 1, 100, 400);
    made.on_thread(SpanKind::host, "AddmmBackward0", 1, 100, 390);
    made.on_thread(SpanKind::host, "aten::mm", 1, 150, 300);
    made.on_thread(SpanKind::host, "c10d::allreduce_", 1, 400, 420); // asks, and does no work
    made.on_thread(SpanKind::communication, "gloo:all_reduce", 2, 350, 800);
    made.on_thread(SpanKind::host, "aten::copy_", 1, 850, 880);
    made.step(0, 0, 1000);

    auto const breakdown = breakdown_of(made.trace());

    EXPECT_TRUE(breakdown.on_host);
    auto const& step = breakdown.steps.at(0).shares;
    EXPECT_EQ(step.compute, 330);
    EXPECT_EQ(step.communication, 450);
    EXPECT_EQ(step.overlap, 50);
    EXPECT_EQ(step.exposed, 400);
    EXPECT_EQ(step.memory, 0);
    EXPECT_EQ(step.idle, 270);
    EXPECT_EQ(breakdown.steps.at(0).idle.other, 270);
}

TEST(HostBreakdown, LeavesWaitsInsideOfOperatorsOut) {
    MadeTrace made;
    made.on_thread(SpanKind::host, "fsdp::pre_forward", 1, 0, 100);
    made.on_thread(SpanKind::host, "_c10d_functional::wait_tensor", 1, 20, 90);
    made.on_thread(SpanKind::host, "aten::empty", 1, 30, 40); // what a wait does inside is waiting
    made.on_thread(SpanKind::communication, "gloo:all_gather", 2, 10, 90);
    auto const times = device_times(made.trace());
    EXPECT_EQ(times.compute, 30);
    EXPECT_EQ(times.overlap, 10);
    EXPECT_EQ(times.exposed, 70);
}

TEST(HostBreakdown, LeavesOutTheOwnTimeOfAnOperatorThatATransferEnds) {
    MadeTrace made; // 900 us in an exchange's backward pass: all but the copies in it is waiting
    made.on_thread(SpanKind::host, "ExchangeBackward", 1, 0, 1'000'000);
    made.on_thread(SpanKind::host, "aten::empty", 1, 0, 50'000);
    made.on_thread(SpanKind::communication, "gloo:all_to_all", 2, 60'000, 940'000);
    made.on_thread(SpanKind::host, "aten::copy_", 1, 950'000, 1'000'000);
    auto times = device_times(made.trace());
    EXPECT_EQ(times.compute, 110'000); // the copies, and 10 us from the end of the transfer on
    EXPECT_EQ(times.exposed, 880'000);
    MadeTrace computing; // ATen computes meanwhile, whenever the transfer ends
    computing.on_thread(SpanKind::host, "MmBackward0", 1, 0, 1'000'000);
    computing.on_thread(SpanKind::host, "aten::mm", 1, 0, 1'000'000);
    computing.on_thread(SpanKind::communication, "gloo:all_to_all", 2, 60'000, 990'000);
    times = device_times(computing.trace());
    EXPECT_EQ(times.compute, 1'000'000);
    EXPECT_EQ(times.exposed, 0);
}

TEST(HostBreakdown, TakesLeavesForWorkWhereNoOperatorIsNamed) {
    MadeTrace made;
    made.on_thread(SpanKind::host, "main", 1, 0, 100);
    made.on_thread(SpanKind::host, "solve", 1, 10, 60);
    made.on_thread(SpanKind::communication, "mpi:allreduce", 1, 60, 90);
    auto const times = device_times(made.trace());
    EXPECT_EQ(times.compute, 50);
    EXPECT_EQ(times.communication, 30);
    EXPECT_EQ(times.exposed, 30);
}

TEST(HostBreakdown, SurvivesIntervalsThatDoNotNest) {
    MadeTrace made;
    made.on_thread(SpanKind::host, "aten::a", 1, 0, 50);
    made.on_thread(SpanKind::host, "aten::b", 1, 30, 80); // reaches beyond what it began in
    made.on_thread(SpanKind::host, "aten::c", 1, 60, 50); // ends before it begins
    made.on_thread(SpanKind::host, "aten::d", 1, 80, 95);
    auto const times = device_times(made.trace());
    EXPECT_EQ(times.compute, 95);
    EXPECT_EQ(times.idle, 0);
}

// ---- what has no other side -----------------------------------------------------------------------------------------

/// So many launches, of which each `every`-th has a kernel.
RankTrace launched(int calls, int every) {
    test::MadeTrace trace;
    for (int i = 1; i <= calls; ++i) {
        auto const number = static_cast<std::uint32_t>(i);
        trace.on_thread(SpanKind::launch, "hipExtModuleLaunchKernel", 1, i * 100, i * 100 + 5, number);
        if (i % every == 0) { trace.on_stream(SpanKind::compute, "gemm", 7, i * 100 + 10, i * 100 + 50, number); }
    }
    trace.on_thread(SpanKind::launch, "hipMalloc", 1, 10, 20, 100'000); // starts nothing
    return trace.trace();
}

TEST(Breakdown, LaunchesWithoutDeviceWorkAreCounted) {
    auto const dropped = breakdown_of(launched(1000, 100));
    EXPECT_EQ(dropped.launches, 1000);
    EXPECT_EQ(dropped.without_work, 990);
    EXPECT_TRUE(dropped.work_missing);
    auto const half = breakdown_of(launched(10, 2));
    EXPECT_EQ(half.without_work, 5);
    EXPECT_TRUE(half.work_missing);
    auto const whole = breakdown_of(launched(100, 1));
    EXPECT_EQ(whole.launches, 100);
    EXPECT_EQ(whole.without_work, 0);
    EXPECT_FALSE(whole.work_missing);
    auto const none = breakdown_of(launched(100, 1000)); // no kernel was kept at all
    EXPECT_EQ(none.without_work, 100);
    EXPECT_TRUE(none.work_missing);
    auto const digest = digest_of(launched(1000, 100));
    EXPECT_TRUE(std::ranges::any_of(digest.issues, [](TraceIssue const& issue) {
        return issue.kind == "launches without device work" && issue.count == 990;
    }));
}

TEST(Breakdown, WhatCannotBeTiedIsNotMissing) {
    auto trace = launched(10, 2);
    trace.host_is_shared = true; // the other kernels are on another rank
    EXPECT_EQ(breakdown_of(trace).without_work, 0);
    auto untied = launched(10, 1);
    std::ranges::replace_if(
        untied.correlation, [](std::uint32_t number) { return number == 4; }, 0U);
    EXPECT_EQ(breakdown_of(untied).without_work, 0) << "a kernel that lost its launch, and the launch";
    test::MadeTrace without;
    without.on_thread(SpanKind::launch, "cudaLaunchKernel", 1, 0, 5, 1);
    without.on_stream(SpanKind::compute, "gemm", 7, 10, 50);
    EXPECT_EQ(breakdown_of(without.trace()).without_work, 0) << "kernels state no launches";
}

TEST(Breakdown, DeviceWorkOutsideOfAllStepsIsCounted) {
    test::MadeTrace trace;
    for (int step = 0; step < 4; ++step) {
        trace.on_thread(SpanKind::annotation, "ProfilerStep#" + std::to_string(step), 1, 1000 * step,
                        1000 * step + 900);
        trace.on_stream(SpanKind::compute, "gemm", 7, 1000 * step + 4500, 1000 * step + 5000);
    }
    auto recorded = trace.trace();
    for (std::int64_t step = 0; step < 4; ++step) { recorded.steps.push_back({step, 1000 * step, 1000 * step + 900}); }
    auto const after = breakdown_of(recorded);
    EXPECT_EQ(after.outside_steps, 4);
    EXPECT_DOUBLE_EQ(after.outside_share, 1.0);
    recorded.timeline.begin[1] = 500, recorded.timeline.end[1] = 1200; // 400 in the first step, 200 in the second
    auto const partly = breakdown_of(recorded);
    EXPECT_EQ(partly.outside_steps, 3);
    EXPECT_DOUBLE_EQ(partly.outside_share, 1.0 - 600.0 / 2200.0);
    auto const digest = digest_of(recorded);
    EXPECT_TRUE(std::ranges::any_of(digest.issues, [](TraceIssue const& issue) {
        return issue.kind == "device work outside of all steps" && issue.count == 3;
    }));
}

} // namespace
} // namespace headroom
