#include "headroom/laws/laws.hpp"
#include "headroom/laws/scale_up.hpp"
#include "headroom/laws/scaling_laws.hpp"
#include "headroom/training/laws.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headroom {

using namespace headroom::laws;
using namespace headroom::training;

namespace {

using namespace units;

TEST(SunNi, IsAmdahlWithoutGrowthAndGustafsonWithGrowthInStep) {
    EXPECT_DOUBLE_EQ(sun_ni_speedup(0.1, Ranks{16}, 0.0), amdahl_speedup(0.1, Ranks{16}));
    EXPECT_DOUBLE_EQ(sun_ni_speedup(0.1, Ranks{16}, 1.0), gustafson_speedup(0.1, Ranks{16}));
    // Expectation: 16 times the memory hold 4 times the rows, 64 times the operations of a matrix product:
    // (0.1 + 0.9 x 64) / (0.1 + 0.9 x 4) = 57.7 / 3.7.
    EXPECT_DOUBLE_EQ(sun_ni_speedup(0.1, Ranks{16}, 1.5), 57.7 / 3.7);
}

TEST(UniversalScalability, PublishedFitHasItsPeakAt96) {
    // Expectation: sqrt((1 - 0.0277285)/0.0001044) = 96.5, and the throughput of 96 and 97 differ in the sixth digit.
    UniversalScalability const law{.alpha = 0.0277285, .beta = 0.0001044, .gamma = 89.995};
    EXPECT_NEAR(usl_peak(law).value(), 96.5, 0.05);
    EXPECT_EQ(usl_best_workers(law), 97); // 0.0001044 x 96 x 97 = 0.9722 is just below 1 - alpha
    EXPECT_LT(usl_speedup(law, Ranks{96}), usl_speedup(law, Ranks{97}));
    EXPECT_GT(usl_speedup(law, Ranks{97}), usl_speedup(law, Ranks{98}));
    EXPECT_EQ(usl_ceiling(law), usl_speedup(law, Ranks{97}));
}

TEST(UniversalScalability, WithoutCoherencyIsAmdahl) {
    UniversalScalability const law{.alpha = 0.1, .beta = 0.0};
    EXPECT_NEAR(usl_speedup(law, Ranks{16}).value(), 6.4, 1e-12);
    EXPECT_EQ(usl_peak(law), std::nullopt);
    EXPECT_EQ(usl_ceiling(law), 10.0);
    EXPECT_EQ(workers_for_share_of_ceiling(law, 0.9), 81);
    EXPECT_EQ(usl_ceiling({.alpha = 0.0, .beta = 0.0}), std::nullopt); // linear: no ceiling
}

TEST(UniversalScalability, AboveLinearItIsReportedUntilItBreaks) {
    // Expectation: D = 1 - 0.01 (K-1) is zero at 101; before, 51 workers do twice the work of 51.
    UniversalScalability const law{.alpha = -0.01, .beta = 0.0};
    EXPECT_DOUBLE_EQ(usl_speedup(law, Ranks{51}).value(), 102.0);
    EXPECT_NEAR(usl_breaks_at(law).value(), 101.0, 1e-9);
    EXPECT_EQ(usl_speedup(law, Ranks{101}), std::nullopt);
    EXPECT_EQ(usl_ceiling(law), std::nullopt);
    // Expectation: with enough coherency D stays positive, and the peak is where it always is.
    UniversalScalability const kept{.alpha = -0.01, .beta = 0.001};
    EXPECT_EQ(usl_breaks_at(kept), std::nullopt);
    EXPECT_NEAR(usl_peak(kept).value(), std::sqrt(1010.0), 1e-9);
}

TEST(UniversalScalability, APeakBelowOneWorkerIsOne) {
    UniversalScalability const law{.alpha = 0.5, .beta = 2.0};
    EXPECT_EQ(usl_peak(law), 1.0);
    EXPECT_EQ(usl_best_workers(law), 1);
}

TEST(KarpFlatt, FindsTheSerialPart) {
    EXPECT_NEAR(karp_flatt_fraction(6.4, 16).value(), 0.1, 1e-15);
    EXPECT_EQ(karp_flatt_fraction(1.0, 1), std::nullopt); // one worker tells nothing
    EXPECT_LT(karp_flatt_fraction(5.0, 4).value(), 0.0);  // super-linear, not clamped
}

TEST(Isoefficiency, AddingNumbersOnATree) {
    // Expectation: T_o = 2 K log2 K; at 80 % W = 4 x 2 x 64 x 6 = 3072 on 64 workers.
    std::vector<OverheadTerm> const tree{{.coefficient = 2.0, .worker_exponent = 1.0, .log_exponent = 1.0}};
    EXPECT_NEAR(isoefficient_work(tree, 64.0, 0.8).value(), 3072.0, 1e-9);
    EXPECT_EQ(isoefficient_work(tree, 1.0, 0.8), 0.0); // no overhead at one worker
    EXPECT_EQ(efficiency_of_work(tree, 0.0, 1.0), 1.0);
    EXPECT_EQ(efficiency_of_work(tree, 0.0, 2.0), 0.0); // overhead alone
    EXPECT_NEAR(efficiency_of_work(tree, 3072.0, 64.0), 0.8, 1e-12);
    EXPECT_EQ(largest_efficient_workers(tree, 3072.0, 0.8), 64);
}

TEST(Isoefficiency, OverheadThatGrowsWithTheWork) {
    // Expectation: W = r c W^(2/3) K^(1/2), so W = (r c)^3 K^(3/2): 4^3 x 64 = 4096 at K = 16, c = 1, r = 4.
    std::vector<OverheadTerm> const terms{
        {.coefficient = 1.0, .work_exponent = 2.0 / 3.0, .worker_exponent = 0.5, .log_exponent = 0.0}};
    EXPECT_NEAR(isoefficient_work(terms, 16.0, 0.8).value() / 4096.0, 1.0, 1e-12);
}

TEST(Isoefficiency, WhatHasNoBoundHasNone) {
    std::vector<OverheadTerm> const constant{{.coefficient = 5.0}};
    EXPECT_EQ(largest_efficient_workers(constant, 100.0, 0.9), std::nullopt);
    EXPECT_EQ(largest_efficient_workers(constant, 10.0, 0.9), std::nullopt); // one worker has 67 %
    std::vector<OverheadTerm> const steep{{.coefficient = 1.0, .worker_exponent = 300.0}};
    EXPECT_EQ(isoefficient_work(steep, 1e6, 0.5), std::nullopt); // no finite number
}

TEST(ScaleUp, MatchAndTie) {
    // Expectation: with 5 % serial, 3 workers give 2.73 and 2 give 1.9; a machine twice as fast needs 1.9/0.9 = 2.1.
    EXPECT_EQ(workers_to_match(0.05, 2.0), 3);
    EXPECT_EQ(workers_to_match(0.0, 8.0), 8);
    EXPECT_EQ(workers_to_match(0.05, 20.0), std::nullopt); // the ceiling
    EXPECT_EQ(workers_to_match(0.5, 1.0), 1);
    // Expectation: 4 machines at $2 with a speed-up of 3.2 cost $2.5 for an hour's work; twice the speed may cost $5.
    DollarsPerSecond const machine = 2.0 * dollar / hour;
    EXPECT_DOUBLE_EQ(price_of_work(machine, 3.2, Ranks{4}).in(dollar / hour), 2.5);
    EXPECT_DOUBLE_EQ(tie_price(machine, 2.0, 3.2, Ranks{4}).in(dollar / hour), 5.0);
}

TEST(DataParallelLaw, BreakEvenWithLatency) {
    DataParallel const step{
        .parameters = 7e9, .rate = 312.0 * TFLOP / s, .bandwidth = 600.0 * GB / s, .per_parameter = 2.0 * byte};
    EXPECT_DOUBLE_EQ(break_even_workers(step, 2048, Seconds{}), break_even_workers(step, 2048));
    for (Seconds const latency : {5.0 * us, 1.0 * ms, 1.0 * s}) {
        double const k = break_even_workers(step, 2048, latency);
        Seconds const compute = compute_time_data_parallel(step, 2048.0 / k);
        Seconds const sent = 2.0 * (k - 1.0) / k * (step.per_parameter * step.parameters / step.bandwidth);
        EXPECT_NEAR((sent + 2.0 * (k - 1.0) * latency) / compute, 1.0, 1e-12) << latency.in(us) << " us";
        EXPECT_LT(k, break_even_workers(step, 2048));
    }
}

TEST(UniversalScalability, TiesAndTouchingRoots) {
    // Expectation: 0.01 x 9 x 10 = 1 - 0.1, so that 9 and 10 workers tie, and the smaller is the answer.
    EXPECT_EQ(usl_best_workers({.alpha = 0.1, .beta = 0.01}), 9);
    // Expectation: alpha = -3, beta = 1 is D = (K - 2)^2, which touches zero at 2 and does not cross it.
    EXPECT_EQ(usl_breaks_at({.alpha = -3.0, .beta = 1.0}), 2.0);
    // Expectation: with s = 0.04, 96 workers are at 80 % of 25 exactly; in doubles they come out below.
    EXPECT_EQ(workers_for_share_of_ceiling(UniversalScalability{.alpha = 0.04}, 0.8), 96);
}

TEST(UniversalScalability, ContentionAboveOneOnlyHurts) {
    // Expectation: D = 1 + 2 (K-1): two workers do 2/3 of the work of one, and nothing exceeds one.
    UniversalScalability const law{.alpha = 2.0, .beta = 0.0};
    EXPECT_DOUBLE_EQ(usl_speedup(law, Ranks{2}).value(), 2.0 / 3.0);
    EXPECT_EQ(usl_peak(law), 1.0);
    EXPECT_EQ(usl_best_workers(law), 1);
    EXPECT_EQ(usl_ceiling(law), 1.0);
    EXPECT_EQ(workers_for_share_of_ceiling(law, 0.9), 1);
}

TEST(Isoefficiency, ATieIsNotLostToRounding) {
    // Expectation: K log2 K = 8 at 4 workers is an eighth of 9 x 8: exactly 90 %, in doubles below.
    std::vector<OverheadTerm> const tree{{.coefficient = 1.0, .worker_exponent = 1.0, .log_exponent = 1.0}};
    EXPECT_EQ(largest_efficient_workers(tree, 72.0, 0.9), 4);
}

} // namespace
} // namespace headroom
