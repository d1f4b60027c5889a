#include "headroom/counter_random.hpp"
#include "headroom/error.hpp"
#include "headroom/serving/percentile.hpp"
#include "headroom/serving/tail_answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::serving;

namespace {

TailPart part_of(int count, std::string unit) {
    TailPart part{.name = "run", .samples = {}};
    part.samples.unit = std::move(unit);
    for (int i = 1; i <= count; ++i) { part.samples.digest.add(1e-3 * i); }
    return part;
}

std::vector<TailPart> parts_of(int count, std::string unit = "s") {
    std::vector<TailPart> parts;
    parts.push_back(part_of(count, std::move(unit)));
    return parts;
}

TailAnswer answer_to(TailQuestion const& question, std::vector<TailPart> const& parts) {
    return tail_answer(question, parts, {}, [](LatencyHistogram const&) { return std::vector<TailFit>{}; });
}

TEST(TailAnswerTest, TheMeanOfTheTwoInTheMiddleOfAThousandIsTheMedian) {
    TailAnswer const answer = answer_to({}, parts_of(1000));
    EXPECT_NEAR(*answer.set.percentiles.front().value, 0.5005, 0.5 * LatencyHistogram::relative_error);
    EXPECT_FALSE(answer.set.percentiles[6].value) << "the greatest of 1,000 samples is no p99.99";
    EXPECT_NEAR(answer.slow->share, 0.01, 1e-3); // beyond p99
}

/// A file of 100 samples states that half take 10 ms or less, nine in ten 20 ms or less, and all but one 40 ms or less.
TEST(TailAnswerTest, AQuantileThatAFileDoesNotStateLiesBetweenThoseThatItStates) {
    std::vector<TailPart> parts(1);
    parts[0].samples.unit = "s";
    parts[0].samples.known = {{0.5, 0.01}, {0.9, 0.02}, {0.99, 0.04}};
    for (int i = 0; i < 100; ++i) { parts[0].samples.digest.add(i < 50 ? 0.01 : i < 90 ? 0.02 : 0.04); }
    TailAnswer const answer = answer_to({}, parts);
    auto const row = [&](double q) { return *std::ranges::find(answer.set.percentiles, q, &TailPercentile::q); };
    EXPECT_FALSE(row(0.5).known_low);
    EXPECT_DOUBLE_EQ(*row(0.75).known_low, 0.01);
    EXPECT_DOUBLE_EQ(*row(0.75).known_high, 0.02);
    EXPECT_LE(*row(0.95).low, 0.02);
    EXPECT_GE(row(0.95).high.value_or(1.0), 0.04);
    EXPECT_FALSE(row(0.999).value) << "nothing is known beyond 99 %";
    EXPECT_DOUBLE_EQ(*row(0.999).known_low, 0.04);
    EXPECT_FALSE(row(1.0).value);
    parts.push_back(part_of(100, "s"));
    TailAnswer const both = answer_to({}, parts);
    EXPECT_TRUE(both.set.percentiles[0].known_low) << "the median of both lies among what one states";
}

TEST(TailAnswerTest, ReplicasAreNotKnownWithoutArrivalsAndService) {
    TailQuestion question{.objective = TailObjective{"p99<=2s", 0.99, {.text = "2s", .seconds = 2.0}}};
    ReplicasForSlo const slo = *answer_to(question, parts_of(100)).slo;
    EXPECT_EQ(slo.missing, (std::vector{ReplicaInput::arrivals, ReplicaInput::replicas_or_service}));
    EXPECT_FALSE(slo.replicas());
}

TEST(TailAnswerTest, AnObjectiveBelowServiceAloneIsKeptByNoNumberOfReplicas) {
    TailQuestion question{.service = true,
                          .objective = TailObjective{"p99<=50ms", 0.99, {.text = "50ms", .seconds = 0.05}},
                          .arrivals_per_second = 1.0};
    ReplicasForSlo const slo = *answer_to(question, parts_of(100)).slo;
    ASSERT_TRUE(slo.answered());
    EXPECT_NEAR(slo.floor, 0.099, 0.099 * LatencyHistogram::relative_error); // 1 ms to 100 ms, of which p99 is the 99th
    EXPECT_FALSE(slo.replicas());
}

/// Requests to two exponential servers of 20 ms behind one line, 90 a second.
TailPart two_servers(std::uint64_t seed, bool with_requests) {
    TailPart part{.name = "run", .samples = {}};
    part.samples.unit = "s";
    CounterRandom random{seed};
    double now = 0.0;
    std::array<double, 2> ends{};
    for (int i = 0; i < 30'000; ++i) {
        now += random.exponential() / 90.0;
        double& end = *std::ranges::min_element(ends);
        end = std::max(now, end) + 0.02 * random.exponential();
        part.samples.digest.add(end - now, now);
        if (with_requests) { part.samples.requests.push_back({now, end - now}); }
    }
    return part;
}

TEST(TailAnswerTest, ServiceIsRebuiltFromSendTimes) {
    TailQuestion question{.objective = TailObjective{"p99<=101ms", 0.99, {.text = "101ms", .seconds = 0.101}},
                          .replicas = 2};
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        std::vector<TailPart> parts;
        parts.push_back(two_servers(seed, true));
        ReplicasForSlo const slo = *answer_to(question, parts).slo;
        EXPECT_EQ(slo.service_from, ServiceFrom::rebuilt);
        EXPECT_NEAR(slo.load.service.base(), 0.02, 0.0005);
        EXPECT_NEAR(slo.floor, 0.0921, 0.004); // ln 100 x 20 ms
        EXPECT_EQ(slo.replicas(), 4) << "three have 107.6 ms, four 94.1 ms";
        EXPECT_FALSE(slo.careful());
        question.replicas = 1;
        EXPECT_NE(answer_to(question, parts).slo->service_from, ServiceFrom::rebuilt) << "not of one server";
        question.replicas = 2;
    }
}

TEST(TailAnswerTest, ADeducedServiceIsNoLongerThanLatenciesAndNeverSaysThatNoNumberIsEnough) {
    TailQuestion question{.objective = TailObjective{"p99<=60ms", 0.99, {.text = "60ms", .seconds = 0.06}},
                          .replicas = 2};
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        std::vector<TailPart> parts;
        parts.push_back(two_servers(seed, false));
        ReplicasForSlo const slo = *answer_to(question, parts).slo;
        EXPECT_TRUE(!slo.answered() || (slo.replicas() && slo.careful())) << seed;
    }
}

TEST(TailAnswerTest, ValuesAreWrittenAsSamplesAre) {
    TailQuestion question{.slow = TailPoint{.text = "0.05", .number = 0.05}};
    EXPECT_THROW(answer_to(question, parts_of(100)), InputError);
    EXPECT_NEAR(answer_to(question, parts_of(100, "1")).slow->share, 0.5, 0.01);
}

TEST(TailAnswerTest, PercentilesHaveNames) {
    EXPECT_EQ(percentile_name(0.999), "p99.9");
    EXPECT_EQ(percentile_name(1.0), "max");
    EXPECT_DOUBLE_EQ(*percentile_in("p999"), 0.999);
    EXPECT_FALSE(percentile_in("p100"));
}

} // namespace
} // namespace headroom
