#include "headroom/error.hpp"
#include "headroom/training/goodput.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace headroom {

using namespace headroom::training;

namespace {

using namespace units;

constexpr Seconds never{std::numeric_limits<double>::infinity()};
constexpr Seconds not_a_time{std::numeric_limits<double>::quiet_NaN()};

FailureModel const usual{.checkpoint = 60.0 * s, .restart = 300.0 * s, .mtbf = 3.1 * hour};

double best_goodput(FailureModel const& model) { return goodput(model, exact_interval(model)); }

template <class Call> std::string refusal(Call const& call) {
    try {
        call();
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        EXPECT_NE(error.text().hint, "") << error.what();
        return error.what();
    }
    return "accepted";
}

TEST(ClusterMtbf, IsDividedByTheParts) {
    // Expectation: 50 700 h over 16 384 accelerators is a failure every 3.09 h: 419 of them in 54 days.
    Seconds const mtbf = cluster_mtbf(default_device_mtbf, Ranks{16384});
    EXPECT_NEAR(mtbf.in(hour), 3.0945, 1e-4);
    EXPECT_NEAR((54.0 * day) / mtbf, 419.0, 0.5);
    EXPECT_EQ(cluster_mtbf(1000.0 * hour, Ranks{1}), 1000.0 * hour);
    // Expectation: 20 accelerators in nodes of 8 are three nodes, the third half empty.
    EXPECT_EQ(cluster_mtbf(900.0 * hour, Ranks{20}, Ranks{8}), 300.0 * hour);
    EXPECT_EQ(cluster_mtbf(never, Ranks{20}), never);
    EXPECT_EQ(refusal([] { cluster_mtbf(Seconds{}, Ranks{2}); }),
              "mean time between failures of a part: not above zero. give e.g. 50700 h");
}

TEST(Checkpoint, IsWrittenByAll) {
    // Expectation: 70 billion parameters of 14 bytes by 64 writers of 2 GB/s: 980 GB / 128 GB/s = 7.66 s.
    CheckpointWrite write{.state = 980.0 * GB, .writers = Ranks{64}, .rate = 2.0 * GB / s};
    EXPECT_DOUBLE_EQ(checkpoint_duration(write).in(s), 7.65625);
    EXPECT_EQ(checkpoint_blocking(write), checkpoint_duration(write)); // synchronous unless said otherwise
    write.blocking_share = 0.125;
    EXPECT_DOUBLE_EQ(checkpoint_blocking(write).in(s), 0.95703125);
    write.blocking_share = 1.5;
    EXPECT_NE(refusal([&] { checkpoint_blocking(write); }), "accepted");
    EXPECT_NE(refusal([] { checkpoint_duration({.state = 1.0 * GB, .writers = Ranks{1}, .rate = {}}); }), "accepted");
    EXPECT_NE(refusal([] { checkpoint_duration({.state = -1.0 * GB, .writers = Ranks{1}, .rate = GB / s}); }),
              "accepted");
}

TEST(CheckpointInterval, OneMinuteAtThreeHours) {
    // Expectation: sqrt(2 x 60 x 11160) = 1157.24 s; the least time is at 1117.59 s (Lambert's W at 30 digits), where
    // Daly's correction arrives too: 1157.24 (1 + 0.05185/3 + 0.00269/9) - 60 = 1117.58.
    EXPECT_NEAR(young_interval(usual).in(s), 1157.2380913, 1e-6);
    EXPECT_NEAR(exact_interval(usual).in(s), 1117.58855097572105, 1e-7);
    EXPECT_NEAR(daly_interval(usual).in(s), 1117.58, 5e-3);
}

TEST(CheckpointInterval, OfACheckpointAsLongAsTheTimeBetweenFailures) {
    // Expectation: (1-u) exp(u+1) = 1 has the root 0.841406: far from Young's sqrt(2).
    FailureModel const slow{.checkpoint = 1.0 * hour, .restart = {}, .mtbf = 1.0 * hour};
    EXPECT_NEAR(exact_interval(slow).in(hour), 0.841405660436961, 1e-12);
    EXPECT_NEAR(young_interval(slow).in(hour), std::sqrt(2.0), 1e-12);
}

TEST(CheckpointInterval, SeriesAndIterationMeet) {
    // Expectation: 1 + W(-exp(-1-c)) at 30 digits, on both sides of the change at c = 1e-5.
    auto const interval = [](double c) {
        return exact_interval({.checkpoint = Seconds{c}, .restart = {}, .mtbf = Seconds{1.0}}).base();
    };
    EXPECT_NEAR(interval(9.99e-6) / 0.00446324180999846139, 1.0, 1e-13);
    EXPECT_NEAR(interval(1e-5) / 0.00446547177433478282, 1.0, 1e-10);
    EXPECT_NEAR(interval(1.001e-5) / 0.00446770062063863248, 1.0, 1e-10);
    EXPECT_NEAR(interval(1e-4) / 0.0140755476727630363, 1.0, 1e-11);
}

TEST(CheckpointInterval, EdgesAreExact) {
    FailureModel const free{.checkpoint = {}, .restart = 300.0 * s, .mtbf = 3.0 * hour};
    EXPECT_EQ(exact_interval(free), Seconds{});
    FailureModel const safe{.checkpoint = 60.0 * s, .restart = 300.0 * s, .mtbf = never};
    EXPECT_EQ(exact_interval(safe), never);
    EXPECT_EQ(young_interval(safe), never);
    EXPECT_EQ(daly_interval(safe), never);
    // Beyond twice the time between failures both of Daly's say M; so does the exact one, in the limit.
    FailureModel const hopeless{.checkpoint = 1e6 * s, .restart = {}, .mtbf = 1.0 * s};
    EXPECT_EQ(daly_interval(hopeless), hopeless.mtbf);
    EXPECT_EQ(exact_interval(hopeless), hopeless.mtbf);
}

TEST(TimeOverWork, IsTheFormula) {
    // Expectation: M/tau exp(R/M) (exp((tau+C)/M) - 1) of round numbers: 2 e^(1/2) (e - 1) with M = 1, tau = C = R = 1/2.
    FailureModel const model{.checkpoint = 0.5 * s, .restart = 0.5 * s, .mtbf = 1.0 * s};
    EXPECT_DOUBLE_EQ(time_over_work(model, 0.5 * s), 2.0 * std::exp(0.5) * std::expm1(1.0));
    EXPECT_DOUBLE_EQ(goodput(model, 0.5 * s) * time_over_work(model, 0.5 * s), 1.0);
}

TEST(TimeOverWork, WithoutFailuresOnlyCheckpointsRemain) {
    FailureModel const safe{.checkpoint = 60.0 * s, .restart = 300.0 * s, .mtbf = never};
    EXPECT_DOUBLE_EQ(time_over_work(safe, 1140.0 * s), 1200.0 / 1140.0);
    EXPECT_EQ(time_over_work(safe, never), 1.0);
    EXPECT_EQ(best_goodput(safe), 1.0);
    EXPECT_EQ(time_over_work({.checkpoint = {}, .restart = {}, .mtbf = never}, Seconds{}), 1.0);
}

TEST(TimeShares, AddUpToTheRun) {
    // Expectation: at the best interval of a minute's checkpoint, five minutes' restart and 3.1 h between failures:
    // 87.60 % work, 4.70 % checkpoints, 5.05 % done again (about half an interval and a checkpoint, 589 s, of 11 160),
    // 2.65 % restarting.
    TimeShares const shares = time_shares(usual, exact_interval(usual));
    EXPECT_NEAR(shares.work, 0.8760, 5e-5);
    EXPECT_NEAR(shares.checkpoint, 0.0470, 5e-5);
    EXPECT_NEAR(shares.redone, 0.0505, 5e-5);
    EXPECT_NEAR(shares.restart, 0.0265, 5e-5);
    EXPECT_NEAR(shares.work + shares.lost(), 1.0, 1e-15);
    EXPECT_EQ(best_goodput(usual), shares.work);
}

TEST(TimeShares, NoProgressIsAValue) {
    FailureModel const absurd{.checkpoint = 60.0 * s, .restart = 300.0 * s, .mtbf = 1e-300 * s};
    EXPECT_EQ(time_over_work(absurd, 1000.0 * s), std::numeric_limits<double>::infinity());
    TimeShares const shares = time_shares(absurd, exact_interval(absurd));
    EXPECT_EQ(shares.work, 0.0);
    EXPECT_EQ(shares.lost(), 1.0);
    EXPECT_EQ(best_goodput(absurd), 0.0);
    EXPECT_EQ(goodput(usual, Seconds{}), 0.0); // nothing but checkpoints
    EXPECT_EQ(goodput(usual, never), 0.0);     // nothing is ever kept
}

TEST(TimeShares, RefusesWhatIsNoTime) {
    EXPECT_EQ(refusal([] { best_goodput({.checkpoint = -1.0 * s, .restart = {}, .mtbf = 1.0 * hour}); }),
              "checkpoint: below zero. give the time that training waits, e.g. 60 s");
    EXPECT_EQ(refusal([] { best_goodput({.checkpoint = {}, .restart = not_a_time, .mtbf = 1.0 * hour}); }),
              "restart: not a number. give the time from failure to the next step, e.g. 5 min");
    EXPECT_EQ(refusal([] { best_goodput({.checkpoint = {}, .restart = {}, .mtbf = {}}); }),
              "mean time between failures: not above zero. give that of the whole job, e.g. 3.1 h");
    EXPECT_EQ(refusal([] { goodput(usual, -1.0 * s); }),
              "checkpoint interval: below zero. give the work between two checkpoints, e.g. 20 min");
    EXPECT_NE(refusal([] { young_interval({.checkpoint = never, .restart = {}, .mtbf = 1.0 * hour}); }), "accepted");
    EXPECT_NE(refusal([] { exact_interval({.checkpoint = {}, .restart = {}, .mtbf = not_a_time}); }), "accepted");
}

} // namespace
} // namespace headroom
