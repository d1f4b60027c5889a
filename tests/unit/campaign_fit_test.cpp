#include "support/made_campaign.hpp"

#include "headroom/fit/campaign_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace headroom::fit {

using namespace headroom::measure;
using namespace headroom::network;

namespace {

using test::made_messages;
using test::MadeCampaign;

TEST(CampaignFit, MessagesBecomeRowsOfTwoRanks) {
    auto const found =
        measured_collectives(made_messages(2e-6, 1e-10, 0.0, 1), {.system = "a", .source = "campaign 3"});
    ASSERT_EQ(found.rows.size(), 64U);
    EXPECT_EQ(found.points, 8U);
    EXPECT_EQ(found.samples, 64U);
    EXPECT_EQ(found.rows[0].collective, Collective::point_to_point);
    EXPECT_EQ(found.rows[0].ranks, 2);
    EXPECT_EQ(found.rows[0].nodes, 1);
    EXPECT_EQ(found.rows[0].file, "campaign 3");
    EXPECT_TRUE(found.left_out.empty());
}

TEST(CampaignFit, CollectivesTakeTheRanksOfTheirCampaign) {
    MadeCampaign made{"comm"};
    made.campaign.settings = {{"ranks", "8"}};
    made.campaign.machine = {{"nodes", "2"}};
    made.samples(
        made.point(
            "all_reduce of 1024 B",
            {{"pattern", "collective"}, {"bytes", "1024"}, {"collective", "all_reduce"}, {"algorithm", "library"}},
            "seconds"),
        {1e-5, 1.1e-5});
    made.samples(made.point("by ring",
                            {{"operation", "all_gather"}, {"bytes", "2048"}, {"ranks", "4"}, {"algorithm", "ring"}},
                            "seconds"),
                 {2e-5});
    made.samples(made.point("far", {{"pattern", "one_way"}, {"bytes", "8"}, {"link", "between hosts"}}, "seconds"),
                 {9e-6});
    auto const rows = measured_collectives(made.campaign, {.system = "", .source = ""}).rows;
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[0].ranks, 8);
    EXPECT_EQ(rows[0].nodes, 2);
    EXPECT_EQ(rows[0].algorithm, "") << "the library did not say which";
    EXPECT_EQ(rows[2].ranks, 4) << "what a point says goes first";
    EXPECT_EQ(rows[2].algorithm, "ring");
    EXPECT_EQ(rows[3].nodes, 2) << "a pair on two hosts";
}

TEST(CampaignFit, WhatIsNoRowIsNamedWithItsReason) {
    MadeCampaign made{"comm"};
    made.samples(made.point("a", {{"pattern", "both_ways"}, {"bytes", "8"}}, "seconds"), {1.0});
    made.samples(made.point("b", {{"operation", "all_reduce"}, {"bytes", "8"}}, "seconds"), {1.0});
    made.samples(made.point("c", {{"operation", "ping-pong"}}, "seconds"), {1.0});
    made.samples(made.point("d", {{"operation", "ping-pong"}, {"bytes", "8"}}, "bytes/second"), {1.0});
    made.point("e", {{"operation", "ping-pong"}, {"bytes", "8"}}, "seconds");
    made.samples(made.point("f", {{"operation", "dance"}, {"bytes", "8"}}, "seconds"), {1.0});
    auto const found = measured_collectives(made.campaign, {.system = "", .source = ""});
    EXPECT_TRUE(found.rows.empty());
    std::vector<std::string> whys;
    for (auto const& one : found.left_out) { whys.push_back(one.label + ": " + one.why); }
    EXPECT_EQ(whys,
              (std::vector<std::string>{"a: models of links take messages alone and collectives, not 'both_ways'",
                                        "b: it states no number of ranks above one", "c: it states no size",
                                        "d: its unit is bytes/second, not seconds", "e: it has no sample that counts",
                                        "f: it names no collective that is known"}));
}

TEST(CampaignFit, ManySamplesKeepBothEndsAndTheMiddle) {
    MadeCampaign made{"comm"};
    std::vector<double> times;
    for (int i = 1; i <= 1001; ++i) { times.push_back(1e-6 * i); }
    made.samples(made.point("a", {{"operation", "ping-pong"}, {"bytes", "8"}}, "seconds"), times);
    auto const rows = measured_collectives(made.campaign, {.system = "", .source = ""}).rows;
    ASSERT_EQ(rows.size(), 32U);
    EXPECT_DOUBLE_EQ(rows.front().time.base(), 1e-6);
    EXPECT_DOUBLE_EQ(rows.back().time.base(), 1001e-6);
}

CampaignRates rates() {
    MadeCampaign made{"roofline"};
    auto const bandwidth = [&](char const* kernel, char const* level, char const* threads, double rate) {
        made.samples(made.point(std::string{kernel} + level + threads,
                                {{"quantity", "bandwidth"},
                                 {"level", level},
                                 {"kernel", kernel},
                                 {"capacity", "1048576"},
                                 {"threads", threads}},
                                "bytes/second"),
                     {rate, rate * 1.01, rate * 0.99});
    };
    bandwidth("triad", "memory", "1", 10e9);
    bandwidth("triad", "memory", "2", 18e9);
    bandwidth("triad past the caches", "memory", "2", 24e9);
    bandwidth("read", "memory", "2", 26e9);
    bandwidth("triad", "L2", "2", 90e9);
    auto const arithmetic = [&](Facts parameters, double rate) {
        made.samples(made.point(std::to_string(rate), std::move(parameters), "flops/second"), {rate, rate, rate});
    };
    arithmetic({{"quantity", "peak"}, {"precision", "fp32"}, {"threads", "2"}}, 150e9);
    arithmetic({{"quantity", "product"}, {"precision", "fp32"}, {"order", "256"}, {"threads", "2"}}, 90e9);
    arithmetic({{"quantity", "product"}, {"precision", "fp32"}, {"order", "2048"}, {"threads", "2"}}, 120e9);
    arithmetic({{"quantity", "product"}, {"precision", "fp32"}, {"order", "2048"}, {"threads", "1"}}, 130e9);
    arithmetic({{"quantity", "kernel"}, {"kernel", "gemm"}, {"precision", "fp32"}, {"threads", "2"}}, 140e9);
    made.samples(made.point("latency", {{"quantity", "latency"}, {"level", "memory"}}, "seconds"), {1e-7, 1e-7, 1e-7});
    made.samples(made.point("few", {{"quantity", "bandwidth"}, {"level", "L3"}, {"kernel", "triad"}}, "bytes/second"),
                 {1e9});
    return measured_rates(made.campaign);
}

TEST(CampaignFit, RatesOfTheWholeMachine) {
    CampaignRates const found = rates();
    MeasuredRate const* memory = memory_rate(found);
    ASSERT_NE(memory, nullptr);
    // Expectation: STREAM's triad on all threads, by its faster way of storing; not a read, which moves less.
    EXPECT_DOUBLE_EQ(memory->value.value, 24e9);
    EXPECT_EQ(memory->threads, 2);
    EXPECT_EQ(memory->samples, 3U);
    MeasuredRate const* product = product_rate(found, "fp32");
    ASSERT_NE(product, nullptr);
    EXPECT_DOUBLE_EQ(product->value.value, 120e9)
        << "most threads first, then the fastest; a kernel called gemm is none";
    EXPECT_EQ(product_rate(found, "bf16"), nullptr);
    ASSERT_EQ(found.left_out.size(), 2U);
    EXPECT_EQ(found.left_out[0].why, "its unit is seconds, which is no rate");
    EXPECT_EQ(found.left_out[1].why, "1 samples above zero, and three are the least");
}

TEST(CampaignFit, StepsByWorkers) {
    MadeCampaign made{"scaling"};
    made.campaign.settings = {{"mode", "weak"}, {"result", "wall clock"}};
    made.samples(made.point("4 workers", {{"workers", "4"}}, "seconds"), {2.0, 2.2, 2.1});
    made.samples(made.point("1 worker", {{"workers", "1"}}, "seconds"), {8.0, 8.2, 8.1});
    made.samples(made.point("2 workers", {{"workers", "2"}}, "seconds"), {4.0, 4.1});
    made.samples(made.point("8 workers", {{"workers", "8"}}, "items/second"), {1.0, 1.0, 1.0});
    auto const found = measured_steps(made.campaign);
    ASSERT_EQ(found.steps.size(), 2U);
    EXPECT_EQ(found.steps[0].workers, 1);
    EXPECT_DOUBLE_EQ(found.steps[1].seconds.value, 2.1);
    EXPECT_TRUE(found.weak);
    EXPECT_TRUE(found.whole_command);
    ASSERT_EQ(found.left_out.size(), 2U);
    EXPECT_EQ(found.left_out[0].why, "2 samples above zero, and three are the least");
    EXPECT_EQ(found.left_out[1].why, "its unit is items/second, not seconds");
}

} // namespace
} // namespace headroom::fit
