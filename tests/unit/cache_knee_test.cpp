#include "headroom/measure/cache_knee.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace headroom::measure {
namespace {

constexpr std::uint64_t mebi = 1U << 20U;

TEST(CacheKnee, LiesWhereLoadsBeginToComeFromMemory) {
    // Expectation: between 20 and 110 ns the middle is 47 ns; 16 MiB are the last below.
    std::vector<LoadLatency> const rising{{4 * mebi, 20e-9},  {8 * mebi, 22e-9},   {16 * mebi, 30e-9},
                                          {32 * mebi, 70e-9}, {64 * mebi, 100e-9}, {128 * mebi, 110e-9}};
    EXPECT_EQ(cache_knee(rising), 16 * mebi);
}

TEST(CacheKnee, IsNotSeenWhereAllSetsAreInOneLevel) {
    EXPECT_FALSE(cache_knee(std::vector<LoadLatency>{{4 * mebi, 20e-9}, {8 * mebi, 22e-9}, {16 * mebi, 25e-9}}));
    EXPECT_FALSE(cache_knee(std::vector<LoadLatency>{{4 * mebi, 20e-9}}));
    EXPECT_FALSE(cache_knee({}));
}

TEST(CacheKnee, IsTheFirstSetWhereTheNextIsInMemory) {
    EXPECT_EQ(cache_knee(std::vector<LoadLatency>{{4 * mebi, 20e-9}, {8 * mebi, 90e-9}}), 4 * mebi);
}

} // namespace
} // namespace headroom::measure
