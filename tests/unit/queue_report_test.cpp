#include "headroom/error.hpp"
#include "headroom/serving/queue_report.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headroom {

using namespace headroom::serving;

namespace {

QueueQuestion question(double arrivals, std::vector<int> replicas) {
    return {.queue = {.load = {.arrivals_per_second = arrivals, .service = Seconds{0.01}},
                      .shape = {.servers = replicas.front()}},
            .replicas = replicas,
            .stated_replicas = true};
}

TEST(QueueReportTest, OneExponentialServerIsMm1) {
    QueueReport const report = queue_report(question(50.0, {1}));
    EXPECT_EQ(report.answer.answer.method, QueueMethod::exact);
    EXPECT_NEAR(report.answer.answer.latency.base(), 1.0 / (100.0 - 50.0), 1e-12);
    EXPECT_NEAR(report.answer.p99().base(), std::log(100.0) / 50.0, 1e-9);
    EXPECT_NEAR(report.knee->arrivals_per_second, 50.0, 0.1); // power is greatest at half of capacity
    EXPECT_TRUE(report.doubling->two_lines);
    EXPECT_FALSE(report.doubling->one_line);
}

TEST(QueueReportTest, AnObjectiveBelowTheServiceIsKeptByNoNumber) {
    QueueQuestion asked = question(50.0, {1});
    asked.objective = LatencyObjective{.q = 0.99, .latency = Seconds{0.02}}; // of the service alone: 46 ms
    EXPECT_FALSE(queue_report(asked).fewest);
    EXPECT_NEAR(service_quantile(asked, 0.99).base(), 0.01 * std::log(100.0), 1e-9);
}

TEST(QueueReportTest, MoreThanCapacityGrowsWithoutEnd) {
    QueueReport const report = queue_report(question(250.0, {2}));
    EXPECT_FALSE(report.answer.answer.stable);
    EXPECT_NEAR(report.answer.answer.utilization, 1.25, 1e-12);
    EXPECT_FALSE(report.simulation);
}

TEST(QueueReportTest, FasterReplicasAreAWholeNumberOfSlowOnes) {
    QueueQuestion asked = question(50.0, {2});
    asked.factor = 1.3;
    EXPECT_THROW(queue_report(asked), InputError);
}

TEST(QueueReportTest, LossesOfArrivalsThatAreNotPoissonAreExactOrSimulated) {
    QueueQuestion asked = question(560.0, {8});
    asked.queue.load.arrival_variation = 4.0;
    asked.queue.shape.places = 8;
    asked.simulate = true;
    QueueReport const bursts = queue_report(asked);
    EXPECT_NEAR(bursts.answer.answer.blocked, 0.2317, 1e-4);
    EXPECT_EQ(bursts.answer.answer.method, QueueMethod::exact);
    EXPECT_EQ(bursts.simulation->compared.back().quantity, "blocked");
    EXPECT_TRUE(*bursts.simulation->agrees);
    asked.queue.load.service_variation = 0.5;
    EXPECT_EQ(queue_report(asked).answer.answer.method, QueueMethod::simulation);
}

TEST(QueueReportTest, EvenArrivalsNeedFewerReplicas) {
    QueueQuestion asked = question(560.0, {8});
    asked.stated_replicas = false;
    asked.queue.load.arrival_variation = 0.0;
    asked.queue.shape.places = 13;
    asked.objective = LatencyObjective{.q = 0.99, .latency = Seconds{0.06}, .blocked = 0.001};
    EXPECT_EQ(queue_report(asked).fewest, 8);
}

} // namespace
} // namespace headroom
