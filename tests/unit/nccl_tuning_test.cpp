// NCCL's model by hand, from the rows of its tables.

#include "headroom/io/catalog.hpp"
#include "headroom/network/nccl_tuning.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace headroom {

using namespace headroom::network;

namespace {

using units::GB;
using units::s;
using units::us;
using enum NcclAlgorithm;
using enum NcclProtocol;

NcclTuning const& tuning() {
    static NcclTuning const read = io::Catalog{}.nccl_tuning();
    return read;
}

/// Eight H100 behind switches: 370.8 GB/s in 12 channels.
NcclGroup h100(int ranks = 8, int nodes = 1) {
    return {.ranks = ranks,
            .nodes = nodes,
            .generation = NcclGeneration::hopper,
            .channels = 12,
            .intra = 370.8 * GB / s,
            .inter = 384.0 * GB / s};
}

NcclCandidate candidate(NcclGroup const& group, Collective collective, TotalBytes n, NcclAlgorithm algorithm,
                        NcclProtocol protocol) {
    auto const all = nccl_candidates(tuning(), collective, n, group);
    auto const found = std::ranges::find_if(
        all, [&](NcclCandidate const& one) { return one.algorithm == algorithm && one.protocol == protocol; });
    if (found == all.end()) { throw std::runtime_error{"no such candidate"}; }
    return *found;
}

TotalBytes bytes(double n) { return TotalBytes{Bytes{n}}; }

TEST(NcclTuning, RingOfOneNodePaysEveryStep) {
    // LL128: 14 + 14 x 1.9 = 40.6 us; 370.8 x 0.92 = 341.136 (below 12 x 36.7), times 8 / 14
    auto const ring128 = candidate(h100(), Collective::all_reduce, bytes(1e6), ring, ll128);
    EXPECT_NEAR(ring128.latency.in(us), 40.6, 1e-9);
    EXPECT_NEAR(ring128.bandwidth.in(GB / s), 194.934857142857, 1e-9);
    EXPECT_NEAR(ring128.seconds(bytes(1e6)).in(us), 40.6 + 1e3 / 194.934857142857, 1e-9);
    // LL: 6.6 + 14 x 0.6 = 15 us; min(370.8 / 2, 141) x 8 / 14
    auto const plain = candidate(h100(), Collective::all_reduce, bytes(1e6), ring, ll);
    EXPECT_NEAR(plain.latency.in(us), 15.0, 1e-9);
    EXPECT_NEAR(plain.bandwidth.in(GB / s), 141.0 * 8 / 14, 1e-9);
    // an all-gather is half as many steps: 8.4 + 7 x 3.4 = 32.2 us, 370.8 x 8 / 7
    auto const gather = candidate(h100(), Collective::all_gather, bytes(1e9), ring, simple);
    EXPECT_NEAR(gather.latency.in(us), 32.2, 1e-9);
    EXPECT_NEAR(gather.bandwidth.in(GB / s), 370.8 * 8 / 7, 1e-9);
}

TEST(NcclTuning, TreeIsCorrectedInTheMiddle) {
    // 6.8 + 2 (7 x 0.6 + 1 x 5) = 25.2 us on two nodes of eight
    auto const two = candidate(h100(16, 2), Collective::all_reduce, bytes(1024), tree, ll);
    EXPECT_NEAR(two.latency.in(us), 25.2, 1e-9);
    // 512 KB is 2^19: the 13th doubling of 64 B, where LL reaches 0.4 of min(370.8 x 0.92 / 3.8, 141) / 2
    auto const dip = candidate(h100(), Collective::all_reduce, bytes(524288), tree, ll);
    EXPECT_NEAR(dip.bandwidth.in(GB / s), 0.4 * 0.5 * 370.8 * 0.92 / 3.8, 1e-9);
    auto const large = candidate(h100(), Collective::all_reduce, bytes(1e10), tree, ll);
    EXPECT_NEAR(large.bandwidth.in(GB / s), 0.5 * 370.8 * 0.92 / 3.8, 1e-9);
}

TEST(NcclTuning, RingOverNodesPaysItsPlateau) {
    // 30 steps, 2 of them between nodes: 8.4 + 28 max(3.4, 3 x 2) + 2 x 14 = 204.4 us, 1.4 times from 64 B a rank and channel
    auto const small = candidate(h100(16, 2), Collective::all_reduce, bytes(64), ring, simple);
    auto const large = candidate(h100(16, 2), Collective::all_reduce, bytes(1e9), ring, simple);
    EXPECT_NEAR(small.latency.in(us), 204.4, 1e-9);
    EXPECT_NEAR(large.latency.in(us), 1.4 * 204.4, 1e-9);
}

TEST(NcclTuning, NvlsOfOneNode) {
    // 25 us; 370.8 x 0.85 x 11/12 x 2 times 8 / 14
    auto const one = candidate(h100(), Collective::all_reduce, bytes(1e9), nvls, simple);
    EXPECT_NEAR(one.latency.in(us), 25.0, 1e-9);
    EXPECT_NEAR(one.bandwidth.in(GB / s), 370.8 * 0.85 * 11 / 12 * 2 * 8 / 14, 1e-9);
}

TEST(NcclTuning, Ll128OfTreesHasItsShares) {
    auto const one = candidate(h100(), Collective::all_reduce, bytes(1e10), tree, ll128);
    EXPECT_NEAR(one.bandwidth.in(GB / s), 0.5 * 370.8 * 0.92 * 7 / 9, 1e-9);
    auto const two = candidate(h100(16, 2), Collective::all_reduce, bytes(1e10), tree, ll128);
    EXPECT_NEAR(two.bandwidth.in(GB / s), 0.5 * 370.8 * 0.92 * 120 / 128, 1e-9);
}

TEST(NcclTuning, SwitchesThatAddBetweenNodes) {
    NcclGroup group = h100(16, 2);
    group.collnet = true;
    // 8 ranks on 12 channels: a rank has 2/3 of a way out, 2/3 - (2/3 - 1) / 2 = 5/6; 0.85 from Hopper on
    auto const direct = candidate(group, Collective::all_reduce, bytes(1e9), collnet_direct, simple);
    EXPECT_NEAR(direct.bandwidth.in(GB / s), 370.8 * 6 / 5 * 0.85 / 2, 1e-9);
    EXPECT_NEAR(direct.latency.in(us), 2 * (3.7 + 7 * 0.4) + 31, 1e-9);
    auto const chain = candidate(group, Collective::all_reduce, bytes(1e9), collnet_chain, simple);
    EXPECT_NEAR(chain.latency.in(us), 14 * 2.8 + 30, 1e-9);
    auto const both = candidate(group, Collective::all_reduce, bytes(1e9), nvls, simple);
    EXPECT_NEAR(both.latency.in(us), 25.0 + 18.0, 1e-9);
}

TEST(NcclTuning, NvlsTreePaysEveryLevelTwice) {
    EXPECT_NEAR(candidate(h100(64, 8), Collective::all_reduce, bytes(1e9), nvls_tree, simple).latency.in(us),
                25.0 + 2 * 3 * 20.9, 1e-9);
    NcclGroup two = h100(16, 2);
    two.inter = 100.0 * GB / s; // crossed once each way by two nodes: 200, times 16 / 30
    EXPECT_NEAR(candidate(two, Collective::all_reduce, bytes(1e9), nvls_tree, simple).bandwidth.in(GB / s),
                200.0 * 16 / 30, 1e-9);
}

TEST(NcclTuning, OnlyTwoNodesUseTheirWaysOutOnce) {
    for (int const nodes : {2, 3}) {
        NcclGroup group = h100(8 * nodes, nodes);
        group.inter = 100.0 * GB / s;
        EXPECT_NEAR(candidate(group, Collective::all_reduce, bytes(1e10), tree, simple).bandwidth.in(GB / s),
                    (nodes == 2 ? 200.0 : 100.0) * 0.92 / 2, 1e-9);
    }
}

TEST(NcclTuning, PlateauIsOfTheGeneration) {
    NcclGroup group = h100(16, 2);
    group.generation = NcclGeneration::ampere;
    EXPECT_NEAR(candidate(group, Collective::all_reduce, bytes(1e9), ring, simple).latency.in(us), 1.4 * 204.4, 1e-9);
    group.generation = NcclGeneration::volta;
    EXPECT_NEAR(candidate(group, Collective::all_reduce, bytes(1e9), ring, simple).latency.in(us), 1.9 * 204.4, 1e-9);
}

TEST(NcclTuning, PatWantsOneRankANode) {
    // 8 + lg 8 x 14 / 3.5 + 8 x 2.8 = 42.4 us
    auto const one = candidate(h100(8, 8), Collective::all_gather, bytes(1e6), pat, simple);
    EXPECT_NEAR(one.latency.in(us), 42.4, 1e-9);
    EXPECT_NEAR(one.bandwidth.in(GB / s), 0.75 * 370.8, 1e-9);
    EXPECT_THROW(candidate(h100(16, 2), Collective::all_gather, bytes(1e6), pat, simple), std::runtime_error);
}

TEST(NcclTuning, WhatIsNotAllowedIsNoCandidate) {
    auto const has = [](NcclGroup const& group, Collective collective, NcclAlgorithm algorithm, NcclProtocol protocol) {
        auto const all = nccl_candidates(tuning(), collective, bytes(1e6), group);
        return std::ranges::any_of(
            all, [&](auto const& one) { return one.algorithm == algorithm && one.protocol == protocol; });
    };
    NcclGroup pcie = h100();
    pcie.nvlink = pcie.multicast = false;
    EXPECT_FALSE(has(pcie, Collective::all_reduce, ring, ll128));
    EXPECT_FALSE(has(pcie, Collective::all_reduce, nvls, simple));
    EXPECT_FALSE(has(h100(), Collective::all_reduce, nvls_tree, simple));
    EXPECT_FALSE(has(h100(), Collective::all_reduce, nvls, ll));
    EXPECT_FALSE(has(h100(16, 2), Collective::all_reduce, collnet_direct, simple));
    EXPECT_FALSE(has(h100(), Collective::broadcast, tree, simple));
    NcclGroup ampere = h100();
    ampere.generation = NcclGeneration::ampere;
    EXPECT_FALSE(has(ampere, Collective::all_reduce, nvls, simple));
    EXPECT_TRUE(nccl_candidates(tuning(), Collective::all_to_all, bytes(1e6), h100()).empty());
    EXPECT_TRUE(nccl_candidates(tuning(), Collective::all_reduce, bytes(1e6), h100(1, 1)).empty());
}

TEST(PublishedPrice, NvlsCannotSendMoreThanItsLinks) {
    // Eight ranks send 9/8 n each: 370.8 x 0.85 / 1.125 = 280.16 GB/s;
    Cluster const cluster = io::Catalog{}.cluster("dgx-h100");
    auto const price = published_price(tuning(), cluster, Collective::all_reduce, bytes(8e9), 8, 1);
    ASSERT_TRUE(price);
    EXPECT_EQ(price->algorithm, nvls);
    EXPECT_NEAR(price->time.latency.in(us), 25.0 + (20.0 - 15.0), 1e-9); // the LL ring's 15 us miss 5 of a launch
    EXPECT_NEAR(price->time.bandwidth.in(us), 8e3 / (370.8 * 0.85 / 1.125) * 1e3, 1e-6);
}

TEST(PublishedPrice, FloorIsTheSlowestFabricsThatIsCrossed) {
    Cluster const cluster = io::Catalog{}.cluster("aws-p5");
    auto const inside = published_price(tuning(), cluster, Collective::all_reduce, bytes(8), 8, 1);
    auto const across = published_price(tuning(), cluster, Collective::all_reduce, bytes(8), 16, 2);
    ASSERT_TRUE(inside && across);
    EXPECT_NEAR(inside->time.latency.in(us), 20.0, 1e-9);
    EXPECT_NEAR(across->time.latency.in(us), 75.0, 1e-9);
    auto const levels = published_price(tuning(), cluster, Collective::all_reduce, bytes(8), 40, 5); // lg 5: 3 levels
    ASSERT_TRUE(levels);
    EXPECT_NEAR(levels->time.latency.in(us), 225.0, 1e-9);
}

TEST(PublishedPrice, TwoOfAMeshShareOneLink) {
    // 7 links of 48 GB/s; two ranks use one: 48 GB/s, ring all-reduce of two moves n
    Cluster const cluster = io::Catalog{}.cluster("mi300x-node");
    auto const price = published_price(tuning(), cluster, Collective::all_reduce, bytes(1e10), 2, 1);
    ASSERT_TRUE(price);
    EXPECT_NEAR(1e10 / price->time.bandwidth.base() / 1e9, 48.0, 1e-6);
}

TEST(PublishedPrice, APairOfAMeshHasOneLinkInALargerGroup) {
    Cluster const cluster = io::Catalog{}.cluster("mi300x-node");
    auto const price = published_price(tuning(), cluster, Collective::point_to_point, bytes(1e10), 8, 1);
    ASSERT_TRUE(price);
    EXPECT_NEAR(1e10 / price->time.bandwidth.base() / 1e9, 48.0, 1e-6);
    EXPECT_NEAR(price->time.latency.in(us), 20.0, 1e-9);
}

TEST(PublishedPrice, OneRankAloneHasAWholeAdapter) {
    // p4d: 4 NICs of 12.5 GB/s for 8 ranks, 12/12.5 of it payload; one round trip of 75 us however many nodes
    Cluster const cluster = io::Catalog{}.cluster("aws-p4d");
    auto const pair = published_price(tuning(), cluster, Collective::point_to_point, bytes(1e10), 64, 8);
    ASSERT_TRUE(pair);
    EXPECT_NEAR(1e10 / pair->time.bandwidth.base() / 1e9, 12.0, 1e-6);
    EXPECT_NEAR(pair->time.latency.in(us), 75.0, 1e-9);
    // all to all: 56/64 of the bytes over half a NIC; scatter and gather: over a whole one
    auto const all = published_price(tuning(), cluster, Collective::all_to_all, bytes(1e10), 64, 8);
    auto const scatter = published_price(tuning(), cluster, Collective::scatter, bytes(1e10), 64, 8);
    auto const gather = published_price(tuning(), cluster, Collective::gather, bytes(1e10), 64, 8);
    ASSERT_TRUE(all && scatter && gather);
    EXPECT_NEAR(all->time.bandwidth.in(s), 1e10 * 56 / 64 / 6e9, 1e-9);
    EXPECT_NEAR(scatter->time.bandwidth.in(s), 1e10 * 56 / 64 / 12e9, 1e-9);
    EXPECT_EQ(gather->time.total(), scatter->time.total());
    // 7 sends inside of 8.4 + 3.4 us, 56 outside of 8.4 + 14 us
    EXPECT_NEAR(all->time.latency.in(us), 7 * 11.8 + 56 * 22.4, 1e-9);
}

TEST(PublishedPrice, BroadcastPassesEveryRank) {
    // 16 ranks of two nodes: LL 6.6 + 14 x 0.6 + 1 x 2.7 = 17.7 us, and the 2.3 us that a launch of 20 us is above that
    Cluster const cluster = io::Catalog{}.cluster("dgx-h100");
    auto const price = published_price(tuning(), cluster, Collective::broadcast, bytes(8), 16, 2);
    ASSERT_TRUE(price);
    EXPECT_EQ(price->protocol, ll);
    EXPECT_NEAR(price->time.latency.in(us), 20.0, 1e-9);
    auto const many = published_price(tuning(), cluster, Collective::reduce, bytes(8), 64, 8);
    ASSERT_TRUE(many);
    EXPECT_NEAR(many->time.latency.in(us), 6.6 + 56 * 0.6 + 7 * 2.7, 1e-9);
}

TEST(PublishedPrice, RackOfOneSwitchIsOneNode) {
    auto const group = nccl_group(tuning(), io::Catalog{}.cluster("gb200-nvl72"), 72, 18);
    ASSERT_TRUE(group);
    EXPECT_EQ(group->nodes, 1);
    EXPECT_EQ(group->generation, NcclGeneration::blackwell);
}

TEST(PublishedPrice, NoNcclNoPrice) {
    EXPECT_FALSE(
        published_price(tuning(), io::Catalog{}.cluster("tpu-v4-host"), Collective::all_reduce, bytes(8), 4, 1));
}

} // namespace
} // namespace headroom
