// Closed forms of queues: figures worked out by hand or by plain sums.

#include "headroom/error.hpp"
#include "headroom/serving/queue.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

QueueLoad load_of(double arrivals, double variation = 1.0) {
    return {.arrivals_per_second = arrivals, .service = Seconds{1.0}, .service_variation = variation};
}

TEST(Queue, ErlangOfTheTextbookToItsDigits) {
    auto const book =
        nlohmann::json::parse(std::ifstream{std::string{HEADROOM_SOURCE_DIR} + "/tests/data/textbook.json"});
    for (auto const& row : book.at("tail").at("erlang_c")) {
        int const servers = row.at("servers").get<int>();
        double const offered = row.at("offered_load").get<double>();
        EXPECT_NEAR(erlang_c(offered, servers), row.at("probability_wait").get<double>(), 0.5e-4);
        QueueAnswer const answer = queue_answer(load_of(offered), {.servers = servers});
        EXPECT_NEAR(answer.wait.base(), row.at("mean_wait_in_service_times").get<double>(), 0.5e-4);
        EXPECT_EQ(answer.method, QueueMethod::exact);
    }
}

TEST(Queue, ErlangBBySums) {
    EXPECT_EQ(erlang_b(3.0, 0), 1.0);
    EXPECT_EQ(erlang_b(0.0, 5), 0.0);
    EXPECT_DOUBLE_EQ(erlang_b(2.0, 1), 2.0 / 3.0);
    // 8/6 over 1 + 2 + 2 + 8/6
    EXPECT_DOUBLE_EQ(erlang_b(2.0, 3), 4.0 / 19.0);
    EXPECT_EQ(erlang_c(4.0, 4), 1.0);
    EXPECT_EQ(erlang_c(0.0, 4), 0.0);
}

/// Halfin and Whitt: with c - a = beta sqrt(c) a share 1 / (1 + beta Phi(beta) / phi(beta)) waits, however large c.
TEST(Queue, AMillionServers) {
    constexpr double beta = 1.0, phi = 0.24197072451914337, big_phi = 0.8413447460685429;
    double const limit = 1.0 / (1.0 + beta * big_phi / phi);
    EXPECT_NEAR(erlang_c(1e6 - 1e3, 1'000'000), limit, 1e-3);
    EXPECT_EQ(erlang_c(1e3, 1'000'000), 0.0);
    EXPECT_EQ(queue_answer(load_of(1e3), {.servers = 1'000'000}).wait, Seconds{});
}

TEST(Queue, OneServer) {
    // M/M/1: rho / (1 - rho) in the line and served, 0.8 of a service before it.
    QueueAnswer const exponential = queue_answer(load_of(0.8), {});
    EXPECT_NEAR(exponential.present, 4.0, 1e-12);
    EXPECT_NEAR(exponential.wait.base(), 4.0, 1e-12);
    // Half of it where services are all the same.
    EXPECT_NEAR(queue_answer(load_of(0.8, 0.0), {}).wait.base(), 2.0, 1e-12);
    EXPECT_NEAR(latency_quantile(load_of(0.8), {}, 0.99).base(), std::log(100.0) / 0.2, 1e-9);
}

TEST(Queue, PlacesOfOneServerAsBusyAsCanBe) {
    // rho = 1: all states alike, one of which turns away.
    QueueAnswer const answer = queue_answer(load_of(1.0), {.places = 9});
    EXPECT_NEAR(answer.blocked, 0.1, 1e-12);
    EXPECT_NEAR(answer.present, 4.5, 1e-12);
    EXPECT_TRUE(answer.stable);
    // A billion places are none too many.
    QueueAnswer const large = queue_answer(load_of(3.2), {.servers = 4, .places = 1'000'000'000});
    EXPECT_NEAR(large.wait.base(), queue_answer(load_of(3.2), {.servers = 4}).wait.base(), 1e-12);
    // Overload fills them: one in three is let in, and all but one wait before it.
    QueueAnswer const over = queue_answer(load_of(3.0, 0.5), {.places = 2000});
    EXPECT_NEAR(over.blocked, 2.0 / 3.0, 1e-9);
    EXPECT_NEAR(over.utilization, 1.0, 1e-9);
}

/// GI/M/c/c: 1 / (1 + sum over k of C(c, k) prod over j = 1..k of (1 - phi_j) / phi_j), phi the transform of a gamma gap.
double lost_of_gamma_gaps(double arrivals, double variation, int servers) {
    double sum = 1.0, product = 1.0;
    for (int k = 1; k <= servers; ++k) {
        double const phi =
            variation > 0.0 ? std::pow(1.0 + k * variation / arrivals, -1.0 / variation) : std::exp(-k / arrivals);
        product *= (1.0 - phi) / phi * (servers - k + 1.0) / k;
        sum += product;
    }
    return 1.0 / sum;
}

TEST(Queue, LossesAskHowArrivalsVary) {
    for (double const variation : {0.0, 0.5, 4.0}) {
        for (int const servers : {1, 8, 13}) {
            QueueLoad const load{.arrivals_per_second = 5.6, .arrival_variation = variation, .service = Seconds{1.0}};
            QueueAnswer const answer = queue_answer(load, {.servers = servers, .places = servers});
            double const lost = lost_of_gamma_gaps(5.6, variation, servers);
            EXPECT_EQ(answer.method, QueueMethod::exact);
            EXPECT_NEAR(answer.blocked / lost, 1.0, 1e-9) << variation << " before " << servers;
            EXPECT_NEAR(answer.utilization, 5.6 * (1.0 - answer.blocked) / servers, 1e-9);
        }
    }
    // with places to wait as well
    QueueLoad const bursts{.arrivals_per_second = 5.6, .arrival_variation = 4.0, .service = Seconds{1.0}};
    QueueAnswer const answer = queue_answer(bursts, {.servers = 9, .places = 18});
    EXPECT_NEAR(answer.blocked, 0.0279, 1e-4);
    EXPECT_GT(answer.wait.base(), 0.0);
}

/// Exact M/D/1: P(W <= x) = (1 - rho) sum over k of (rho (k - x))^k / k! e^(rho (x - k)).
TEST(Queue, OneServerOfEqualServices) {
    double const rho = 0.8, p99 = latency_quantile(load_of(rho, 0.0), {}, 0.99).base();
    double below = 0.0, factorial = 1.0;
    for (int k = 0; k <= p99 - 1.0; ++k) {
        double const off = rho * (k - (p99 - 1.0));
        below += std::pow(off, k) / factorial * std::exp(-off);
        factorial *= k + 1.0;
    }
    EXPECT_NEAR((1.0 - rho) * below, 0.99, 2e-4);
}

TEST(Queue, LossesDoNotAskHowServicesVary) {
    QueueAnswer const answer = queue_answer(load_of(6.0, 0.0), {.servers = 8, .places = 8});
    EXPECT_EQ(answer.method, QueueMethod::exact);
    EXPECT_DOUBLE_EQ(answer.blocked, erlang_b(6.0, 8));
    EXPECT_EQ(answer.wait, Seconds{});
}

TEST(Queue, OverloadIsNotStable) {
    for (double const arrivals : {4.0, 9.0}) {
        QueueAnswer const answer = queue_answer(load_of(arrivals), {.servers = 4});
        EXPECT_FALSE(answer.stable);
        EXPECT_TRUE(std::isinf(answer.latency.base()));
        EXPECT_EQ(answer.throughput_per_second, 4.0);
        EXPECT_TRUE(std::isinf(latency_quantile(load_of(arrivals), {.servers = 4}, 0.5).base()));
    }
    EXPECT_TRUE(queue_answer(load_of(9.0), {.servers = 4, .batch = 4}).stable); // 16 a second
    EXPECT_FALSE(queue_answer(load_of(9.0), {.servers = 4, .batch = 4, .batch_growth = 1.0}).stable);
}

TEST(Queue, NobodyWaitsWhereNobodyComes) {
    for (QueueShape const& shape : {QueueShape{}, QueueShape{.servers = 3, .places = 7}, QueueShape{.batch = 8},
                                    QueueShape{.servers = 2, .batch = 8, .batch_growth = 0.5}}) {
        QueueAnswer const answer = queue_answer(load_of(0.0), shape);
        EXPECT_EQ(answer.wait, Seconds{});
        EXPECT_EQ(answer.latency, Seconds{1.0});
        EXPECT_EQ(answer.utilization, 0.0);
        EXPECT_NEAR(latency_quantile(load_of(0.0), shape, 0.5).base(), std::log(2.0), 1e-9);
    }
}

// ---- decisions -----------------------------------------------------------------------------------------------------

TEST(Queue, FewestServersThatKeepAnObjective) {
    QueueLoad const load{.arrivals_per_second = 100.0, .service = Seconds{0.08}};
    for (double const latency : {0.38, 0.4, 0.5, 1.0}) {
        LatencyObjective const objective{.q = 0.99, .latency = Seconds{latency}};
        int fewest = 1;
        while (latency_quantile(load, {.servers = fewest}, 0.99) > objective.latency) { ++fewest; }
        EXPECT_EQ(servers_for(load, {}, objective), fewest) << latency;
        EXPECT_EQ(servers_for(load, {}, objective, fewest), fewest) << latency;
        EXPECT_FALSE(servers_for(load, {}, objective, fewest - 1)) << latency;
    }
    // 4.6 services are in the 99th percentile of one that never waits.
    EXPECT_FALSE(servers_for(load, {}, {.q = 0.99, .latency = Seconds{0.36}}));
    LatencyObjective const few_turned_away{.q = 0.9, .latency = Seconds{10.0}, .blocked = 0.03};
    std::optional<int> const enough = servers_for(load, {.places = 14}, few_turned_away);
    ASSERT_TRUE(enough);
    EXPECT_LE(queue_answer(load, {.servers = *enough, .places = 14}).blocked, 0.03);
    EXPECT_GT(queue_answer(load, {.servers = *enough - 1, .places = 14}).blocked, 0.03);
}

TEST(Queue, KneeOfOneServerIsHalfOfItsCapacity) {
    EXPECT_NEAR(knee({.service = Seconds{0.25}}, {}).arrivals_per_second, 2.0, 1e-6);
    // Power of M/D/1 is greatest where 2 (1 - rho)^2 = rho^2: at 2 - sqrt(2).
    EXPECT_NEAR(knee(load_of(0.0, 0.0), {}).arrivals_per_second, 2.0 - std::sqrt(2.0), 1e-6);
    EXPECT_GT(knee(load_of(0.0), {.servers = 64}).answer.utilization, 0.85);
}

TEST(Queue, ACurveGoesFromIdleToFull) {
    std::vector<double> const at{0.1, 0.5, 0.9, 0.99};
    std::vector<LoadPoint> const curve = load_curve(load_of(0.0), {.servers = 10}, at);
    ASSERT_EQ(curve.size(), at.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
        EXPECT_NEAR(curve[i].answer.utilization, at[i], 1e-12);
        EXPECT_LT(curve[i].p50, curve[i].p99);
        if (i > 0) { EXPECT_GT(curve[i].p99, curve[i - 1].p99); }
    }
}

/// "They doubled the replicas and p99 did not move": at half of capacity it is the service's own.
TEST(Queue, DoublingWhatNeverWaitsMovesNothing) {
    Doubling const idle = doubling(load_of(8.0), {.servers = 16});
    EXPECT_NEAR(idle.shared_line.p99 / idle.now.p99, 1.0, 0.01);
    EXPECT_NEAR(idle.service_p99.base(), std::log(100.0), 1e-9);
    Doubling const busy = doubling(load_of(15.2), {.servers = 16});
    EXPECT_LT(busy.shared_line.p99, 0.8 * busy.now.p99);
    EXPECT_LT(busy.twice_traffic.p99, busy.now.p99); // one long line is better than two short ones
    EXPECT_LE(busy.shared_line.p99, busy.own_lines.p99);
    EXPECT_EQ(busy.own_lines.arrivals_per_second, 7.6);
}

// ---- what cannot be -----------------------------------------------------------------------------------------------

template <class Ask> void expect_usage(Ask const& ask) {
    try {
        ask();
        ADD_FAILURE() << "nothing was thrown";
    } catch (InputError const& error) { EXPECT_EQ(error.fault(), Fault::usage) << error.what(); }
}

TEST(Queue, RefusesWhatIsNoQueue) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), endless = std::numeric_limits<double>::infinity();
    for (double const bad : {-1.0, nan, endless, 1e300}) {
        expect_usage([&] { queue_answer(load_of(bad), {}); });
        expect_usage([&] { queue_answer(load_of(0.5, bad), {}); });
        expect_usage(
            [&] { queue_answer({.arrivals_per_second = 0.5, .arrival_variation = bad, .service = Seconds{1.0}}, {}); });
        expect_usage([&] { queue_answer(load_of(0.5), {.batch = 2, .batch_growth = bad}); });
        if (bad != 1e300) {
            expect_usage([&] { erlang_c(bad, 3); });
        }
    }
    for (double const bad : {0.0, -1.0, nan, endless}) {
        expect_usage([&] { queue_answer({.arrivals_per_second = 0.5, .service = Seconds{bad}}, {}); });
        expect_usage([&] { servers_for(load_of(0.5), {}, {.q = 0.9, .latency = Seconds{bad}}); });
        expect_usage([&] { latency_quantile(load_of(0.5), {}, bad); });
    }
    expect_usage([] { erlang_b(1.0, -1); });
    expect_usage([] { queue_answer(load_of(0.5), {.servers = 0}); });
    expect_usage([] { queue_answer(load_of(0.5), {.servers = -4}); });
    expect_usage([] { queue_answer(load_of(0.5), {.servers = 2'000'000'000}); });
    expect_usage([] { queue_answer(load_of(0.5), {.servers = 4, .places = 3}); });
    expect_usage([] { queue_answer(load_of(0.5), {.batch = 0}); });
    expect_usage([] { queue_answer(load_of(0.5), {.places = 9, .batch = 4}); });
    expect_usage([] { latency_quantile(load_of(0.5), {}, 1.0); });
    expect_usage([] { servers_for(load_of(0.5), {}, {.q = 0.9, .latency = Seconds{5.0}}, 0); });
}

TEST(Queue, MethodsHaveNamesOfTheirOwn) {
    std::set<std::string_view> const names{name_of(QueueMethod::exact), name_of(QueueMethod::allen_cunneen),
                                           name_of(QueueMethod::geometric_tail), name_of(QueueMethod::batches)};
    EXPECT_EQ(names.size(), 4U);
    EXPECT_FALSE(names.contains(""));
}

} // namespace
} // namespace headroom
