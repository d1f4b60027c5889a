#include "support/networks.hpp"

#include "headroom/network/topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

// Every kind of network: routes are ways through it, as short as they are stated to be.

namespace headroom {

using namespace headroom::network;

namespace {

/// An accelerator and its NIC are one place: no link between them is modelled.
bool joined(Place at, Place next) {
    if (at == next) { return true; }
    bool const edge = (at.kind == Place::Kind::endpoint && next.kind == Place::Kind::adapter) ||
                      (at.kind == Place::Kind::adapter && next.kind == Place::Kind::endpoint);
    return edge;
}

void expect_way(Topology const& topology, int from, int to) {
    Route route;
    topology.route(from, to, route);
    Place at{Place::Kind::endpoint, static_cast<std::uint32_t>(from)};
    for (LinkId const id : route) {
        ASSERT_LT(id, topology.links().size());
        NetworkLink const& link = topology.links()[id];
        ASSERT_TRUE(joined(at, link.from)) << name_of(link) << " does not go on from there";
        at = link.to;
    }
    ASSERT_TRUE(joined(at, {Place::Kind::endpoint, static_cast<std::uint32_t>(to)}));
    if (at.kind == Place::Kind::endpoint) { ASSERT_EQ(at.index, static_cast<std::uint32_t>(to)); }
    ASSERT_EQ(std::set<LinkId>(route.begin(), route.end()).size(), route.size()) << "a link twice";
    ASSERT_EQ(route.empty(), from == to);
}

TEST(EveryNetwork, RoutesLeadFromEndToEnd) {
    for (auto const& [name, topology] : test::small_networks()) {
        for (int from = 0; from < topology.endpoints(); ++from) {
            for (int to = 0; to < topology.endpoints(); ++to) {
                SCOPED_TRACE(name + ", " + std::to_string(from) + " -> " + std::to_string(to));
                expect_way(topology, from, to);
                if (testing::Test::HasFatalFailure()) { return; }
            }
        }
    }
}

/// Links have a way back that is as fast: the network is the same seen from either end.
TEST(EveryNetwork, HasALinkBackForEveryLink) {
    for (auto const& [name, topology] : test::small_networks()) {
        for (NetworkLink const& link : topology.links()) {
            bool const back =
                std::any_of(topology.links().begin(), topology.links().end(), [&](NetworkLink const& other) {
                    return other.from == link.to && other.to == link.from && other.capacity == link.capacity;
                });
            EXPECT_TRUE(back) << name << ": " << name_of(link);
        }
    }
}

/// Shortest way by counting: what a torus's route must be, from the distances along its sides.
TEST(Torus, RoutesAreTheShortest) {
    Link const link{.latency = Seconds{1e-6}, .bandwidth = BytesPerSecond{1e9}};
    std::vector<int> const sides{4, 5, 3};
    Topology const torus = build_topology(TorusNetwork{.sides = sides, .link = link});
    Route route;
    for (int from = 0; from < 60; ++from) {
        for (int to = 0; to < 60; ++to) {
            int hops = 0, a = from, b = to;
            for (int const side : sides) {
                int const apart = std::abs(a % side - b % side);
                hops += std::min(apart, side - apart);
                a /= side, b /= side;
            }
            torus.route(from, to, route);
            EXPECT_EQ(static_cast<int>(route.size()), hops);
        }
    }
}

/// A full fat tree without oversubscription takes every shift of its ranks at full rate: no link has two of its messages.
TEST(FatTree, ShiftsNeverMeet) {
    Link const port{.latency = Seconds{1e-6}, .bandwidth = BytesPerSecond{1e9}};
    Topology const tree = build_topology(FatTreeNetwork{.endpoints = 128, .port = port, .leaf = 4, .pod = 4});
    Route route;
    for (int shift = 1; shift < 128; ++shift) {
        std::vector<int> used(tree.links().size());
        for (int rank = 0; rank < 128; ++rank) {
            tree.route(rank, (rank + shift) % 128, route);
            for (LinkId const link : route) { ASSERT_EQ(++used[link], 1) << "shift " << shift; }
        }
    }
}

/// Cutting a leaf off cuts its uplinks: their rates together are its ports' over the oversubscription.
TEST(LeafSpine, UplinksHaveTheRateOfThePortsOverTheOversubscription) {
    Link const port{.latency = Seconds{1e-6}, .bandwidth = BytesPerSecond{1e9}};
    for (double const oversubscription : {1.0, 1.5, 2.0, 7.0}) {
        for (int const spines : {0, 1, 3, 8}) {
            Topology const network = build_topology(LeafSpineNetwork{
                .endpoints = 24, .port = port, .leaf = 8, .spines = spines, .oversubscription = oversubscription});
            double up = 0.0;
            for (NetworkLink const& link : network.links()) {
                if (link.from == Place{Place::Kind::leaf, 1} && link.to.kind == Place::Kind::spine) {
                    up += link.capacity.base();
                }
            }
            EXPECT_NEAR(up, 8e9 / oversubscription, 1.0);
        }
    }
}

/// Each group of a dragonfly is linked with each other one as often as with any.
TEST(Dragonfly, GroupsAreLinkedEqually) {
    Link const port{.latency = Seconds{1e-6}, .bandwidth = BytesPerSecond{1e9}};
    for (int const groups : {2, 3, 5, 9}) {
        Topology const fly = build_topology(
            DragonflyNetwork{.endpoints = 8 * groups, .port = port, .router = 2, .routers = 4, .global = 2});
        std::vector<std::vector<int>> links(static_cast<std::size_t>(groups), std::vector<int>(groups));
        for (NetworkLink const& link : fly.links()) {
            if (link.from.kind != Place::Kind::router || link.to.kind != Place::Kind::router) { continue; }
            if (link.from.index / 4 != link.to.index / 4) { ++links[link.from.index / 4][link.to.index / 4]; }
        }
        for (int a = 0; a < groups; ++a) {
            for (int b = 0; b < groups; ++b) { EXPECT_EQ(links[a][b], a == b ? 0 : 8 / (groups - 1)) << groups; }
        }
    }
}

} // namespace
} // namespace headroom
