#include "support/data_flow.hpp"

#include "headroom/network/collective_algorithm.hpp"
#include "headroom/training/placement.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

// Every row of the table against its own schedule: what the messages carry, and what they take.

namespace headroom {

using namespace headroom::network;

namespace {

using namespace units;

Link const link{.latency = 3.1 * us, .bandwidth = 47.3 * GB / s};
Link const slow{.latency = 11.7 * us, .bandwidth = 9.1 * GB / s};
Link const slowest{.latency = 23.9 * us, .bandwidth = 2.3 * GB / s};
constexpr SecondsPerByte gamma{1.7e-12};

std::string label(CollectiveAlgorithm const& row, Layout const& layout, Bytes size) {
    return std::string{name_of(row.collective)} + " by " + std::string{row.name} +
           ", p = " + std::to_string(layout.ranks) + ", levels " + std::to_string(layout.levels) +
           ", n = " + format(size);
}

/// Layouts of so many ranks that the closed form of this row is asked about.
std::vector<Layout> layouts_of(CollectiveAlgorithm const& row, int ranks) {
    std::vector<Layout> layouts{Layout::uniform(Ranks{ranks}, link)};
    if (row.arrangement == Arrangement::flat || row.arrangement == Arrangement::in_network) { return layouts; }
    for (int g = 2; g < ranks; ++g) {
        layouts.push_back(Layout::of(Group{.size = ranks, .per_domain = g}, link, slow));
        if (ranks % g != 0) { continue; }
        for (int k = 2; k * g < ranks; ++k) {
            if (ranks / g % k != 0) { continue; }
            layouts.push_back({.level = {Level{g, link}, Level{k, slow}, Level{ranks / g / k, slowest}},
                               .levels = 3,
                               .ranks = ranks});
        }
    }
    return layouts;
}

/// Uneven domains whose sizes have no common divisor cut the vector into very many chunks. All such layouts of up to 24
/// ranks are followed, and of the larger ones those with few chunks.
bool takes_long_to_follow(MessageSchedule const& schedule, Layout const& layout) {
    return !layout.even() && std::int64_t{schedule.chunks()} * layout.ranks > 100'000;
}

void expect_equal(CollectiveAlgorithm const& row, CollectiveCall const& call) {
    SCOPED_TRACE(label(row, call.layout, call.size.size));
    auto const schedule = row.schedule(call);
    CollectiveTime const closed = row.time(call);
    SimulatedCollective const simulated = simulate(*schedule, call.layout, call.reduction, Symmetry::ignored);
    double const rounding = 1e-12 * static_cast<double>(simulated.critical_messages + 1);
    double const slack = 1e-9 * closed.total().base() + rounding;
    EXPECT_NEAR(closed.total().base(), simulated.total().base(), slack);
    SimulatedCollective const short_cut = simulate(*schedule, call.layout, call.reduction, Symmetry::used);
    EXPECT_EQ(short_cut.picoseconds, simulated.picoseconds);
    EXPECT_EQ(short_cut.messages, simulated.messages);
}

class EveryAlgorithm : public testing::TestWithParam<CollectiveAlgorithm> {};

TEST_P(EveryAlgorithm, ClosedFormIsTheSimulatedSchedule) {
    for (int ranks = 1; ranks <= 64; ++ranks) {
        for (Layout const& layout : layouts_of(GetParam(), ranks)) {
            if (!has_closed_form(GetParam(), layout)) { continue; }
            for (Bytes const size : {8.0 * byte, 100.0 * kB, 1.0 * GiB}) {
                expect_equal(GetParam(), {.size = {size}, .layout = layout, .reduction = gamma});
                if (HasFailure()) { return; }
            }
        }
    }
}

TEST_P(EveryAlgorithm, ClosedFormIsTheSimulatedScheduleOfManyRanks) {
    for (int const ranks : {100, 128, 257, 1000, 1024, 4096}) {
        Layout const layout = Layout::uniform(Ranks{ranks}, link);
        if (!has_closed_form(GetParam(), layout)) { continue; }
        expect_equal(GetParam(), {.size = {64.0 * MiB}, .layout = layout, .reduction = gamma});
        if (HasFailure()) { return; }
    }
}

TEST_P(EveryAlgorithm, TheMessagesDoWhatTheCollectivePromises) {
    for (int ranks = 1; ranks <= 64; ++ranks) {
        for (Layout const& layout : layouts_of(GetParam(), ranks)) {
            if (!has_closed_form(GetParam(), layout)) { continue; }
            CollectiveCall const call{.size = {1.0 * MiB}, .layout = layout};
            SCOPED_TRACE(label(GetParam(), layout, call.size.size));
            auto const schedule = GetParam().schedule(call);
            if (takes_long_to_follow(*schedule, layout)) { continue; }
            EXPECT_EQ(data_flow::fault_of(*schedule, GetParam().collective, layout), "");
            if (HasFailure()) { return; }
        }
    }
}

/// A message carries as many bytes as its chunks are of the vector, so that neither can be forgotten.
TEST_P(EveryAlgorithm, BytesAreThoseOfTheChunks) {
    if (GetParam().collective == Collective::barrier) { return; }
    for (int const ranks : {2, 3, 7, 8, 12, 31}) {
        for (Layout const& layout : layouts_of(GetParam(), ranks)) {
            if (!has_closed_form(GetParam(), layout)) { continue; }
            CollectiveCall const call{.size = {1.0 * MiB}, .layout = layout};
            auto const schedule = GetParam().schedule(call);
            Round round{layout};
            for (std::int64_t index = 0; index < schedule->rounds(); ++index) {
                round.clear();
                schedule->write(index, round);
                for (Message const& message : round.messages()) {
                    double const carried =
                        static_cast<double>(data_flow::members(message.chunks, schedule->chunks()).size());
                    ASSERT_NEAR(message.bytes, carried / schedule->chunks() * call.size.size.base(), 1e-6);
                }
            }
        }
    }
}

TEST_P(EveryAlgorithm, NothingBeatsTheLowerBounds) {
    bool const in_network = GetParam().arrangement == Arrangement::in_network;
    for (int ranks = 1; ranks <= 64; ++ranks) {
        for (Layout const& layout : layouts_of(GetParam(), ranks)) {
            if (!has_closed_form(GetParam(), layout)) { continue; }
            for (Bytes const size : {1.0 * byte, 10.0 * kB, 10.0 * GB}) {
                CollectiveCall const call{.size = {size}, .layout = layout, .reduction = gamma};
                SCOPED_TRACE(label(GetParam(), layout, size));
                CollectiveBound const bound = lower_bound(GetParam().collective, call, in_network);
                EXPECT_LE(bound.total().base(), GetParam().time(call).total().base() * (1.0 + 1e-12));
                if (HasFailure()) { return; }
            }
        }
    }
}

std::vector<CollectiveAlgorithm> table() {
    auto const rows = collective_algorithms();
    return {rows.begin(), rows.end()};
}

INSTANTIATE_TEST_SUITE_P(Table, EveryAlgorithm, testing::ValuesIn(table()), [](auto const& parameter) {
    return std::string{name_of(parameter.param.collective)} + "_" + std::string{parameter.param.name};
});

} // namespace
} // namespace headroom
