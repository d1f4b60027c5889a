#include "support/random.hpp"

#include "headroom/network/fair_share.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace headroom {

using namespace headroom::network;

namespace {

/// Progressive filling in a few lines: the link with the least left for each of its flows is full next.
std::vector<double> filled(std::vector<NetworkLink> const& links, std::vector<Route> const& routes) {
    std::vector<double> rates(routes.size(), -1.0);
    for (std::size_t found = 0; found < routes.size();) {
        double least = std::numeric_limits<double>::infinity();
        LinkId full = 0;
        for (LinkId link = 0; link < links.size(); ++link) {
            double left = links[link].capacity.base(), rising = 0.0;
            for (std::size_t i = 0; i < routes.size(); ++i) {
                if (std::count(routes[i].begin(), routes[i].end(), link) == 0) { continue; }
                rates[i] < 0.0 ? rising += 1.0 : left -= rates[i];
            }
            if (rising > 0.0 && left / rising < least) { least = left / rising, full = link; }
        }
        for (std::size_t i = 0; i < routes.size(); ++i) {
            bool const over_it = std::count(routes[i].begin(), routes[i].end(), full) > 0;
            if (rates[i] < 0.0 && over_it) { rates[i] = least, ++found; }
        }
    }
    return rates;
}

NetworkLink link_of(double capacity) {
    return {.capacity = BytesPerSecond{capacity}, .latency = {}, .from = {}, .to = {}};
}

std::vector<NetworkLink> random_links(test::CounterRandom& random, std::size_t count) {
    std::vector<NetworkLink> links;
    for (std::size_t i = 0; i < count; ++i) {
        double const odd = 1.0 + static_cast<double>(random.next() % 1000) / 100.0;
        double const even = 1.0 + static_cast<double>(random.next() % 4);
        links.push_back(link_of(1e9 * (random.next() % 2 == 0 ? odd : even)));
    }
    return links;
}

Route random_route(test::CounterRandom& random, std::size_t links) {
    Route route;
    for (std::size_t wanted = 1 + random.next() % 4; route.size() < wanted && route.size() < links;) {
        auto const link = static_cast<LinkId>(random.next() % links);
        if (std::count(route.begin(), route.end(), link) == 0) { route.push_back(link); }
    }
    return route;
}

void expect_bottlenecks(std::vector<NetworkLink> const& links, std::vector<Route> const& routes,
                        std::vector<double> const& rates) {
    std::vector<double> load(links.size()), largest(links.size());
    for (std::size_t i = 0; i < routes.size(); ++i) {
        for (LinkId const link : routes[i]) {
            load[link] += rates[i];
            largest[link] = std::max(largest[link], rates[i]);
        }
    }
    for (LinkId link = 0; link < links.size(); ++link) {
        ASSERT_LE(load[link], links[link].capacity.base() * (1.0 + 1e-9)) << "link " << link << " carries too much";
    }
    for (std::size_t i = 0; i < routes.size(); ++i) {
        bool const held = std::any_of(routes[i].begin(), routes[i].end(), [&](LinkId link) {
            return load[link] >= links[link].capacity.base() * (1.0 - 1e-9) && rates[i] >= largest[link] * (1.0 - 1e-9);
        });
        ASSERT_TRUE(held) << "flow " << i << " has no bottleneck";
    }
}

/// Flows come and go a few at a time; after each settling the rates are those of a new fill.
void follow(std::uint64_t seed) {
    test::CounterRandom random{seed};
    auto const links = random_links(random, 1 + random.next() % 12);
    FairShare share{links};
    std::map<FairShare::Flow, Route> present;
    std::map<FairShare::Flow, double> told;
    for (int step = 0; step < 40; ++step) {
        for (std::uint64_t change = 1 + random.next() % 3; change > 0; --change) {
            if (present.empty() || random.next() % 5 < 3) {
                Route const route = random_route(random, links.size());
                FairShare::Flow const flow = share.add(route);
                present[flow] = route;
                told[flow] = 0.0;
            } else {
                auto const gone =
                    std::next(present.begin(), static_cast<std::ptrdiff_t>(random.next() % present.size()));
                share.remove(gone->first);
                told.erase(gone->first);
                present.erase(gone);
            }
        }
        for (FairShare::Flow const flow : share.settle()) { told.at(flow) = share.rate(flow); }
        std::vector<Route> routes;
        std::vector<double> rates;
        for (auto const& [flow, route] : present) {
            routes.push_back(route);
            rates.push_back(share.rate(flow));
            ASSERT_EQ(told.at(flow), share.rate(flow)) << "a change was not told";
        }
        expect_bottlenecks(links, routes, rates);
        std::vector<double> const expected = filled(links, routes);
        for (std::size_t i = 0; i < rates.size(); ++i) { ASSERT_NEAR(rates[i], expected[i], 1e-9 * expected[i]); }
    }
}

TEST(FairShare, IsProgressiveFillingWhileFlowsComeAndGo) {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        follow(seed);
        if (testing::Test::HasFatalFailure()) { return; }
    }
}

TEST(FairShare, TwoFlowsOnALinkHaveHalfEach) {
    std::vector<NetworkLink> const links(1, link_of(10.0));
    FairShare share{links};
    auto const one = share.add(Route{0}), other = share.add(Route{0});
    share.settle();
    EXPECT_EQ(share.rate(one), 5.0);
    EXPECT_EQ(share.rate(other), 5.0);
    share.remove(one);
    share.settle();
    EXPECT_EQ(share.rate(other), 10.0);
}

/// The textbook's example: what one flow cannot use, because it is held elsewhere, goes to the others.
TEST(FairShare, WhatAFlowHeldElsewhereLeavesGoesToTheOthers) {
    std::vector<NetworkLink> const links{link_of(2.0), link_of(10.0)};
    FairShare share{links};
    auto const both = share.add(Route{0, 1}), first = share.add(Route{0}), second = share.add(Route{1});
    share.settle();
    EXPECT_EQ(share.rate(both), 1.0);
    EXPECT_EQ(share.rate(first), 1.0);
    EXPECT_EQ(share.rate(second), 9.0);
}

} // namespace
} // namespace headroom
