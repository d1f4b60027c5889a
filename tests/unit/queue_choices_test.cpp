#include "serving/queueing/finite_tail.hpp"

#include "headroom/counter_random.hpp"
#include "headroom/error.hpp"
#include "headroom/serving/queue_choices.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headroom {

using namespace headroom::serving;

namespace {

ServedQueue queue_of(double arrivals, int servers, Dispatch dispatch = Dispatch::shared_line) {
    return {.load = {.arrivals_per_second = arrivals, .service = Seconds{0.01}},
            .shape = {.servers = servers},
            .dispatch = dispatch};
}

// ---- a line for each server ---------------------------------------------------------------------------------------

TEST(Lines, AreQueuesOfOneServer) {
    auto const answer = answer_of(queue_of(560.0, 8, Dispatch::random));
    ASSERT_TRUE(answer);
    EXPECT_NEAR(answer->latency.base(), 1.0 / (100.0 - 70.0), 1e-12);
    EXPECT_NEAR(answer->throughput_per_second, 560.0, 1e-9);
    EXPECT_NEAR(answer->present, 560.0 * answer->latency.base(), 1e-9); // Little's law, all lines together
    EXPECT_NEAR(quantile_of(queue_of(560.0, 8, Dispatch::random), 0.99)->base(), std::log(100.0) / 30.0, 1e-9);
}

TEST(Lines, SeeThinnedArrivals) {
    QueueLoad const load{.arrivals_per_second = 80.0, .arrival_variation = 5.0, .service = Seconds{0.01}};
    EXPECT_EQ(load_of_line(load, 4, Dispatch::random)->arrivals_per_second, 20.0);
    EXPECT_EQ(load_of_line(load, 4, Dispatch::random)->arrival_variation, 2.0);
    EXPECT_EQ(load_of_line(load, 4, Dispatch::round_robin)->arrival_variation, 1.25);
    EXPECT_EQ(load_of_line(load, 4, Dispatch::shared_line)->arrivals_per_second, 80.0);
    EXPECT_FALSE(load_of_line(load, 4, Dispatch::two_choices));
    EXPECT_TRUE(load_of_line(load, 1, Dispatch::shortest_line)); // nothing to choose between
    EXPECT_THROW((void)load_of_line(load, 0, Dispatch::random), InputError);
}

TEST(Lines, DivideThePlaces) {
    ServedQueue queue = queue_of(560.0, 8, Dispatch::random);
    queue.shape.places = 80;
    EXPECT_NEAR(
        answer_of(queue)->blocked,
        queue_answer({.arrivals_per_second = 70.0, .service = Seconds{0.01}}, {.servers = 1, .places = 10}).blocked,
        1e-12);
    queue.shape.places = 81;
    EXPECT_THROW((void)answer_of(queue), InputError);
}

TEST(ServersFor, AgreesWithAScan) {
    for (Dispatch const dispatch : {Dispatch::shared_line, Dispatch::random, Dispatch::round_robin}) {
        LatencyObjective const objective{.q = 0.99, .latency = Seconds{0.06}};
        int scanned = 1;
        auto const keeps = [&](int servers) {
            ServedQueue const queue = queue_of(700.0, servers, dispatch);
            return answer_of(queue)->stable && *quantile_of(queue, 0.99) <= objective.latency;
        };
        while (!keeps(scanned)) { ++scanned; }
        EXPECT_EQ(servers_for(queue_of(700.0, 1, dispatch), objective), scanned) << name_of(dispatch);
    }
    EXPECT_FALSE(servers_for(queue_of(700.0, 1, Dispatch::random), {.q = 0.99, .latency = Seconds{0.04}}, 4096));
}

// ---- tails --------------------------------------------------------------------------------------------------------

/// P(Erlang of n stages of rate 1 > t), by its sum.
double erlang_above(int stages, double t) {
    double term = std::exp(-t), sum = 0.0;
    for (int k = 0; k < stages; ++k) {
        sum += term;
        term *= t / (k + 1);
    }
    return sum;
}

TEST(FiniteTail, OfOneServerIsAMixtureOfErlangs) {
    double const rho = 1.3;
    int const places = 12;
    QueueLoad const load{.arrivals_per_second = rho, .service = Seconds{1.0}};
    for (double const q : {0.1, 0.5, 0.9, 0.99, 0.9999}) {
        double const t = queueing::finite_quantile(load, {.servers = 1, .places = places}, q).base();
        double above = 0.0, sum = 0.0, state = 1.0; // those let in find n = 0 .. places - 1
        for (int n = 0; n < places; ++n, state *= rho) {
            above += state * erlang_above(n + 1, t);
            sum += state;
        }
        EXPECT_NEAR(above / sum, 1.0 - q, 1e-8 + 1e-6 * (1.0 - q)) << q;
    }
}

TEST(FiniteTail, WithRoomForAllIsThatOfTheOpenQueue) {
    for (int const servers : {1, 3, 40}) {
        QueueLoad const load{.arrivals_per_second = 0.8 * servers, .service = Seconds{1.0}};
        for (double const q : {0.5, 0.99, 0.999}) {
            double const open = latency_quantile(load, {.servers = servers}, q).base();
            QueueShape const roomy{.servers = servers, .places = 2000};
            EXPECT_NEAR(queueing::finite_quantile(load, roomy, q).base() / open, 1.0, 1e-6) << servers << " at " << q;
        }
    }
}

TEST(FiniteTail, AgreesWithSimulation) {
    // Expectation: a line that is nearly always full is a wait of nearly constant length; an exponential wait is twice off.
    ServedQueue queue = queue_of(1080.0, 8);
    queue.shape.places = 40;
    SimulatedQueue const run = simulate_queue({.gaps = {.mean = Seconds{1.0 / 1080.0}},
                                               .service = {.mean = Seconds{0.01}},
                                               .shape = queue.shape,
                                               .duration = Seconds{400.0},
                                               .warm_up = Seconds{10.0}});
    for (double const q : {0.5, 0.9, 0.99}) {
        EXPECT_NEAR(quantile_of(queue, q)->base() / run.latency.quantile(q), 1.0, 0.02) << q;
    }
}

TEST(MeasuredTail, OfExponentialSamplesIsTheClosedForm) {
    LatencyHistogram samples;
    CounterRandom random{3};
    for (int i = 0; i < 400'000; ++i) { samples.record(0.01 * random.exponential()); }
    ServedQueue queue = queue_of(560.0, 8);
    Seconds const closed = *quantile_of(queue, 0.99);
    queue.service = &samples;
    EXPECT_NEAR(*quantile_of(queue, 0.99) / closed, 1.0, 0.02);
}

TEST(MeasuredTail, OfEqualServicesIsTheClosedForm) {
    LatencyHistogram samples;
    samples.record(0.02, 60'000);
    ServedQueue queue{.load = {.arrivals_per_second = 40.0, .service = Seconds{0.02}, .service_variation = 0.0}};
    Seconds const closed = *quantile_of(queue, 0.99);
    queue.service = &samples;
    EXPECT_NEAR(*quantile_of(queue, 0.99) / closed, 1.0, 1e-3);
    EXPECT_NEAR(closed.base(), 0.2271, 0.0003);
}

TEST(MeasuredTail, KeepsWhatMeanAndVariationForget) {
    LatencyHistogram samples; // in milliseconds: scaled to the mean
    samples.record(10.0, 980);
    samples.record(200.0, 20);
    ServedQueue queue{.load = {.arrivals_per_second = 1.0, .service = Seconds{0.0138}}, .shape = {.servers = 40}};
    queue.service = &samples;
    EXPECT_NEAR(quantile_of(queue, 0.985)->base(), 0.2, 1e-3);
    EXPECT_NEAR(quantile_of(queue, 0.5)->base(), 0.01, 1e-4);
    EXPECT_THROW((void)measured_quantile({}, LatencyHistogram{}, 1.0, 0.5), InputError);
    EXPECT_THROW((void)measured_quantile({}, samples, 1.0, 1.0), InputError);
    EXPECT_TRUE(std::isinf(measured_quantile({.stable = false}, samples, 1.0, 0.5).base()));
}

// ---- faster, or more ----------------------------------------------------------------------------------------------

TEST(ScaleChoices, OneFastServerAgainstTwo) {
    double const mu = 100.0, rate = 70.0;
    auto const choices = scale_choices(queue_of(rate, 1), 2.0);
    ASSERT_EQ(choices.size(), 4U);
    EXPECT_NEAR(choices[0].answer.latency.base(), 1.0 / (mu - rate), 1e-12);
    EXPECT_NEAR(choices[1].answer.latency.base(), 1.0 / (2.0 * mu - rate), 1e-12);
    EXPECT_NEAR(choices[2].answer.latency.base(), 4.0 * mu / (4.0 * mu * mu - rate * rate), 1e-12);
    EXPECT_NEAR(choices[3].answer.latency.base(), 1.0 / (mu - rate / 2.0), 1e-12);
    EXPECT_NEAR(choices[3].p99.base(), std::log(100.0) / (mu - rate / 2.0), 1e-9);
    EXPECT_THROW((void)scale_choices(queue_of(rate, 1), 1.5), InputError);
    EXPECT_THROW((void)scale_choices(queue_of(rate, 1), 1.0), InputError);
    EXPECT_EQ(scale_choices(queue_of(rate, 2), 1.5)[2].queue.shape.servers, 3);
}

TEST(ScaleChoices, MoreWinWhereServiceVaries) {
    ServedQueue queue = queue_of(70.0, 1);
    double const turn = *variation_where_more_win(queue.load, 1, 2.0);
    for (double const by : {0.99, 1.01}) {
        queue.load.service_variation = turn * by;
        auto const choices = scale_choices(queue, 2.0);
        EXPECT_EQ(choices[1].answer.latency < choices[2].answer.latency, by < 1.0) << by;
    }
    EXPECT_FALSE(variation_where_more_win(queue_of(250.0, 1).load, 1, 2.0)); // neither keeps up
}

} // namespace
} // namespace headroom
