// Second copies under load: the model against servers with lines of their own.

#include "support/random.hpp"

#include "headroom/serving/fan_out.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

using test::CounterRandom;

/// Latencies of servers with lines of their own, each request of one second of work going to any of them.
struct Seen {
    LatencyHistogram latencies;
    double sent_twice = 0.0; ///< share of requests
};

/// Requests, and after a delay second copies to another server, both served to their end.
Seen simulated(double utilization, std::optional<double> delay, std::uint64_t seed) {
    constexpr int servers = 50, requests = 400'000, warm_up = 20'000;
    struct Event {
        double time;
        double sent, answered; ///< of a second copy: when the first one was sent, and will be answered
        int server;            ///< of the first one; -1: this is the first one
        bool operator>(Event const& other) const { return time > other.time; }
    };
    CounterRandom random{seed};
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    std::vector<double> free(servers, 0.0);
    Seen seen;
    double arrival = 0.0, copies = 0.0;
    int sent = 0;
    events.push({0.0, 0.0, 0.0, -1});
    while (!events.empty()) {
        Event const event = events.top();
        events.pop();
        int server = random.below(servers);
        while (server == event.server) { server = random.below(servers); }
        double& until = free[static_cast<std::size_t>(server)];
        until = std::max(until, event.time) + 1.0;
        if (event.server >= 0) {
            copies += 1.0;
            seen.latencies.record(std::min(event.answered, until) - event.sent);
            continue;
        }
        bool const again = delay && until > event.time + *delay;
        if (again) { events.push({event.time + *delay, event.time, until, server}); }
        if (!again && sent > warm_up) { seen.latencies.record(until - event.time); }
        arrival += random.exponential() / (utilization * servers);
        if (++sent < requests) { events.push({arrival, 0.0, 0.0, -1}); }
    }
    seen.sent_twice = copies / requests;
    return seen;
}

TEST(HedgeUnderLoad, IsNearWhatServersSee) {
    // Expectation: lines of one server each, one second of work: what copies there will be, and the 99th percentile with
    // them, from latencies without, within 10 %.
    for (double const utilization : {0.1, 0.2, 0.4}) {
        Seen const alone = simulated(utilization, {}, 1);
        double const delay = alone.latencies.quantile(0.9);
        Seen const seen = simulated(utilization, delay, 2);
        LoadedHedge const found =
            hedge_under_load(alone.latencies, delay, {.utilization = utilization, .service = 1.0});
        EXPECT_TRUE(found.load.stable);
        EXPECT_NEAR(found.hedge.extra_load, seen.sent_twice, 0.1 * seen.sent_twice) << utilization;
        EXPECT_NEAR(found.judged, seen.latencies.quantile(0.99), 0.1 * found.judged) << utilization;
        EXPECT_GT(found.hedge.extra_load, hedged_request(alone.latencies, delay).extra_load);
        EXPECT_EQ(found.judged, found.hedge.p99);
    }
}

TEST(HedgeUnderLoad, CopiesBegetCopies) {
    // Expectation: at 60 % copies after the 90th percentile, 10 % more at first, end in copies of nearly all and a line that
    // grows on and on, in the model and on the servers; at 20 % a copy of each is served.
    Seen const busy = simulated(0.6, {}, 3), idle = simulated(0.2, {}, 4);
    double const delay = busy.latencies.quantile(0.9);
    LoadedHedge const late = hedge_under_load(busy.latencies, delay, {.utilization = 0.6, .service = 1.0});
    EXPECT_FALSE(late.load.stable);
    EXPECT_TRUE(std::isinf(late.judged));
    EXPECT_TRUE(std::isinf(late.hedge.p50));
    Seen const storm = simulated(0.6, delay, 9);
    EXPECT_GT(storm.sent_twice, 0.9);
    EXPECT_GT(storm.latencies.quantile(0.5), 100.0 * busy.latencies.quantile(0.5));
    LoadedHedge const calm = hedge_under_load(idle.latencies, 0.0, {.utilization = 0.2, .service = 1.0});
    EXPECT_TRUE(calm.load.stable);
    EXPECT_NEAR(calm.load.utilization, 0.4, 1e-12);
    EXPECT_NEAR(calm.load.wait_growth, (0.4 / 0.6) / (0.2 / 0.8), 1e-12);
}

TEST(BestHedge, IsOneThatServersConfirm) {
    // Expectation: at 30 % the best delay lowers the 99.9th percentile by as much as the model says, in the model and on
    // the servers; very late copies lower it less.
    Seen const alone = simulated(0.3, {}, 5);
    auto const best = best_hedge(alone.latencies, {.utilization = 0.3, .service = 1.0}, 0.999);
    ASSERT_TRUE(best.has_value());
    double const before = alone.latencies.quantile(0.999);
    EXPECT_LT(best->judged, 0.9 * before);
    double const now = simulated(0.3, best->hedge.delay, 6).latencies.quantile(0.999);
    EXPECT_LT(now, 0.9 * before);
    EXPECT_NEAR(now, best->judged, 0.1 * now);
    EXPECT_GE(simulated(0.3, alone.latencies.quantile(0.999), 7).latencies.quantile(0.999), now);
}

TEST(BestHedge, IsNoneWhereCopiesSlowAllOthersMoreThanTheyHelp) {
    auto const alone = simulated(0.95, {}, 8).latencies;
    EXPECT_FALSE(best_hedge(alone, {.utilization = 0.95, .service = 1.0}, 0.5).has_value());
}

} // namespace
} // namespace headroom
