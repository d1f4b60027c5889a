#include "headroom/network/comparison.hpp"

#include <gtest/gtest.h>

#include <array>

namespace headroom {

using namespace headroom::network;

namespace {

using namespace units;

TEST(BusBandwidth, OfARingIsTheLinksRate) {
    // Expectation: a ring without latency keeps every link busy, so its bus bandwidth is the link's.
    Link const link{.latency = Seconds{}, .bandwidth = 450.0 * GB / s};
    TotalBytes const n{140.0 * GB};
    double const reduce = bus_bandwidth_factor(Collective::all_reduce, Ranks{8});
    EXPECT_DOUBLE_EQ((reduce * n.size / ring_all_reduce(n, Ranks{8}, link).total()).in(GB / s), 450.0);
    double const gather = bus_bandwidth_factor(Collective::all_gather, Ranks{8});
    EXPECT_DOUBLE_EQ((gather * n.size / ring_half(n, Ranks{8}, link).total()).in(GB / s), 450.0);
    EXPECT_EQ(bus_bandwidth_factor(Collective::broadcast, Ranks{8}), 1.0);
}

TEST(Crossovers, OfTreeAndRingIsWhereTheirTimesAreEqual) {
    // Expectation: 6 a + 2 n/B = 14 a + 7/4 n/B at n = 32 a B: 3.2 MB for 1 us and 100 GB/s.
    Link const link{.latency = 1.0 * us, .bandwidth = 100.0 * GB / s};
    std::array<TimeOfSize, 2> const both{[&](TotalBytes n) { return ring_all_reduce(n, Ranks{8}, link).total(); },
                                         [&](TotalBytes n) { return tree_all_reduce(n, Ranks{8}, link).total(); }};
    auto const found = crossovers(both, {1.0 * KiB}, {1.0 * TiB});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NEAR(found[0].size.size.in(MB), 3.2, 1e-6);
    EXPECT_EQ(found[0].below, 1U);
    EXPECT_EQ(found[0].above, 0U);
}

TEST(Crossovers, SeveralWithinOneDoublingAreAllFound) {
    // Expectation: of 4, 1 + 2 n and 3 n the last is fastest to n = 1, then the second to 1.5, then the constant.
    std::array<TimeOfSize, 3> const lines{[](TotalBytes) { return Seconds{4.0}; },
                                          [](TotalBytes n) { return Seconds{1.0 + 2.0 * n.size.base()}; },
                                          [](TotalBytes n) { return Seconds{3.0 * n.size.base()}; }};
    auto const found = crossovers(lines, {0.9 * byte}, {1.8 * byte});
    ASSERT_EQ(found.size(), 2U);
    EXPECT_NEAR(found[0].size.size.base(), 1.0, 1e-6);
    EXPECT_NEAR(found[1].size.size.base(), 1.5, 1e-6);
}

TEST(FastestOf, EqualTimesGoToTheEarlier) {
    std::array<TimeOfSize, 2> const same{[](TotalBytes) { return Seconds{1.0}; },
                                         [](TotalBytes) { return Seconds{1.0 - 1e-12}; }};
    EXPECT_EQ(fastest_of(same, {1.0 * GB}), 0U);
    EXPECT_TRUE(crossovers(same, {1.0 * KiB}, {1.0 * TiB}).empty());
}

} // namespace
} // namespace headroom
