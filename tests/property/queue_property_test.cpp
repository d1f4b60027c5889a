// Closed forms of queues against their chains, state by state, and laws that hold for all of them.

#include "support/random.hpp"

#include "headroom/serving/queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

using test::CounterRandom;

QueueLoad load_of(double arrivals, double variation = 1.0) {
    return {.arrivals_per_second = arrivals, .service = Seconds{1.0}, .service_variation = variation};
}

double between(CounterRandom& random, double low, double high) { return low + (high - low) * random.uniform(); }

// ---- chains --------------------------------------------------------------------------------------------------------

TEST(QueueProperty, PlacesAreTheBirthDeathChain) {
    CounterRandom random{1};
    for (int round = 0; round < 500; ++round) {
        int const servers = 1 + random.below(20), places = servers + random.below(40);
        double const offered = between(random, 0.01, 2.5) * servers;
        std::vector<double> states{1.0};
        for (int n = 1; n <= places; ++n) { states.push_back(states.back() * offered / std::min(n, servers)); }
        double sum = 0.0, waiting = 0.0, waits = 0.0;
        for (int n = 0; n <= places; ++n) {
            double const share = states[static_cast<std::size_t>(n)];
            sum += share;
            waiting += share * std::max(0, n - servers);
            waits += n >= servers && n < places ? share : 0.0;
        }
        QueueAnswer const answer = queue_answer(load_of(offered), {.servers = servers, .places = places});
        std::string const what =
            std::to_string(servers) + " of " + std::to_string(places) + ", " + std::to_string(offered);
        ASSERT_NEAR(answer.blocked / (states.back() / sum), 1.0, 1e-10) << what;
        ASSERT_NEAR(answer.waiting, waiting / sum, 1e-10 * (1.0 + waiting / sum)) << what;
        ASSERT_NEAR(answer.wait_probability, waits / (sum - states.back()), 1e-10) << what;
    }
}

/// Settled batch queue: the chain of servers at work and of those waiting, relaxed until it no longer moves.
struct Settled {
    double waiting = 0.0, busy = 0.0, waits = 0.0;
};
Settled settled(double arrivals, int servers, int batch, int most) {
    std::size_t const all = static_cast<std::size_t>(servers + most) + 1; // n <= c at work, or c and n - c waiting
    std::vector<double> now(all, 0.0), next;
    now[0] = 1.0;
    double const step = 1.0 / (arrivals + servers);
    for (double moved = 1.0; moved > 1e-14;) {
        next.assign(all, 0.0);
        for (std::size_t n = 0; n < all; ++n) {
            auto const at_work = static_cast<double>(std::min<std::size_t>(n, static_cast<std::size_t>(servers)));
            std::size_t const up = std::min(n + 1, all - 1);
            std::size_t const down =
                n <= static_cast<std::size_t>(servers)
                    ? (n > 0 ? n - 1 : 0)
                    : n - std::min<std::size_t>(n - static_cast<std::size_t>(servers), static_cast<std::size_t>(batch));
            next[up] += now[n] * arrivals * step;
            next[down] += now[n] * at_work * step;
            next[n] += now[n] * (1.0 - (arrivals + at_work) * step);
        }
        moved = 0.0;
        for (std::size_t n = 0; n < all; ++n) { moved += std::abs(next[n] - now[n]); }
        now.swap(next);
    }
    Settled result;
    for (std::size_t n = 0; n < all; ++n) {
        auto const present = static_cast<double>(n);
        result.busy += now[n] * std::min<double>(present, servers);
        result.waiting += now[n] * std::max(0.0, present - servers);
        result.waits += present >= servers ? now[n] : 0.0;
    }
    return result;
}

TEST(QueueProperty, BatchesAreTheirChain) {
    CounterRandom random{2};
    for (int round = 0; round < 25; ++round) {
        int const servers = 1 + random.below(5), batch = 2 + random.below(6);
        double const arrivals = between(random, 0.1, 0.8) * servers * batch;
        Settled const chain = settled(arrivals, servers, batch, 400);
        QueueAnswer const answer = queue_answer(load_of(arrivals), {.servers = servers, .batch = batch});
        std::string const what =
            std::to_string(servers) + " by " + std::to_string(batch) + ", " + std::to_string(arrivals);
        ASSERT_EQ(answer.method, QueueMethod::exact);
        ASSERT_NEAR(answer.waiting, chain.waiting, 1e-6 * (1.0 + chain.waiting)) << what;
        ASSERT_NEAR(answer.utilization * servers, chain.busy, 1e-6) << what;
        ASSERT_NEAR(answer.wait_probability, chain.waits, 1e-6) << what;
        ASSERT_NEAR(answer.batch, arrivals / chain.busy, 1e-6 * answer.batch) << what;
    }
}

/// Two exact ways: the root of exponential services, and the chain at departures of gamma ones that vary as much.
TEST(QueueProperty, WaysMeetWhereBothHold) {
    CounterRandom random{3};
    for (int round = 0; round < 200; ++round) {
        double const rho = between(random, 0.05, 0.95);
        double const nearly = 1.0 + 1e-9;
        int const batch = 2 + random.below(20), places = 2 + random.below(60);
        QueueAnswer const root = queue_answer(load_of(rho * batch), {.batch = batch});
        QueueAnswer const zeros = queue_answer(load_of(rho * batch, nearly), {.batch = batch});
        ASSERT_EQ(zeros.method, QueueMethod::exact);
        ASSERT_NEAR(zeros.wait / root.wait, 1.0, 1e-6) << rho << " of " << batch;
        ASSERT_NEAR(zeros.latency / root.latency, 1.0, 1e-6) << rho << " of " << batch;
        ASSERT_NEAR(zeros.wait_variation, 1.0, 1e-5) << rho << " of " << batch;
        QueueAnswer const births = queue_answer(load_of(2.0 * rho), {.places = places});
        QueueAnswer const departures = queue_answer(load_of(2.0 * rho, nearly), {.places = places});
        ASSERT_NEAR(departures.wait.base(), births.wait.base(), 1e-6 * births.latency.base())
            << rho << " of " << places;
        ASSERT_NEAR(departures.blocked, births.blocked, 1e-7) << rho << " of " << places;
    }
}

// ---- laws ----------------------------------------------------------------------------------------------------------

struct Case {
    QueueLoad load;
    QueueShape shape;
};

Case random_case(CounterRandom& random) {
    Case any;
    any.shape.servers = 1 + random.below(30);
    int const kind = random.below(3);
    if (kind == 1) { any.shape.places = any.shape.servers + random.below(50); }
    if (kind == 2) { any.shape.batch = 1 + random.below(12), any.shape.batch_growth = 0.4 * random.uniform(); }
    double const variations[] = {0.0, 0.3, 1.0, 2.0};
    any.load.service = Seconds{between(random, 0.001, 10.0)};
    any.load.service_variation = variations[random.below(4)];
    any.load.arrival_variation = random.below(2) == 0 ? 1.0 : variations[random.below(4)];
    double const full = 1.0 + any.shape.batch_growth * (any.shape.batch - 1.0);
    any.load.arrivals_per_second = between(random, 0.05, kind == 1 ? 1.8 : 0.95) * any.shape.servers * any.shape.batch /
                                   (full * any.load.service.base());
    return any;
}

TEST(QueueProperty, LittlesLawAndShares) {
    CounterRandom random{4};
    for (int round = 0; round < 3000; ++round) {
        Case const any = random_case(random);
        QueueAnswer const answer = queue_answer(any.load, any.shape);
        ASSERT_TRUE(answer.stable);
        double const through = answer.throughput_per_second;
        ASSERT_NEAR(answer.waiting, through * answer.wait.base(), 1e-9 * (1.0 + answer.waiting));
        ASSERT_NEAR(answer.present, through * answer.latency.base(), 1e-9 * answer.present);
        ASSERT_NEAR(through, any.load.arrivals_per_second * (1.0 - answer.blocked), 1e-9 * through);
        ASSERT_GE(answer.latency, answer.wait);
        for (double const share : {answer.utilization, answer.wait_probability, answer.blocked}) {
            ASSERT_GE(share, 0.0);
            ASSERT_LE(share, 1.0 + 1e-9);
        }
    }
}

/// The mean is the mean of all quantiles: a rule of midpoints over the share beyond, finer towards the tail.
TEST(QueueProperty, QuantilesHaveTheMean) {
    CounterRandom random{5};
    for (int round = 0; round < 30; ++round) {
        Case const any = random_case(random);
        double const mean = queue_answer(any.load, any.shape).latency.base();
        double sum = 0.0, beyond = 1.0;
        constexpr double ratio = 0.94;
        for (; beyond > 1e-9; beyond *= ratio) {
            double const q = 1.0 - beyond * 0.5 * (1.0 + ratio);
            sum += beyond * (1.0 - ratio) * latency_quantile(any.load, any.shape, q).base();
        }
        ASSERT_NEAR(sum / mean, 1.0, 5e-3) << any.shape.servers << " servers, batch " << any.shape.batch << ", places "
                                           << any.shape.places.value_or(0) << ", c_s^2 " << any.load.service_variation;
    }
}

TEST(QueueProperty, MoreServersWaitLessAndMoreTrafficMore) {
    CounterRandom random{6};
    for (int round = 0; round < 1000; ++round) {
        Case const any = random_case(random);
        if (any.shape.batch > 1) { continue; } // with more servers batches are smaller, which may be slower for each
        QueueShape larger = any.shape;
        ++larger.servers;
        if (larger.places) { *larger.places += 1; }
        QueueLoad busier = any.load;
        busier.arrivals_per_second *= 1.02;
        QueueAnswer const now = queue_answer(any.load, any.shape);
        ASSERT_LE(queue_answer(any.load, larger).wait_probability, now.wait_probability + 1e-12);
        ASSERT_LE(queue_answer(any.load, larger).blocked, now.blocked + 1e-12);
        ASSERT_GE(queue_answer(busier, any.shape).wait, now.wait * (1.0 - 1e-9));
        ASSERT_LE(latency_quantile(any.load, any.shape, 0.5),
                  latency_quantile(any.load, any.shape, 0.9) * (1.0 + 1e-9));
    }
}

} // namespace
} // namespace headroom
