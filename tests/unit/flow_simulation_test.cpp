#include "support/shifts.hpp"

#include "headroom/error.hpp"
#include "headroom/network/flow_simulation.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

using namespace headroom::network;

namespace {

using namespace units;

Link const port{.latency = 2.0 * us, .bandwidth = 50.0 * GB / s};
Layout const pair = Layout::uniform(Ranks{2}, port);

CollectiveAlgorithm const& ring(Collective collective) {
    for (CollectiveAlgorithm const& row : collective_algorithms()) {
        if (row.collective == collective && row.name == "ring") { return row; }
    }
    throw ContractError{"no ring"};
}

std::vector<Ticks> finished(Topology const& topology, std::vector<PlacedSchedule> const& placed) {
    return simulate_flows(placed, topology).finished;
}

PlacedSchedule one_message(MessageSchedule const& schedule, int from, int to, Seconds start = {}) {
    return {.schedule = &schedule, .layout = &pair, .endpoints = {from, to}, .start = start, .reduction = {}};
}

/// Expectation: 1 MB at 50 GB/s is 20 us after 2 us of latency; two to one receiver have half its port each, 42 us.
TEST(TwoFlowsOnOneLink, TakeTwiceTheTime) {
    Topology const star = build_topology(StarNetwork{.endpoints = 4, .port = port});
    test::Written const message{2, {{{0, 1, 1e6}}}};
    EXPECT_EQ(finished(star, {one_message(message, 0, 3)}), (std::vector<Ticks>{22'000'000}));
    EXPECT_EQ(finished(star, {one_message(message, 0, 3), one_message(message, 1, 3)}),
              (std::vector<Ticks>{42'000'000, 42'000'000}));
    EXPECT_EQ(finished(star, {one_message(message, 0, 3), one_message(message, 1, 2)}),
              (std::vector<Ticks>{22'000'000, 22'000'000}))
        << "other ports";
}

/// Expectation: the first is alone for 10 us (half of it gone), then both have half: its other half takes 20 us, to 32 us.
/// By then the second has half of its own; alone again it needs 10 us more.
TEST(TwoFlowsOnOneLink, ShareItWhileBothAreUnderWay) {
    Topology const star = build_topology(StarNetwork{.endpoints = 3, .port = port});
    test::Written const message{2, {{{0, 1, 1e6}}}};
    EXPECT_EQ(finished(star, {one_message(message, 0, 2), one_message(message, 1, 2, 10.0 * us)}),
              (std::vector<Ticks>{32'000'000, 42'000'000}));
}

/// Expectation: 1.6 ps of latency and 0.6 ps of bytes are 2.2 ps, rounded once; what arrives at 2 ps and takes 0.6 ps is 3.
TEST(OneFlow, IsRoundedOnce) {
    Link const fast{.latency = Seconds{1.6e-12}, .bandwidth = 50.0 * GB / s};
    Topology const star = build_topology(StarNetwork{.endpoints = 3, .port = fast});
    test::Written const message{2, {{{0, 1, 0.03}}}};
    EXPECT_EQ(finished(star, {one_message(message, 0, 2)}), (std::vector<Ticks>{2}));
}

/// Expectation: rates are settled when the first comes, when the second does, and when the first has ended; the end of
/// the last changes no rate.
TEST(TwoFlowsOnOneLink, AreSettledWheneverARateChanges) {
    Topology const star = build_topology(StarNetwork{.endpoints = 3, .port = port});
    test::Written const message{2, {{{0, 1, 1e6}}}};
    std::vector const both{one_message(message, 0, 2), one_message(message, 1, 2, 10.0 * us)};
    SimulatedFlows const flows = simulate_flows(both, star);
    EXPECT_EQ(flows.settlements, 3);
    EXPECT_EQ(flows.messages, 2);
}

/// Expectation: the same times, all of them earlier.
TEST(TwoFlowsOnOneLink, MayBeginBeforeTheOrigin) {
    Topology const star = build_topology(StarNetwork{.endpoints = 3, .port = port});
    test::Written const message{2, {{{0, 1, 1e6}}}};
    EXPECT_EQ(finished(star, {one_message(message, 0, 2, -40.0 * us), one_message(message, 1, 2, -30.0 * us)}),
              (std::vector<Ticks>{-8'000'000, 2'000'000}));
}

std::string refusal(Topology const& topology, PlacedSchedule const& placed) {
    try {
        finished(topology, {placed});
    } catch (InputError const& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        return error.text().problem;
    }
    return "";
}

TEST(PlacedSchedules, NameEndpointsThatAreThereOnceEach) {
    Topology const star = build_topology(StarNetwork{.endpoints = 3, .port = port});
    test::Written const message{2, {{{0, 1, 1e6}}}};
    EXPECT_EQ(refusal(star, one_message(message, 0, 2)), "");
    EXPECT_EQ(refusal(star, one_message(message, 0, 3)), "there is no endpoint 3");
    EXPECT_EQ(refusal(star, one_message(message, -1, 0)), "there is no endpoint -1");
    EXPECT_EQ(refusal(star, one_message(message, 1, 1)), "endpoint 1 is twice in a group");
    PlacedSchedule short_of_one = one_message(message, 0, 1);
    short_of_one.endpoints.pop_back();
    EXPECT_EQ(refusal(star, short_of_one), "a schedule has more participants than endpoints");
}

/// Expectation: what carries nothing takes the latency and no share.
TEST(EmptyMessages, TakeTheLatencyOnly) {
    Topology const star = build_topology(StarNetwork{.endpoints = 3, .port = port});
    test::Written const empty{2, {{{0, 1, 0.0}}}}, full{2, {{{0, 1, 1e6}}}};
    EXPECT_EQ(finished(star, {one_message(empty, 0, 2), one_message(full, 1, 2)}),
              (std::vector<Ticks>{2'000'000, 22'000'000}));
}

/// Expectation: four ranks on each of two leaves, uplinks for two of them: across at half the rate, inside at full.
TEST(Oversubscription, HalvesWhatCrosses) {
    Topology const tree =
        build_topology(FatTreeNetwork{.endpoints = 8, .port = port, .leaf = 4, .oversubscription = 2.0});
    Layout const eight = Layout::uniform(Ranks{8}, port);
    std::vector<std::vector<test::Written::Sent>> across(1), beside(1);
    for (int i = 0; i < 8; ++i) {
        across[0].push_back({i, (i + 4) % 8, 1e6});
        beside[0].push_back({i, i / 4 * 4 + (i + 1) % 4, 1e6});
    }
    std::vector<int> const all{0, 1, 2, 3, 4, 5, 6, 7};
    test::Written const far{8, across}, near{8, beside};
    auto const placed = [&](MessageSchedule const& schedule) {
        return PlacedSchedule{.schedule = &schedule, .layout = &eight, .endpoints = all, .start = {}, .reduction = {}};
    };
    EXPECT_EQ(finished(tree, {placed(far)}), (std::vector<Ticks>{42'000'000}));
    EXPECT_EQ(finished(tree, {placed(near)}), (std::vector<Ticks>{22'000'000}));
}

/// Expectation: accelerators that share a NIC have half of it each.
TEST(SharedAdapters, HalveTheRate) {
    Nodes const nodes{.accelerators = 2, .adapters = 1, .scale_up = {.latency = 1.0 * us, .bandwidth = 450.0 * GB / s}};
    Topology const star = build_topology(StarNetwork{.endpoints = 4, .port = port, .nodes = nodes});
    test::Written const message{2, {{{0, 1, 1e6}}}};
    EXPECT_EQ(finished(star, {one_message(message, 0, 2), one_message(message, 1, 3)}),
              (std::vector<Ticks>{42'000'000, 42'000'000}));
}

TEST(StridedGroups, AreTheDimensionsOfParallelism) {
    EXPECT_EQ(strided_groups(8, 2, 1), (std::vector<std::vector<int>>{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
    EXPECT_EQ(strided_groups(8, 2, 2), (std::vector<std::vector<int>>{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
    EXPECT_EQ(strided_groups(8, 4, 2), (std::vector<std::vector<int>>{{0, 2, 4, 6}, {1, 3, 5, 7}}));
    EXPECT_THROW(strided_groups(8, 3, 1), InputError);
    EXPECT_THROW(strided_groups(8, 0, 1), InputError);
}

ContendingGroups traffic(std::string_view name, int size, int stride, Bytes bytes) {
    return {.name = std::string{name},
            .algorithm = &ring(Collective::all_reduce),
            .call = {.size = {bytes}, .layout = Layout::uniform(Ranks{size}, port)},
            .groups = strided_groups(8, size, stride),
            .start = {}};
}

/// Expectation: rings of 4 neighbours and rings of 2 across, on a switch: both use every port. Alone a tensor ring takes
/// 6 steps of 2 + 20 us (4 MB / 4 at 50 GB/s), a data ring 2 steps of 2 + 40 us. Together each has half of every port while
/// both send, so that neither is faster than alone and both together take at least what the ports carry: 6 + 4 MB, 200 us.
TEST(ContendedTime, ShowsRingsAloneAndTogether) {
    Topology const star = build_topology(StarNetwork{.endpoints = 8, .port = port});
    std::vector<ContendingGroups> const both{traffic("tp", 4, 1, 4.0 * MB), traffic("dp", 2, 4, 4.0 * MB)};
    ContendedTime const time = contended_time(both, star, 3);
    ASSERT_EQ(time.groups.size(), 2U);
    EXPECT_NEAR(time.groups[0].alone.in(us), 132.0, 1e-6);
    EXPECT_NEAR(time.groups[1].alone.in(us), 84.0, 1e-6);
    EXPECT_EQ(time.groups[0].among_own, time.groups[0].alone) << "rings of neighbours use other ports";
    EXPECT_EQ(time.groups[1].among_own, time.groups[1].alone);
    EXPECT_GT(time.groups[0].slowdown(), 1.3);
    EXPECT_GT(time.groups[1].slowdown(), 1.7);
    EXPECT_GE(time.last.in(us), 202.0);
    EXPECT_LE(time.last.in(us), 132.0 + 84.0) << "no slower than one after the other";
    EXPECT_EQ(time.messages, 8 * 6 + 8 * 2);
    ASSERT_EQ(time.busiest.size(), 3U);
    EXPECT_EQ(time.busiest[0].name, "endpoint 0 -> switch 0");
    EXPECT_NEAR(time.busiest[0].carried.in(MB), 10.0, 1e-9);
    EXPECT_NEAR(time.busiest[0].utilisation, 200.0 / time.last.in(us), 1e-9);
}

/// Expectation: with a node's switch for one and NICs for the other they do not meet.
TEST(ContendedTime, OfTwoLevelsIsEachAlone) {
    Nodes const nodes{.accelerators = 4, .adapters = 4, .scale_up = {.latency = 1.0 * us, .bandwidth = 450.0 * GB / s}};
    Topology const rails = build_topology(RailNetwork{.endpoints = 8, .port = port, .nodes = nodes});
    std::vector<ContendingGroups> const both{traffic("tp", 4, 1, 4.0 * MB), traffic("dp", 2, 4, 4.0 * MB)};
    for (ContendedGroups const& time : contended_time(both, rails).groups) {
        EXPECT_EQ(time.slowdown(), 1.0) << time.name;
    }
}

/// Expectation: data rings of 2 from leaf to leaf with one uplink for two ports: one ring has it for itself, two do not.
TEST(ContendedTime, TellsGroupsOfOneTrafficFromOthers) {
    Topology const tree =
        build_topology(FatTreeNetwork{.endpoints = 4, .port = port, .leaf = 2, .oversubscription = 2.0});
    ContendingGroups dp = traffic("dp", 2, 4, 2.0 * MB);
    dp.groups = strided_groups(4, 2, 2);
    ContendedGroups const time = contended_time({&dp, 1}, tree).groups.at(0);
    EXPECT_NEAR(time.alone.in(us), 2.0 * 22.0, 1e-6);
    EXPECT_NEAR(time.among_own.in(us), 2.0 * 42.0, 1e-6);
    EXPECT_EQ(time.together, time.among_own);
}

TEST(ContendedTime, RefusesWhatDoesNotFit) {
    Topology const star = build_topology(StarNetwork{.endpoints = 4, .port = port});
    std::vector<ContendingGroups> large{traffic("tp", 4, 1, 1.0 * MB)};
    EXPECT_THROW(static_cast<void>(contended_time(large, star)), InputError) << "endpoints 4 to 7 are not there";
    large[0].groups = {{0, 1}};
    EXPECT_THROW(static_cast<void>(contended_time(large, star)), InputError) << "a layout of another size";
    large[0].groups = {{0, 1, 2, 2}};
    EXPECT_THROW(static_cast<void>(contended_time(large, star)), InputError) << "an endpoint twice";
}

} // namespace
} // namespace headroom
