#include "headroom/error.hpp"
#include "headroom/io/topology.hpp"
#include "headroom/network/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

using namespace headroom::network;

namespace {

using namespace units;

Link const port{.latency = 2.0 * us, .bandwidth = 50.0 * GB / s};
Link const fast{.latency = 1.0 * us, .bandwidth = 450.0 * GB / s};

std::vector<std::string> way(Topology const& topology, int from, int to) {
    Route route;
    topology.route(from, to, route);
    std::vector<std::string> names;
    for (LinkId const link : route) { names.push_back(name_of(topology.links()[link])); }
    return names;
}

double latency(Topology const& topology, int from, int to) {
    Route route;
    topology.route(from, to, route);
    return topology.latency_of(route).in(us);
}

TEST(Star, IsUpAndDownWithTheLatencyOfTheLink) {
    Topology const star = build_topology(StarNetwork{.endpoints = 4, .port = port});
    EXPECT_THAT(way(star, 1, 3), testing::ElementsAre("endpoint 1 -> switch 0", "switch 0 -> endpoint 3"));
    EXPECT_EQ(latency(star, 1, 3), 2.0);
}

/// Expectation: accelerator 1 of node 0 reaches accelerator 6 (rail 2 of node 1) by way of accelerator 2, which is on that
/// rail; an accelerator on its own rail goes out at once.
TEST(Rails, MessagesChangeToTheRailOfTheReceiverInsideTheNode) {
    Topology const rails = build_topology(
        RailNetwork{.endpoints = 8, .port = port, .nodes = {.accelerators = 4, .adapters = 4, .scale_up = fast}});
    EXPECT_THAT(way(rails, 1, 6), testing::ElementsAre("endpoint 1 -> node 0", "node 0 -> endpoint 2",
                                                       "adapter 2 -> rail 2", "rail 2 -> adapter 6"));
    EXPECT_THAT(way(rails, 1, 5), testing::ElementsAre("adapter 1 -> rail 1", "rail 1 -> adapter 5"));
    EXPECT_THAT(way(rails, 4, 7), testing::ElementsAre("endpoint 4 -> node 1", "node 1 -> endpoint 7"));
    EXPECT_EQ(latency(rails, 1, 6), 3.0);
    EXPECT_EQ(latency(rails, 4, 7), 1.0);
}

/// Expectation: four accelerators with two NICs: 0 and 1 leave by the first, 2 and 3 by the second.
TEST(Nodes, SeveralAcceleratorsShareAnAdapter) {
    Topology const star = build_topology(
        StarNetwork{.endpoints = 8, .port = port, .nodes = {.accelerators = 4, .adapters = 2, .scale_up = fast}});
    EXPECT_EQ(way(star, 0, 4), way(star, 1, 5));
    EXPECT_EQ(way(star, 2, 7).front(), "adapter 1 -> switch 0");
    EXPECT_EQ(way(star, 2, 7).back(), "switch 0 -> adapter 3");
}

TEST(LeafSpine, GoesByTheSpineOfTheDestination) {
    Topology const network =
        build_topology(LeafSpineNetwork{.endpoints = 16, .port = port, .leaf = 4, .spines = 2, .hop = 0.5 * us});
    EXPECT_THAT(way(network, 1, 7), testing::ElementsAre("endpoint 1 -> leaf 0", "leaf 0 -> spine 1",
                                                         "spine 1 -> leaf 1", "leaf 1 -> endpoint 7"));
    EXPECT_EQ(latency(network, 1, 7), 3.0);
    EXPECT_EQ(latency(network, 1, 2), 2.0) << "the same leaf";
}

/// Expectation: with 4 NICs a node and leaves of 2, NIC 1 of nodes 0 and 1 share leaf 1, that of node 2 is on leaf 5.
TEST(LeafSpine, RailsShareLeaves) {
    Topology const network =
        build_topology(LeafSpineNetwork{.endpoints = 16,
                                        .port = port,
                                        .leaf = 2,
                                        .spines = 2,
                                        .rail_optimised = true,
                                        .nodes = {.accelerators = 4, .adapters = 4, .scale_up = fast}});
    EXPECT_THAT(way(network, 1, 5), testing::ElementsAre("adapter 1 -> leaf 1", "leaf 1 -> adapter 5"));
    EXPECT_EQ(way(network, 1, 9).back(), "leaf 5 -> adapter 9");
    EXPECT_EQ(way(network, 1, 9).size(), 4U);
}

TEST(FatTree, HasThreeLevels) {
    Topology const tree =
        build_topology(FatTreeNetwork{.endpoints = 16, .port = port, .leaf = 2, .pod = 2, .hop = 0.5 * us});
    EXPECT_EQ(way(tree, 0, 1).size(), 2U);
    EXPECT_THAT(way(tree, 0, 3), testing::ElementsAre("endpoint 0 -> leaf 0", "leaf 0 -> spine 1", "spine 1 -> leaf 1",
                                                      "leaf 1 -> endpoint 3"));
    EXPECT_THAT(way(tree, 0, 7),
                testing::ElementsAre("endpoint 0 -> leaf 0", "leaf 0 -> spine 1", "spine 1 -> core 3",
                                     "core 3 -> spine 3", "spine 3 -> leaf 3", "leaf 3 -> endpoint 7"));
    EXPECT_EQ(latency(tree, 0, 7), 4.0);
    // k = 4: 16 hosts, 8 leaves, 8 spines, 4 cores: 2 (16 + 16 + 16) links
    EXPECT_EQ(tree.links().size(), 96U);
}

TEST(Dragonfly, MinimalRoutesTakeOneLinkBetweenGroups) {
    DragonflyNetwork network{.endpoints = 72, .port = port, .router = 2, .routers = 4, .global = 2, .hop = 0.5 * us};
    Topology const fly = build_topology(network);
    network.valiant = true;
    Topology const valiant = build_topology(network);
    for (int from = 0; from < 72; ++from) {
        for (int to = 0; to < 72; ++to) {
            if (from != to) { EXPECT_LE(way(fly, from, to).size(), 5U); }
            if (from / 8 != to / 8) {
                EXPECT_GE(way(valiant, from, to).size(), 4U);
                EXPECT_LE(way(valiant, from, to).size(), 7U);
            }
        }
    }
    EXPECT_THAT(way(fly, 0, 2),
                testing::ElementsAre("endpoint 0 -> router 0", "router 0 -> router 1", "router 1 -> endpoint 2"));
}

TEST(Torus, GoesTheShorterWayRoundOneSideAfterTheOther) {
    Topology const torus = build_topology(TorusNetwork{.sides = {4, 4}, .link = port});
    EXPECT_THAT(way(torus, 0, 7), testing::ElementsAre("endpoint 0 -> endpoint 3", "endpoint 3 -> endpoint 7"));
    EXPECT_THAT(way(torus, 0, 2), testing::ElementsAre("endpoint 0 -> endpoint 1", "endpoint 1 -> endpoint 2"))
        << "of two equal ways the one upwards";
    EXPECT_EQ(latency(torus, 0, 7), 4.0);
}

std::string refused_as(std::string_view text, io::TopologyDefaults const& defaults) {
    try {
        static_cast<void>(io::parse_topology(text, "--topology", defaults));
    } catch (InputError const& error) { return error.what(); }
    return "taken";
}

io::TopologyDefaults const given{.endpoints = 64, .port = port, .nodes = {}};

TEST(TopologyText, NamesEveryKind) {
    for (std::string_view const text :
         {"star", "rails:node=8,scale-up=450GB/s,scale-up-latency=1us",
          "leaf-spine:leaf=16,oversubscription=2,spread=hash", "fat-tree:leaf=4,oversubscription=2,pod=4",
          "dragonfly:router=2,routers=4,global=4,valiant=yes", "torus:4x4x4",
          "leaf_spine:spines=3,rail-optimised=no,hop=300ns", "star:node=8,adapters=4,scale-up=450GB/s"}) {
        EXPECT_EQ(refused_as(text, given), "taken") << text;
        EXPECT_EQ(io::parse_topology(text, "--topology", given).endpoints(), 64) << text;
    }
    EXPECT_EQ(io::parse_topology("star:endpoints=5,bandwidth=1GB/s,latency=1us", "--topology", {}).endpoints(), 5);
}

TEST(TopologyText, ItsFieldsReachTheNetwork) {
    Topology const text = io::parse_topology(
        "leaf-spine:leaf=8,spines=3,oversubscription=2,hop=250ns,bandwidth=10GB/s,latency=4us", "--topology", given);
    Topology const built = build_topology(LeafSpineNetwork{.endpoints = 64,
                                                           .port = {.latency = 4.0 * us, .bandwidth = 10.0 * GB / s},
                                                           .leaf = 8,
                                                           .spines = 3,
                                                           .oversubscription = 2.0,
                                                           .hop = 0.25 * us});
    ASSERT_EQ(text.links().size(), built.links().size());
    for (std::size_t i = 0; i < built.links().size(); ++i) {
        EXPECT_NEAR(text.links()[i].capacity / built.links()[i].capacity, 1.0, 1e-12);
        EXPECT_NEAR(text.links()[i].latency.base(), built.links()[i].latency.base(), 1e-18);
    }
}

TEST(TopologyText, AGroupSmallerThanANodeIsANode) {
    io::TopologyDefaults of_cluster{
        .endpoints = 4, .port = port, .nodes = {.accelerators = 8, .adapters = 8, .scale_up = fast}};
    EXPECT_THAT(way(io::parse_topology("fat-tree", "--topology", of_cluster), 0, 3),
                testing::ElementsAre("endpoint 0 -> node 0", "node 0 -> endpoint 3"));
}

TEST(TopologyText, SaysWhatIsWrongAndWhatIsRight) {
    using testing::HasSubstr;
    EXPECT_THAT(refused_as("fat-tre", given), HasSubstr("did you mean 'fat-tree'?"));
    EXPECT_THAT(refused_as("cube", given), HasSubstr("choose from"));
    EXPECT_THAT(refused_as("fat-tree:leafs=4", given), HasSubstr("did you mean 'leaf'?"));
    EXPECT_THAT(refused_as("fat-tree:leaf=32,oversubscription=3", given), HasSubstr("whole number of uplinks"));
    EXPECT_THAT(refused_as("torus:4x4x3", given), HasSubstr("64 are asked for"));
    EXPECT_THAT(refused_as("torus:4x4x2x2", given), HasSubstr("1 to 3"));
    EXPECT_THAT(refused_as("torus", given), HasSubstr("torus:8x8x4"));
    EXPECT_THAT(refused_as("torus:4x", given), testing::StartsWith("--topology"));
    EXPECT_THAT(refused_as("star:bandwidth=50", given), HasSubstr("'bandwidth'"));
    EXPECT_THAT(refused_as("star:4x4", given), HasSubstr("key=value"));
    EXPECT_THAT(refused_as("star:,", given), HasSubstr("is no field"));
    EXPECT_THAT(refused_as("leaf-spine:leaf=4,leaf=8", given), HasSubstr("twice"));
    EXPECT_THAT(refused_as("rails:node=6,scale-up=450GB/s", given), HasSubstr("multiple of 6"));
    EXPECT_THAT(refused_as("rails:adapters=3,scale-up=450GB/s", given), HasSubstr("divides the accelerators"));
    EXPECT_THAT(refused_as("dragonfly:router=1,routers=2,global=1", given), HasSubstr("cannot all be linked"));
    EXPECT_THAT(refused_as("rails", given), HasSubstr("add scale-up=450GB/s"));
    EXPECT_THAT(refused_as("star", {}), HasSubstr("endpoints=1024"));
    EXPECT_THAT(refused_as("star:endpoints=4", {}), HasSubstr("bandwidth=50GB/s"));
    EXPECT_THAT(refused_as("star:endpoints=2000000000", given), HasSubstr("262144"));
    EXPECT_THAT(refused_as("leaf-spine:leaf=1,spines=200000", given), HasSubstr("links"));
    EXPECT_THAT(refused_as("torus:100000x100000x100000", given), testing::StartsWith("--topology"));
    EXPECT_THAT(refused_as("", given), testing::StartsWith("--topology"));
}

} // namespace
} // namespace headroom
