#include "headroom/error.hpp"
#include "headroom/serving/percentile.hpp"
#include "headroom/serving/tail_answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(TailAnswerTest, TheFiveHundredthOfAThousandIsTheMedian) {
    TailAnswer const answer = answer_to({}, parts_of(1000));
    EXPECT_NEAR(*answer.set.percentiles.front().value, 0.5, 0.5 * LatencyHistogram::relative_error);
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
