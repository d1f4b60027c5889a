#include "support/latencies.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/fan_out.hpp"

#include <gtest/gtest.h>

namespace headroom {

using namespace headroom::serving;

namespace {

TEST(HedgeUnderLoad, IsTheBareHedgeWithoutLoad) {
    LatencyHistogram const samples = test::histogram_of(test::on_cells({1.0, 1.5, 2.0, 9.0}));
    LoadedHedge const idle = hedge_under_load(samples, 1.6, {.utilization = 0.0, .service = 1.0});
    Hedge const bare = hedged_request(samples, 1.6);
    EXPECT_EQ(idle.hedge.p99, bare.p99);
    EXPECT_EQ(idle.hedge.mean, bare.mean);
    EXPECT_EQ(idle.load.wait_growth, 1.0);
}

TEST(BestHedge, IsNoneWhereThereIsNothingToGain) {
    LatencyHistogram equal;
    equal.record(1.0, 1000);
    EXPECT_FALSE(best_hedge(equal, {.utilization = 0.5, .service = 1.0}).has_value());
    EXPECT_THROW(best_hedge(equal, {.utilization = 1.0}), InputError);
    EXPECT_THROW(best_hedge(equal, {.utilization = 0.5, .service = -1.0}), InputError);
    EXPECT_THROW(best_hedge(equal, {.utilization = 0.5}, 1.5), InputError);
    EXPECT_THROW(best_hedge(LatencyHistogram{}, {.utilization = 0.5}), InputError);
}

} // namespace
} // namespace headroom
