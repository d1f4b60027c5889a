#include "support/networks.hpp"
#include "support/random.hpp"
#include "support/shifts.hpp"

#include "headroom/network/flow_simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

// Schedules on networks: nothing below what links and latencies allow, and where nothing is shared what `simulate` says.

namespace headroom {

using namespace headroom::network;

namespace {

std::vector<int> first_endpoints(int count) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

Ticks alone_on(Topology const& topology, MessageSchedule const& schedule, Layout const& layout,
               std::vector<int> endpoints, SecondsPerByte reduction) {
    PlacedSchedule const placed{.schedule = &schedule,
                                .layout = &layout,
                                .endpoints = std::move(endpoints),
                                .start = {},
                                .reduction = reduction};
    return simulate_flows({&placed, 1}, topology).last();
}

TEST(EveryAlgorithmOnASwitch, IsTheSimulationWithoutContention) {
    Link const link{.latency = Seconds{3.1e-6}, .bandwidth = BytesPerSecond{47.3e9}};
    SecondsPerByte const gamma{1.7e-12};
    for (CollectiveAlgorithm const& row : collective_algorithms()) {
        if (row.arrangement == Arrangement::in_network) { continue; }
        for (int const p : {1, 2, 3, 5, 8, 13, 16, 24, 33}) {
            Layout const layout = Layout::uniform(Ranks{p}, link);
            if (!has_closed_form(row, layout)) { continue; }
            Topology const star = build_topology(StarNetwork{.endpoints = p, .port = link});
            for (double const size : {1.0, 12345.0, 1e9}) {
                auto const schedule = row.schedule({.size = {Bytes{size}}, .layout = layout});
                SCOPED_TRACE(std::string{name_of(row.collective)} + " by " + std::string{row.name} +
                             ", p = " + std::to_string(p));
                EXPECT_EQ(alone_on(star, *schedule, layout, first_endpoints(p), gamma),
                          simulate(*schedule, layout, gamma, Symmetry::ignored).picoseconds);
            }
        }
    }
}

/// A neighbour ring on the links of a torus' side, and shifts on a fat tree that takes them all: nothing is shared either.
TEST(FatTreeOfFullRate, TakesShiftsAsASwitchDoes) {
    Link const port{.latency = Seconds{2e-6}, .bandwidth = BytesPerSecond{50e9}};
    Topology const tree = build_topology(FatTreeNetwork{.endpoints = 64, .port = port, .leaf = 4, .pod = 4});
    Layout const layout = Layout::uniform(Ranks{64}, port);
    test::Shifts const shifts{64, 12345.0};
    EXPECT_EQ(alone_on(tree, shifts, layout, first_endpoints(64), {}), simulate(shifts, layout).picoseconds);
}

/// Rounds with messages of random sizes between random pairs; a rank sends at most once and receives at most once.
test::Written random_schedule(test::CounterRandom& random, int ranks) {
    std::vector<std::vector<test::Written::Sent>> rounds(static_cast<std::size_t>(1 + random.below(6)));
    for (auto& round : rounds) {
        std::vector<int> to = first_endpoints(ranks);
        for (int i = ranks - 1; i > 0; --i) {
            std::swap(to[static_cast<std::size_t>(i)], to[static_cast<std::size_t>(random.below(i + 1))]);
        }
        for (int from = 0; from < ranks; ++from) {
            if (to[static_cast<std::size_t>(from)] == from || random.below(4) == 0) { continue; }
            double const bytes = random.below(8) == 0 ? 0.0 : 1e6 * random.uniform();
            round.push_back({from, to[static_cast<std::size_t>(from)], bytes, random.below(3) == 0});
        }
    }
    return {ranks, std::move(rounds)};
}

/// Time if every message has its whole route for itself.
double without_others(test::Written const& schedule, PlacedSchedule const& placed, Topology const& topology) {
    std::vector<double> ready(placed.endpoints.size(), placed.start.base());
    Round round{*placed.layout};
    Route route;
    for (std::int64_t index = 0; index < schedule.rounds(); ++index) {
        round.clear();
        schedule.write(index, round);
        std::vector<double> next = ready;
        for (Message const& message : round.messages()) {
            topology.route(placed.endpoints[message.from], placed.endpoints[message.to], route);
            double rate = std::numeric_limits<double>::infinity();
            for (LinkId const link : route) { rate = std::min(rate, topology.links()[link].capacity.base()); }
            double const begin = std::max(ready[message.from], ready[message.to]);
            double const end = begin + topology.latency_of(route).base() + message.bytes / rate;
            next[message.from] = std::max(next[message.from], end);
            double const adding = message.adds ? message.bytes * placed.reduction.base() : 0.0;
            next[message.to] = std::max(next[message.to], end + adding);
        }
        ready = next;
    }
    return *std::max_element(ready.begin(), ready.end());
}

/// Several groups at once, anywhere on the network, overlapping too.
struct Crowd {
    Crowd(Topology const& topology, std::uint64_t seed) {
        test::CounterRandom random{seed};
        int const groups = 1 + random.below(4);
        for (int i = 0; i < groups; ++i) {
            int const ranks = 2 + random.below(topology.endpoints() - 1);
            std::vector<int> all = first_endpoints(topology.endpoints());
            for (int j = topology.endpoints() - 1; j > 0; --j) {
                std::swap(all[static_cast<std::size_t>(j)], all[static_cast<std::size_t>(random.below(j + 1))]);
            }
            all.resize(static_cast<std::size_t>(ranks));
            schedules.push_back(std::make_unique<test::Written>(random_schedule(random, ranks)));
            layouts.push_back(std::make_unique<Layout>(Layout::uniform(Ranks{ranks}, {})));
            placed.push_back({.schedule = schedules.back().get(),
                              .layout = layouts.back().get(),
                              .endpoints = all,
                              .start = Seconds{random.below(2) * 3.7e-6 * random.uniform()},
                              .reduction = SecondsPerByte{random.below(2) * 1e-12}});
        }
    }
    std::vector<std::unique_ptr<test::Written>> schedules;
    std::vector<std::unique_ptr<Layout>> layouts;
    std::vector<PlacedSchedule> placed;
};

TEST(EveryNetwork, IsNeverFasterThanItsLinksOrItsRoutesAllow) {
    for (auto const& [name, topology] : test::small_networks()) {
        for (std::uint64_t seed = 1; seed <= 30; ++seed) {
            SCOPED_TRACE(name + ", seed " + std::to_string(seed));
            Crowd const crowd{topology, seed};
            SimulatedFlows const flows = simulate_flows(crowd.placed, topology);
            double const last = static_cast<double>(flows.last()) * 1e-12;
            double const rounding = 1e-12 * static_cast<double>(flows.messages + 1);
            for (std::size_t i = 0; i < crowd.placed.size(); ++i) {
                double const least = without_others(*crowd.schedules[i], crowd.placed[i], topology);
                ASSERT_GE(static_cast<double>(flows.finished[i]) * 1e-12, least - rounding) << "schedule " << i;
            }
            double const begin = std::min_element(crowd.placed.begin(), crowd.placed.end(), [](auto& a, auto& b) {
                                     return a.start < b.start;
                                 })->start.base();
            for (LinkId link = 0; link < topology.links().size(); ++link) {
                double const least = flows.carried[link] / topology.links()[link].capacity / units::s;
                ASSERT_GE(last, begin + least - rounding) << name_of(topology.links()[link]);
            }
        }
    }
}

/// However many are under way at once: every flow alone on its route, and every link with all that it carries.
TEST(ManyFlowsAtOnce, AreNeverFasterThanTheirLinks) {
    Link const port{.latency = Seconds{2e-6}, .bandwidth = BytesPerSecond{50e9}};
    Topology const tree = build_topology(FatTreeNetwork{.endpoints = 128,
                                                        .port = port,
                                                        .leaf = 8,
                                                        .pod = 4,
                                                        .oversubscription = 2.0,
                                                        .hop = Seconds{3e-7},
                                                        .spread = Spread::hash});
    Layout const pair = Layout::uniform(Ranks{2}, {});
    for (int const count : {1, 2, 3, 10, 30, 100, 300, 1000}) {
        test::CounterRandom random{static_cast<std::uint64_t>(count)};
        std::vector<std::unique_ptr<test::Written>> schedules;
        std::vector<PlacedSchedule> placed;
        for (int i = 0; i < count; ++i) {
            int const from = random.below(128), to = (from + 1 + random.below(127)) % 128;
            std::vector<std::vector<test::Written::Sent>> const rounds{{{0, 1, 1e3 + 1e6 * random.uniform()}}};
            schedules.push_back(std::make_unique<test::Written>(2, rounds));
            placed.push_back({.schedule = schedules.back().get(),
                              .layout = &pair,
                              .endpoints = {from, to},
                              .start = {},
                              .reduction = {}});
        }
        SimulatedFlows const flows = simulate_flows(placed, tree);
        for (std::size_t i = 0; i < placed.size(); ++i) {
            double const least = without_others(*schedules[i], placed[i], tree);
            ASSERT_GE(static_cast<double>(flows.finished[i]) * 1e-12, least - 1e-12) << "flow " << i << " of " << count;
        }
        for (LinkId link = 0; link < tree.links().size(); ++link) {
            double const least = 2e-6 + flows.carried[link] / tree.links()[link].capacity / units::s;
            double const last = static_cast<double>(flows.last()) * 1e-12;
            ASSERT_TRUE(flows.carried[link] == Bytes{} || last >= least - 1e-12) << name_of(tree.links()[link]);
        }
    }
}

/// Every byte of every message crosses every link of its route, and no other.
TEST(EveryNetwork, CarriesWhatIsSent) {
    for (auto const& [name, topology] : test::small_networks()) {
        Crowd const crowd{topology, 77};
        std::vector<double> expected(topology.links().size());
        std::int64_t messages = 0;
        for (std::size_t i = 0; i < crowd.placed.size(); ++i) {
            Round round{*crowd.layouts[i]};
            Route route;
            for (std::int64_t index = 0; index < crowd.schedules[i]->rounds(); ++index) {
                round.clear();
                crowd.schedules[i]->write(index, round);
                messages += std::ssize(round.messages());
                for (Message const& message : round.messages()) {
                    topology.route(crowd.placed[i].endpoints[message.from], crowd.placed[i].endpoints[message.to],
                                   route);
                    for (LinkId const link : route) { expected[link] += message.bytes; }
                }
            }
        }
        SimulatedFlows const flows = simulate_flows(crowd.placed, topology);
        EXPECT_EQ(flows.messages, messages) << name;
        for (LinkId link = 0; link < expected.size(); ++link) {
            EXPECT_NEAR(flows.carried[link].base(), expected[link], 1e-3) << name;
        }
    }
}

/// A message for the second simulator below.
struct Plain {
    Route route;
    double begin = 0.0, left = 0.0, end = -1.0;
};

double share_of(LinkId link, std::vector<Plain> const& flows, std::vector<double> const& rates, double now,
                Topology const& topology) {
    double left = topology.links()[link].capacity.base(), rising = 0.0;
    for (std::size_t i = 0; i < flows.size(); ++i) {
        bool const here = std::count(flows[i].route.begin(), flows[i].route.end(), link) > 0;
        if (!here || flows[i].end >= 0.0 || flows[i].begin > now) { continue; }
        rates[i] < 0.0 ? rising += 1.0 : left -= rates[i];
    }
    return rising > 0.0 ? left / rising : std::numeric_limits<double>::infinity();
}

std::vector<double> rates_at(double now, std::vector<Plain> const& flows, Topology const& topology) {
    std::vector<double> rates(flows.size(), -1.0);
    for (;;) {
        double least = std::numeric_limits<double>::infinity();
        LinkId full = 0;
        for (LinkId link = 0; link < topology.links().size(); ++link) {
            double const share = share_of(link, flows, rates, now, topology);
            if (share < least) { least = share, full = link; }
        }
        if (least == std::numeric_limits<double>::infinity()) { return rates; }
        for (std::size_t i = 0; i < flows.size(); ++i) {
            bool const here = std::count(flows[i].route.begin(), flows[i].route.end(), full) > 0;
            if (here && flows[i].end < 0.0 && flows[i].begin <= now && rates[i] < 0.0) { rates[i] = least; }
        }
    }
}

/// From one begin or end to the next, all rates anew each time, in seconds.
void run_plainly(std::vector<Plain>& flows, Topology const& topology) {
    for (double now = 0.0;;) {
        std::vector<double> const rates = rates_at(now, flows, topology);
        double next = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < flows.size(); ++i) {
            if (flows[i].end >= 0.0) { continue; }
            next = std::min(next, flows[i].begin > now ? flows[i].begin : now + flows[i].left / rates[i]);
        }
        if (next == std::numeric_limits<double>::infinity()) { return; }
        for (std::size_t i = 0; i < flows.size(); ++i) {
            if (flows[i].end >= 0.0 || flows[i].begin > now) { continue; }
            flows[i].left -= rates[i] * (next - now);
            if (flows[i].left <= 1e-6) { flows[i].end = next; }
        }
        now = next;
    }
}

/// One message each, beginning at random moments: against a simulator that knows nothing of events and neighbourhoods.
TEST(EveryNetwork, IsTheSimulationFromChangeToChange) {
    for (auto const& [name, topology] : test::small_networks()) {
        test::CounterRandom random{5};
        Layout const pair = Layout::uniform(Ranks{2}, {});
        std::vector<std::unique_ptr<test::Written>> schedules;
        std::vector<PlacedSchedule> placed;
        std::vector<Plain> flows;
        for (int i = 0; i < 24; ++i) {
            int const from = random.below(topology.endpoints());
            int const to = (from + 1 + random.below(topology.endpoints() - 1)) % topology.endpoints();
            double const bytes = 1e5 + 1e6 * random.uniform(), start = 2e-5 * random.uniform();
            std::vector<std::vector<test::Written::Sent>> const rounds{{{0, 1, bytes}}};
            schedules.push_back(std::make_unique<test::Written>(2, rounds));
            placed.push_back({.schedule = schedules.back().get(),
                              .layout = &pair,
                              .endpoints = {from, to},
                              .start = Seconds{start},
                              .reduction = {}});
            Plain& flow = flows.emplace_back();
            topology.route(from, to, flow.route);
            flow.begin = start + topology.latency_of(flow.route).base();
            flow.left = bytes;
        }
        run_plainly(flows, topology);
        SimulatedFlows const simulated = simulate_flows(placed, topology);
        for (std::size_t i = 0; i < flows.size(); ++i) {
            EXPECT_NEAR(static_cast<double>(simulated.finished[i]) * 1e-12, flows[i].end, 1e-10)
                << name << ", flow " << i;
        }
    }
}

} // namespace
} // namespace headroom
