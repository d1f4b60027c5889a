#include "support/made_trace.hpp"

#include "headroom/trace/rank_trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace headroom {

using namespace headroom::trace;

namespace {

using test::MadeTrace;

TEST(SpansByLane, PutsWhatNestsAfterWhatItNestsIn) {
    MadeTrace made;
    auto const inner = made.on_thread(SpanKind::host, "inner", 1, 10, 20);
    auto const later = made.on_thread(SpanKind::host, "later", 1, 30, 40);
    auto const outer = made.on_thread(SpanKind::host, "outer", 1, 10, 40);
    auto const kernel = made.on_stream(SpanKind::compute, "kernel", 7, 15, 25);
    auto const twin = made.on_thread(SpanKind::host, "inner", 1, 10, 20);

    auto const lanes = spans_by_lane(made.trace());

    ASSERT_EQ(lanes.size(), 2U);
    EXPECT_EQ(lanes[0], (std::vector{outer, inner, twin, later}));
    EXPECT_EQ(lanes[1], (std::vector{kernel}));
}

TEST(SpansByLane, IsTheStableSortOfEachLane) {
    std::mt19937_64 random{7};
    for (std::int64_t const range : {std::int64_t{50}, std::int64_t{1} << 20, std::int64_t{1} << 55}) {
        MadeTrace made;
        for (int i = 0; i < 6000; ++i) {
            auto const begin = static_cast<Ticks>(random() % static_cast<std::uint64_t>(range)) - range / 2;
            made.on_thread(SpanKind::host, "x", static_cast<int>(random() % 3), begin,
                           begin + static_cast<Ticks>(random() % 4));
        }
        auto const& timeline = made.trace().timeline;
        auto const lanes = spans_by_lane(made.trace());
        for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
            std::vector<std::uint32_t> expected;
            for (std::uint32_t i = 0; i < timeline.size(); ++i) {
                if (timeline.lane[i] == lane) { expected.push_back(i); }
            }
            std::stable_sort(expected.begin(), expected.end(), [&](std::uint32_t a, std::uint32_t b) {
                return std::pair(timeline.begin[a], -timeline.end[a]) < std::pair(timeline.begin[b], -timeline.end[b]);
            });
            EXPECT_EQ(lanes[lane], expected);
        }
    }
}

TEST(SpansByLane, OfNothingIsNothing) { EXPECT_TRUE(spans_by_lane(RankTrace{}).empty()); }

} // namespace
} // namespace headroom
