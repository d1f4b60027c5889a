#include "headroom/laws/laws.hpp"
#include "headroom/network/collective.hpp"
#include "headroom/training/laws.hpp"
#include "headroom/training/prediction.hpp"
#include "headroom/training/strategy.hpp"

#include <gtest/gtest.h>

namespace headroom {

using namespace headroom::laws;
using namespace headroom::network;
using namespace headroom::training;

namespace {

using namespace units;

TEST(Amdahl, EdgesAreExact) {
    EXPECT_EQ(amdahl_speedup(0.3, Ranks{1}), 1.0);
    EXPECT_EQ(amdahl_speedup(0.0, Ranks{64}), 64.0); // nothing serial: linear
    EXPECT_EQ(amdahl_speedup(1.0, Ranks{64}), 1.0);  // nothing divides: no gain
    EXPECT_EQ(amdahl_ceiling(0.0), std::nullopt);    // no ceiling, not an infinite one
    EXPECT_EQ(amdahl_ceiling(0.02), 50.0);
}

TEST(Amdahl, NinetyPercentOfTheCeiling) {
    // Expectation: S/ceiling = s / (s + (1-s)/K) is 0.9 at K = 9 (1-s)/s: 9 at one half, 81 at a tenth.
    EXPECT_EQ(workers_for_share_of_ceiling(0.5, 0.9), 9);
    EXPECT_EQ(workers_for_share_of_ceiling(0.1, 0.9), 81);
    EXPECT_EQ(workers_for_share_of_ceiling(0.02, 0.9), 441);
    EXPECT_EQ(workers_for_share_of_ceiling(1.0, 0.9), 1);
    EXPECT_EQ(workers_for_share_of_ceiling(0.0, 0.9), std::nullopt);
    EXPECT_EQ(workers_for_share_of_ceiling(0.1, 1.0), std::nullopt); // the ceiling itself is never reached
}

TEST(Gustafson, EdgesAreExact) {
    EXPECT_EQ(gustafson_speedup(0.3, Ranks{1}), 1.0);
    EXPECT_EQ(gustafson_speedup(0.0, Ranks{64}), 64.0);
    EXPECT_EQ(gustafson_speedup(1.0, Ranks{64}), 1.0);
}

TEST(ProfileLaw, IsAmdahlsLawFromOneWorker) {
    // Expectation: converted to one worker the same law gives the same ratio of step times.
    Profile const profile{.compute = 240.0 * ms, .communication = 60.0 * ms, .workers = Ranks{8}};
    double const serial = serial_share_at(profile, Ranks{1});
    EXPECT_NEAR(serial, 60.0 / 1980.0, 1e-15);
    EXPECT_NEAR(amdahl_speedup(serial, Ranks{64}) / amdahl_speedup(serial, Ranks{8}),
                speedup_over_k0(profile, Ranks{64}), 1e-12);
    EXPECT_EQ(step_at(profile, Ranks{8}), 300.0 * ms);
}

TEST(ProfileLaw, WithoutCommunicationThereIsNoCeiling) {
    Profile const profile{.compute = 240.0 * ms, .communication = Seconds{}, .workers = Ranks{8}};
    EXPECT_EQ(ceiling_over_k0(profile), std::nullopt);
    EXPECT_EQ(speedup_over_k0(profile, Ranks{16}), 2.0);
}

TEST(Pipeline, OneStageHasNoBubble) {
    EXPECT_EQ(pipeline_bubble_fraction(Ranks{1}, Ranks{4}), 0.0);
    EXPECT_EQ(pipeline_speedup(Ranks{1}, Ranks{4}), 1.0);
}

TEST(Pipeline, InterleavingDividesTheBubble) {
    // Expectation: of ideal time (p-1)/(v m): 7/32 plain, 7/64 with two chunks.
    double const plain = pipeline_bubble_fraction(Ranks{8}, Ranks{32});
    double const twice = pipeline_bubble_fraction(Ranks{8}, Ranks{32}, Ranks{2});
    EXPECT_NEAR(plain / (1.0 - plain), 7.0 / 32.0, 1e-15);
    EXPECT_NEAR(twice / (1.0 - twice), 7.0 / 64.0, 1e-15);
}

TEST(DataParallelLaw, GammaAtTheBreakEvenIsOne) {
    DataParallel const step{
        .parameters = 7e9, .rate = 312.0 * TFLOP / s, .bandwidth = 600.0 * GB / s, .per_parameter = 2.0 * byte};
    // Expectation: at b = gR/(3B) many workers spend as long on gradients as on products.
    double const b = local_batch_at_break_even(step);
    EXPECT_NEAR(weak_scaling_gamma(step, b), 1.0, 1e-15);
    Seconds const compute = compute_time_data_parallel(step, b);
    Link const link{.latency = Seconds{}, .bandwidth = step.bandwidth};
    Seconds const communication = ring_all_reduce({step.parameters * 2.0 * byte}, Ranks{1000000}, link).total();
    EXPECT_NEAR(communication_to_computation(communication, compute), 1.0, 2e-6);
}

TEST(LatencyCrossover, IsWhereTheTwoTermsMeet) {
    Link const link{.latency = 5.0 * us, .bandwidth = 600.0 * GB / s};
    double const parameters = parameters_at_latency_crossover(Ranks{64}, link.latency, link.bandwidth, 2.0 * byte);
    CollectiveTime const time = ring_all_reduce({2.0 * parameters * byte}, Ranks{64}, link);
    EXPECT_NEAR(time.latency / time.bandwidth, 1.0, 1e-12);
}

TEST(FlopsUtilization, IsAShareOfWhatWasPossible) {
    // Expectation: 1 PFLOP in 2 s on 4 chips of 250 TFLOP/s is half of 2 PFLOP.
    EXPECT_DOUBLE_EQ(flops_utilization(1.0 * PFLOP, 2.0 * s, 4, 250.0 * TFLOP / s), 0.5);
    EXPECT_EQ(flops_utilization(1.0 * PFLOP, Seconds{}, 4, 250.0 * TFLOP / s), 0.0);
    EXPECT_EQ(flops_utilization(1.0 * PFLOP, 2.0 * s, 4, FlopsPerSecond{}), 0.0);
}

TEST(ShortName, LeavesOutWhatIsOff) {
    EXPECT_EQ(short_name({.dp = 16, .tp = 8, .pp = 4, .zero = 1, .micro_batch = 1, .recompute = Recompute::selective}),
              "tp8 pp4 dp16 zero1 mb1 selective");
    EXPECT_EQ(short_name({}), "dp1 mb1");
    EXPECT_EQ(short_name({.dp = 64, .zero = 3, .shard = 8, .micro_batch = 2, .recompute = Recompute::full}),
              "dp64 zero3 shard8 mb2 full");
    EXPECT_EQ(short_name({.dp = 2, .tp = 4, .pp = 2, .virtual_pp = 3, .cp = 2, .ep = 2, .sequence_parallel = true}),
              "tp4 sp cp2 pp2 vp3 ep2 dp2 mb1");
}

} // namespace
} // namespace headroom
