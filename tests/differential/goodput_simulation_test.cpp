// Expected time with failures by formula, and by a simulation that draws every failure.

#include "support/random.hpp"

#include "headroom/training/goodput.hpp"

#include <gtest/gtest.h>

namespace headroom {

using namespace headroom::training;

namespace {

using namespace units;
using test::CounterRandom;

struct Ledger {
    Seconds work, checkpoint, redone, restart;
    [[nodiscard]] Seconds total() const { return work + checkpoint + redone + restart; }
};

/// Plays a run of `segments`: each is work and a checkpoint, cut off by failures, each of which costs restarts until
/// one is not cut off itself.
Ledger simulate(FailureModel const& model, Seconds interval, int segments, std::uint64_t seed) {
    CounterRandom random{seed};
    auto const until_failure = [&] { return random.exponential() * model.mtbf; };
    Seconds const segment = interval + model.checkpoint;
    Ledger ledger;
    Seconds left = until_failure(); // to the next failure, on the clock of the run
    for (int done = 0; done < segments;) {
        if (left >= segment) {
            left -= segment;
            ledger.work += interval;
            ledger.checkpoint += model.checkpoint;
            ++done;
            continue;
        }
        ledger.redone += left;
        left = until_failure();
        while (left < model.restart) {
            ledger.restart += left;
            left = until_failure();
        }
        left -= model.restart;
        ledger.restart += model.restart;
    }
    return ledger;
}

void expect_agreement(FailureModel const& model, Seconds interval, char const* what) {
    Ledger const ledger = simulate(model, interval, 400000, 20240731);
    TimeShares const shares = time_shares(model, interval);
    double const simulated = ledger.total() / ledger.work;
    EXPECT_NEAR(simulated / time_over_work(model, interval), 1.0, 0.01) << what;
    // A hundredth of the run at most for each part, and a fiftieth of the part itself.
    auto const near = [&](Seconds part, double share, char const* name) {
        EXPECT_NEAR(part / ledger.total(), share, 0.01) << what << ", " << name;
        EXPECT_NEAR(part / ledger.total(), share, 0.02 * share + 1e-4) << what << ", " << name;
    };
    near(ledger.work, shares.work, "work");
    near(ledger.checkpoint, shares.checkpoint, "checkpoint");
    near(ledger.redone, shares.redone, "redone");
    near(ledger.restart, shares.restart, "restart");
}

TEST(GoodputSimulation, AtTheBestInterval) {
    FailureModel const model{.checkpoint = 60.0 * s, .restart = 300.0 * s, .mtbf = 3.1 * hour};
    expect_agreement(model, exact_interval(model), "16 384 accelerators");
}

TEST(GoodputSimulation, FarFromTheBestInterval) {
    FailureModel const model{.checkpoint = 60.0 * s, .restart = 300.0 * s, .mtbf = 3.1 * hour};
    expect_agreement(model, 0.2 * exact_interval(model), "too often");
    expect_agreement(model, 8.0 * exact_interval(model), "too rarely");
}

TEST(GoodputSimulation, WhereFailuresDominate) {
    // Expectation: also where the restart is as long as the time between failures, and is cut off itself.
    expect_agreement({.checkpoint = 120.0 * s, .restart = 600.0 * s, .mtbf = 600.0 * s}, 300.0 * s, "restarts fail");
    expect_agreement({.checkpoint = {}, .restart = {}, .mtbf = 600.0 * s}, 900.0 * s, "only work");
}

TEST(GoodputSimulation, TheBestIntervalIsBestInTheSimulationToo) {
    FailureModel const model{.checkpoint = 300.0 * s, .restart = 0.0 * s, .mtbf = 1.0 * hour};
    auto const time = [&](double factor) {
        Ledger const ledger = simulate(model, factor * exact_interval(model), 400000, 5);
        return ledger.total() / ledger.work;
    };
    double const best = time(1.0);
    EXPECT_LT(best, time(0.6));
    EXPECT_LT(best, time(1.6));
}

} // namespace
} // namespace headroom
