#include "headroom/training/placement.hpp"

#include <gtest/gtest.h>

namespace headroom {

using namespace headroom::network;
using namespace headroom::training;

namespace {

Group group(int size, int per_domain) { return {.size = size, .per_domain = per_domain}; }

TEST(GroupOf, NeighboursFillADomain) {
    EXPECT_EQ(group_of(8, 1, 8), group(8, 8));
    EXPECT_EQ(group_of(4, 1, 8), group(4, 4));   // half of a domain
    EXPECT_EQ(group_of(16, 1, 8), group(16, 8)); // two whole domains
    EXPECT_EQ(group_of(16, 1, 8).domains(), 2);
    EXPECT_EQ(group_of(1, 1, 8), group(1, 1));
}

TEST(GroupOf, StrideThinsAGroupOut) {
    EXPECT_EQ(group_of(16, 8, 8), group(16, 1)); // one member a domain: every hop is the slow link
    EXPECT_EQ(group_of(16, 4, 8), group(16, 2));
    EXPECT_EQ(group_of(16, 64, 8), group(16, 1));
    // Expectation: ranks 0, 3, 6 | 9, 12, 15 ...: some domains hold 3, the plan counts on 2.
    EXPECT_EQ(group_of(8, 3, 8), group(8, 2));
}

TEST(GroupOf, RoundsDomainsUp) {
    EXPECT_EQ(group_of(12, 1, 8).domains(), 2);
    EXPECT_EQ(group_of(72, 1, 72).domains(), 1);
}

TEST(Place, TensorInsideDataAcross) {
    // Expectation: tp8 fills each DGX, so data-parallel partners sit one in each of 16 nodes.
    Placement const placement = place({.dp = 16, .tp = 8, .pp = 4}, 8);
    EXPECT_EQ(placement.tensor, group(8, 8));
    EXPECT_EQ(placement.data, group(16, 1));
    EXPECT_EQ(placement.shard, group(16, 1));
    EXPECT_EQ(placement.replicate, group(1, 1));
    EXPECT_EQ(placement.pipeline, group(4, 1));
    EXPECT_TRUE(placement.pipeline_leaves_domain);
}

TEST(Place, ContextRanksJoinTheGradientSum) {
    // Expectation: gradients are summed over dp cp = 8 ranks that are tp = 2 apart, 4 of them in each domain of 8.
    Placement const placement = place({.dp = 2, .tp = 2, .cp = 4}, 8);
    EXPECT_EQ(placement.context, group(4, 4));
    EXPECT_EQ(placement.data, group(8, 4));
    EXPECT_EQ(placement.shard, group(8, 4)); // ZeRO-3 state is spread over all of them
}

TEST(Place, HybridShardingSplitsTheDataRanks) {
    // Expectation: shards of 8 fill a node; the 16 copies of each shard sit one a node.
    Placement const placement = place({.dp = 128, .zero = 3, .shard = 8}, 8);
    EXPECT_EQ(placement.shard, group(8, 8));
    EXPECT_EQ(placement.replicate, group(16, 1));
    EXPECT_EQ(placement.data, group(128, 8));
}

TEST(Place, SmallPipelineStaysInTheDomain) {
    EXPECT_FALSE(place({.tp = 2, .pp = 4}, 8).pipeline_leaves_domain);
    EXPECT_EQ(place({.tp = 2, .pp = 4}, 8).pipeline, group(4, 4));
    EXPECT_TRUE(place({.tp = 4, .pp = 4}, 8).pipeline_leaves_domain);
    EXPECT_FALSE(place({.tp = 8, .pp = 9}, 72).pipeline_leaves_domain);
    EXPECT_FALSE(place({.dp = 64, .tp = 8}, 8).pipeline_leaves_domain); // no pipeline, no boundary
}

TEST(Place, ExpertsAreNeighboursAndTheirCopiesAStrideApart) {
    // Expectation: 16 ranks of a stage hold 4 slices of the experts, each with its neighbour; ranks that hold the same slice
    // are 4 apart, two of them in each domain of 8.
    Placement const placement = place({.dp = 8, .tp = 2, .ep = 4}, 8);
    EXPECT_EQ(placement.experts, group(4, 4));
    EXPECT_EQ(placement.expert_data, group(4, 2));
    EXPECT_EQ(placement.data, group(8, 4));
    // Expectation: experts cut over the tensor ranks are a tensor group apart.
    Placement const cut = place({.dp = 8, .tp = 2, .ep = 4, .etp = 2}, 8);
    EXPECT_EQ(cut.experts, group(4, 4));
    EXPECT_EQ(cut.expert_data, group(2, 1));
}

TEST(Place, ExpertsHaveAsManyCopiesAsTheRest) {
    // Expectation: shards of 8 of 64 ranks make 8 copies. With experts over 8 ranks each copy has them whole: nothing is
    // left to shard, and the 8 ranks with the same experts are copies of each other.
    Placement const placement = place({.dp = 64, .ep = 8, .zero = 3, .shard = 8}, 8);
    EXPECT_EQ(placement.expert_data, group(8, 1));
    EXPECT_EQ(placement.expert_shard, group(1, 1));
    EXPECT_EQ(placement.expert_replicate, group(8, 1));
    // Expectation: one copy over all ranks is sharded over all that hold the same experts.
    EXPECT_EQ(place({.dp = 64, .ep = 8, .zero = 3}, 8).expert_shard, group(8, 1));
    EXPECT_EQ(place({.dp = 64, .ep = 8, .zero = 3, .shard = 32}, 8).expert_shard, group(4, 1));
}

} // namespace
} // namespace headroom
