#include "support/made_trace.hpp"
#include "support/trace_times.hpp"

#include "headroom/trace/trace_breakdown.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::trace;

namespace {

using test::MadeTrace;

constexpr Ticks horizon = 200;

/// Intervals of all lengths, none among them, on three streams; some beyond the horizon's ends.
MadeTrace random_trace(std::mt19937_64& random) {
    MadeTrace made;
    auto const upto = [&](Ticks bound) { return static_cast<Ticks>(random() % static_cast<std::uint64_t>(bound)); };
    auto const count = upto(30), longest = 1 + upto(60);
    for (Ticks i = 0; i < count; ++i) {
        auto const begin = upto(horizon) - 10;
        auto const kind = span_kinds[static_cast<std::size_t>(upto(4))]; // waits of the device among them: no work
        auto const correlation = static_cast<std::uint32_t>(upto(40));
        auto const stream = static_cast<int>(upto(3));
        made.on_stream(kind, "k" + std::to_string(upto(5)), stream, begin, begin + upto(longest), correlation);
        if (upto(2) == 0) { made.on_thread(SpanKind::launch, "call", 1, begin - upto(50), begin, correlation); }
    }
    made.on_thread(SpanKind::host, "aten::mm", 1, 0, horizon); // never counts beside a device
    return made;
}

/// Every nanosecond by itself.
DeviceTimes counted(RankTrace const& trace, Ticks begin, Ticks end) {
    DeviceTimes times;
    times.window = end - begin;
    times.begin = times.end = begin;
    auto const& timeline = trace.timeline;
    bool seen = false;
    for (Ticks now = begin; now < end; ++now) {
        std::array<bool, 3> on{};
        for (std::size_t i = 0; i < trace.size(); ++i) {
            if (!occupies_device(trace.kind[i]) || now < timeline.begin[i] || now >= timeline.end[i]) { continue; }
            on[static_cast<std::size_t>(trace.kind[i])] = true;
            ++times.total[static_cast<std::size_t>(trace.kind[i])];
        }
        auto const [compute, communication, memory] = on;
        bool const busy = compute || communication || memory;
        times.compute += compute;
        times.communication += communication;
        times.memory += memory;
        times.busy += busy;
        times.idle += !busy;
        times.overlap += compute && communication;
        times.exposed += communication && !compute;
        times.overlap_any += communication && (compute || memory);
        times.memory_only += memory && !compute && !communication;
        if (busy && !seen) { times.begin = now; }
        seen = seen || busy;
        if (busy) { times.end = now + 1; }
    }
    for (std::size_t i = 0; i < trace.size(); ++i) {
        bool const inside = std::max(begin, timeline.begin[i]) < std::min(end, timeline.end[i]);
        if (occupies_device(trace.kind[i]) && inside) { ++times.count[static_cast<std::size_t>(trace.kind[i])]; }
    }
    return times;
}

void expect_equal(DeviceTimes const& found, DeviceTimes const& expected) {
    EXPECT_EQ(found.begin, expected.begin);
    EXPECT_EQ(found.end, expected.end);
    EXPECT_EQ(found.window, expected.window);
    EXPECT_EQ(found.busy, expected.busy);
    EXPECT_EQ(found.idle, expected.idle);
    EXPECT_EQ(found.compute, expected.compute);
    EXPECT_EQ(found.communication, expected.communication);
    EXPECT_EQ(found.memory, expected.memory);
    EXPECT_EQ(found.overlap, expected.overlap);
    EXPECT_EQ(found.exposed, expected.exposed);
    EXPECT_EQ(found.memory_only, expected.memory_only);
    EXPECT_EQ(found.overlap_any, expected.overlap_any);
    EXPECT_EQ(found.count, expected.count);
    EXPECT_EQ(found.total, expected.total);
}

void expect_whole(DeviceTimes const& times, IdleShares const& idle) {
    EXPECT_EQ(times.compute + times.exposed + times.memory_only + times.idle, times.window);
    EXPECT_EQ(times.overlap + times.exposed, times.communication);
    EXPECT_EQ(idle.host_bound + idle.waiting + idle.other, times.idle);
    EXPECT_GE(std::min({idle.host_bound, idle.waiting, idle.other}), 0);
}

TEST(BreakdownProperty, IsWhatCountingEveryNanosecondGives) {
    std::mt19937_64 random{20260101};
    for (int round = 0; round < 400; ++round) {
        auto made = random_trace(random);
        for (std::int64_t i = 0; i < 4; ++i) { // overlapping, of no length, outside of all work
            auto const begin = static_cast<Ticks>(random() % 260) - 30;
            made.step(i, begin, begin + static_cast<Ticks>(random() % 90));
        }
        auto const& trace = made.trace();
        auto const breakdown = breakdown_of(trace);
        if (breakdown.on_host) { continue; } // by chance nothing for the device
        ASSERT_EQ(breakdown.steps.size(), 4U);
        for (auto const& step : breakdown.steps) {
            expect_equal(step.shares, counted(trace, step.step.begin, step.step.end));
            expect_equal(device_times(trace, step.step.begin, step.step.end), step.shares);
            expect_whole(step.shares, step.idle);
        }
        auto const& whole = breakdown.whole;
        auto expected = counted(trace, whole.begin, whole.end);
        EXPECT_TRUE(whole.busy > 0 || whole.window == 0); // what takes no time opens no window
        expected.count = whole.count;
        expect_equal(whole, expected);
        expect_equal(device_times(trace), whole);
        expect_whole(whole, breakdown.idle);
        if (HasFailure()) { FAIL() << "round " << round; }
    }
}

TEST(BreakdownProperty, StaysInRangeWhereTimesAreAsLargeAsNumbersAre) {
    // Expectation: no overflow (the sanitizer would say so) and the same identities.
    constexpr auto last = std::numeric_limits<Ticks>::max();
    std::mt19937_64 random{5};
    for (int round = 0; round < 200; ++round) {
        MadeTrace made;
        for (int i = 0; i < 40; ++i) {
            auto const at = [&] { return static_cast<Ticks>(random() >> (1 + random() % 62)); };
            auto const begin = at(), end = random() % 4 == 0 ? last : at();
            auto const kind = span_kinds[random() % span_kinds.size()];
            auto const correlation = static_cast<std::uint32_t>(random() % 8);
            made.span(kind, "k" + std::to_string(i % 3), {random() % 8 != 0, 0, 1}, begin, std::max(begin, end),
                      correlation);
            made.on_thread(SpanKind::launch, "call", 1, at() / 2, last, correlation);
        }
        made.step(1, 0, last);
        made.step(2, last / 2, last);
        auto const breakdown = breakdown_of(made.trace());
        expect_whole(breakdown.whole, breakdown.idle);
        for (auto const& step : breakdown.steps) { expect_whole(step.shares, step.idle); }
        made.trace().steps.clear();
        expect_whole(breakdown_of(made.trace()).whole, breakdown.idle);
    }
}

TEST(BreakdownProperty, DoesNotDependOnTheOrderOfIntervals) {
    std::mt19937_64 random{7};
    for (int round = 0; round < 50; ++round) {
        auto made = random_trace(random);
        auto& trace = made.trace();
        auto const before = device_times(trace);
        auto const half = static_cast<std::ptrdiff_t>(trace.size() / 2);
        auto const turn = [&](auto& column) { std::rotate(column.begin(), column.begin() + half, column.end()); };
        turn(trace.timeline.begin);
        turn(trace.timeline.end);
        turn(trace.timeline.lane);
        turn(trace.timeline.name);
        turn(trace.kind);
        turn(trace.correlation);
        expect_equal(device_times(trace), before);
    }
}

} // namespace
} // namespace headroom
