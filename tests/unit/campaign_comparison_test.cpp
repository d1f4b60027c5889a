#include "headroom/measure/campaign_comparison.hpp"

#include <gtest/gtest.h>

namespace headroom {

using namespace headroom::measure;

namespace {

/// A campaign with one point for each label; sample i of a point is `value` times 1 + i / 1000.
Campaign campaign_of(std::vector<MeasuredPoint> points, double value, int samples = 20) {
    Campaign campaign;
    campaign.points = std::move(points);
    for (std::uint32_t point = 0; point < campaign.points.size(); ++point) {
        for (int i = 0; i < samples; ++i) {
            campaign.samples.push_back({.point = point, .value = value * (1.0 + 0.001 * ((7 * i) % 20))});
        }
    }
    return campaign;
}

SampleVerdict verdict_of(char const* unit, double before, double after) {
    auto const found = compare_campaigns(campaign_of({{"a", {}, unit}}, before), campaign_of({{"a", {}, unit}}, after));
    return found.points.at(0).verdict;
}

TEST(CampaignComparison, TimesThatGrowAreSlowerRatesFaster) {
    EXPECT_EQ(verdict_of("seconds", 1.0, 2.0), SampleVerdict::slower);
    EXPECT_EQ(verdict_of("seconds", 2.0, 1.0), SampleVerdict::faster);
    EXPECT_EQ(verdict_of("bytes/second", 1.0, 2.0), SampleVerdict::faster);
    EXPECT_EQ(verdict_of("bytes", 1.0, 2.0), SampleVerdict::more);
    EXPECT_EQ(verdict_of("bytes", 2.0, 1.0), SampleVerdict::less);
    EXPECT_EQ(verdict_of("seconds", 1.0, 1.0), SampleVerdict::no_difference);
}

TEST(CampaignComparison, FewSamplesAreNotCompared) {
    auto const found =
        compare_campaigns(campaign_of({{"a", {}, "seconds"}}, 1.0, 3), campaign_of({{"a", {}, "seconds"}}, 2.0));
    ASSERT_EQ(found.points.size(), 1U);
    EXPECT_EQ(found.points[0].verdict, SampleVerdict::too_few);
    EXPECT_FALSE(found.points[0].comparison);
    EXPECT_FALSE(found.points[0].ratio);
}

TEST(CampaignComparison, PointsOfOneSideAndOfOtherUnitsAreNamed) {
    auto const found = compare_campaigns(campaign_of({{"a", {}, "seconds"}, {"b", {}, "seconds"}}, 1.0),
                                         campaign_of({{"b", {}, "bytes"}, {"c", {}, "seconds"}}, 1.0));
    EXPECT_TRUE(found.points.empty());
    EXPECT_EQ(found.only_first, std::vector<std::string>{"a"});
    EXPECT_EQ(found.only_second, std::vector<std::string>{"c"});
    EXPECT_EQ(found.other_units, std::vector<std::string>{"b"});
}

TEST(CampaignComparison, SummariesCountEveryOutcome) {
    auto campaign = campaign_of({{"a", {}, "seconds"}}, 1.0, 2);
    campaign.samples.push_back({.point = 0, .value = 9.0, .outcome = SampleOutcome::warm_up});
    campaign.samples.push_back({.point = 0, .outcome = SampleOutcome::failed});
    auto const points = summarize_points(campaign);
    ASSERT_EQ(points.size(), 1U);
    EXPECT_EQ(points[0].outcomes, (OutcomeCounts{2, 1, 1, 0, 0}));
    EXPECT_EQ(points[0].values, (std::vector<double>{1.0, 1.007}));
    EXPECT_FALSE(points[0].drift);
}

TEST(CampaignComparison, FactsDifferWhereOneSideLacksThem) {
    Facts const first{{"cpu", "x"}, {"load", "1"}}, second{{"cpu", "x"}, {"load", "2"}, {"gpu", "y"}};
    auto const found = differences(first, second);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].name, "load");
    EXPECT_EQ(found[1].first, std::nullopt);
    EXPECT_FALSE(same_machine(first, second));
    EXPECT_TRUE(same_machine(first, {{"cpu", "x"}, {"load", "2"}}));
    EXPECT_EQ(unique_facts({{"a", "1"}, {"a", "2"}}), (Facts{{"a", "1"}}));
}

} // namespace
} // namespace headroom
