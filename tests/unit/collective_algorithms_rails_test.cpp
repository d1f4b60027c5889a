#include "support/collective_rows.hpp"

#include "headroom/network/collective_algorithm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

// Broadcast and reduce on rails, counted by hand: inside a domain a message costs 1 us, the whole vector 1 ms to send and
// 0.25 ms to add; across, 7 us and 10 ms.

namespace headroom {

using namespace headroom::network;

namespace {

using namespace units;

using by_hand::gamma;
using by_hand::link;
using by_hand::row;
using by_hand::slow;
using by_hand::slowest;

constexpr Bytes n = 1.0 * MB;

bool has_one_root(Collective collective) {
    return collective == Collective::broadcast || collective == Collective::reduce ||
           collective == Collective::scatter || collective == Collective::gather;
}

CollectiveCall domains(int ranks, int g) {
    return {.size = {n}, .layout = Layout::of({.size = ranks, .per_domain = g}, link, slow), .reduction = gamma};
}
CollectiveCall three_levels() {
    return {.size = {n},
            .layout = {.level = {Level{4, link}, Level{3, slow}, Level{5, slowest}}, .levels = 3, .ranks = 60},
            .reduction = gamma};
}

void expect_time(CollectiveTime const& time, double microseconds, double sending, double adding) {
    EXPECT_NEAR(time.latency.in(us), microseconds, 1e-9 * microseconds);
    EXPECT_NEAR(time.bandwidth.in(ms), sending, 1e-12 * (sending + 1.0));
    EXPECT_NEAR(time.reduction.in(ms), adding, 1e-12 * (adding + 1.0));
}

/// Bytes that the messages of the outermost level leave the busiest rank with, as their sender.
double most_sent_across(CollectiveAlgorithm const& algorithm, CollectiveCall const& call) {
    auto const schedule = algorithm.schedule(call);
    std::vector<double> sent(static_cast<std::size_t>(call.layout.ranks));
    Round round{call.layout};
    for (std::int64_t index = 0; index < schedule->rounds(); ++index) {
        round.clear();
        schedule->write(index, round);
        for (Message const& message : round.messages()) {
            if (message.level == call.layout.levels - 1) { sent[message.from] += message.bytes; }
        }
    }
    double most = 0.0;
    for (double const bytes : sent) { most = std::max(most, bytes); }
    return most;
}

TEST(Rails, BroadcastScattersThenGoesAcrossThenGathers) {
    // Expectation: 64 ranks in domains of 8. Scatter 3 messages of 7/8 n, ring of 7 for 7/8 n. Across 8 domains n/8 takes
    // 1.25 ms a hop: sqrt(6 * 1250 / 7) = 32.7, and 6 * 1250 / 7 = 1071 > 32 * 33, so 33 segments in 7 + 32 rounds.
    expect_time(row(Collective::broadcast, "hierarchical_pipelined_chain").time(domains(64, 8)), 10.0 + 39.0 * 7.0,
                2.0 * 7.0 / 8.0 + 39.0 / 33.0 * 1.25, 0.0);
    // Across, a scatter and a gather of 3 rounds and 7/8 of n/8 each.
    expect_time(row(Collective::broadcast, "hierarchical_van_de_geijn").time(domains(64, 8)), 10.0 + 6.0 * 7.0,
                2.0 * 7.0 / 8.0 + 2.0 * 7.0 / 8.0 * 1.25, 0.0);
    // Two binary trees: sqrt(lag h / alpha), 7 = 2^3 - 1 ranks below the root: lag 4, 714 > 26 * 27, so 27 and 27 + 4 rounds.
    expect_time(row(Collective::broadcast, "hierarchical_double_binary_tree").time(domains(64, 8)), 10.0 + 31.0 * 7.0,
                2.0 * 7.0 / 8.0 + 31.0 / 27.0 * 1.25, 0.0);
}

TEST(Rails, ReduceScattersThenGoesAcrossThenGathers) {
    // Expectation: the ring adds 7/8 n, and every one of 7 + q - 1 hops across adds n/(8 q). A hop takes 1250 + 31.25 us:
    // 6 * 1281.25 / 7 = 1098.2 > 32 * 33, so 33 segments.
    expect_time(row(Collective::reduce, "hierarchical_pipelined_chain").time(domains(64, 8)), 10.0 + 39.0 * 7.0,
                2.0 * 7.0 / 8.0 + 39.0 / 33.0 * 1.25, 0.25 * (7.0 / 8.0 + 39.0 / 33.0 / 8.0));
    // Halving and gathering n/8 across: 7/8 of it each, added once.
    expect_time(row(Collective::reduce, "hierarchical_rabenseifner").time(domains(64, 8)), 10.0 + 6.0 * 7.0,
                2.0 * 7.0 / 8.0 + 2.0 * 7.0 / 8.0 * 1.25, 0.25 * 63.0 / 64.0);
}

TEST(Rails, DomainsOfNoPowerOfTwo) {
    // Expectation: 18 ranks in 3 domains of 6: scatter in 3 messages of 5/6 n, ring of 5. Across: scatter and gather of n/6
    // among 3 in 2 messages each of 2/3; or folding three to two, so one message of n/6 and 2 of n/12.
    expect_time(row(Collective::broadcast, "hierarchical_van_de_geijn").time(domains(18, 6)), 8.0 + 4.0 * 7.0,
                2.0 * 5.0 / 6.0 + 10.0 / 6.0 * 4.0 / 3.0, 0.0);
    expect_time(row(Collective::reduce, "hierarchical_rabenseifner").time(domains(18, 6)), 8.0 + 3.0 * 7.0,
                2.0 * 5.0 / 6.0 + 10.0 / 6.0 * 2.0, 0.25 * (5.0 / 6.0 + 1.5 / 6.0));
}

TEST(Rails, ThreeLevelsScatterOverRailsToo) {
    // Expectation: 4 x 3 x 5. 3/4 n in 2 messages and a ring of 3; then 2/12 n in 2 and a ring of 2; across, n/12 among 5:
    // scatter and gather of 4/5 in 3 messages each. The middle link takes 10 ms for n, the outermost 100/3 ms.
    expect_time(row(Collective::broadcast, "hierarchical_van_de_geijn").time(three_levels()),
                5.0 + 4.0 * 7.0 + 6.0 * 19.0, 2.0 * (3.0 / 4.0 + 10.0 * 2.0 / 12.0 + 100.0 / 3.0 * 4.0 / 60.0), 0.0);
}

TEST(Rails, BinomialsNestFromTheOutside) {
    // Expectation: ceil(lg 5), ceil(lg 3) and ceil(lg 4) messages of the whole vector.
    double const sending = 3.0 * 100.0 / 3.0 + 2.0 * 10.0 + 2.0;
    expect_time(row(Collective::broadcast, "hierarchical_binomial").time(three_levels()), 3.0 * 19.0 + 2.0 * 7.0 + 2.0,
                sending, 0.0);
    expect_time(row(Collective::reduce, "hierarchical_binomial").time(three_levels()), 3.0 * 19.0 + 2.0 * 7.0 + 2.0,
                sending, 0.25 * 7.0);
}

TEST(Rails, ShardsLeaveTheDomainByEveryPort) {
    // Expectation: 18 ranks in 3 domains of 6: 5/6 n in 3 messages inside, then 2/3 of n/6 in 2 across.
    for (Collective const collective : {Collective::scatter, Collective::gather}) {
        CollectiveAlgorithm const& rails = row(collective, "hierarchical_binomial");
        expect_time(rails.time(domains(18, 6)), 3.0 + 2.0 * 7.0, 5.0 / 6.0 + 10.0 * 2.0 / 18.0, 0.0);
        EXPECT_FALSE(has_closed_form(rails, three_levels().layout));
    }
    // The root sends its rail's shards for 7 domains; a gather's busiest sender passes on those of four.
    EXPECT_NEAR(most_sent_across(row(Collective::scatter, "hierarchical_binomial"), domains(64, 8)), n.base() * 7 / 64,
                1e-6);
    EXPECT_NEAR(most_sent_across(row(Collective::gather, "hierarchical_binomial"), domains(64, 8)), n.base() * 4 / 64,
                1e-6);
}

TEST(Rails, OnOneLevelIsWhatRunsAcross) {
    for (int const ranks : {1, 2, 7, 64}) {
        for (CollectiveAlgorithm const& algorithm : collective_algorithms()) {
            if (!has_one_root(algorithm.collective) || algorithm.arrangement != Arrangement::levels) { continue; }
            SCOPED_TRACE(algorithm.name);
            CollectiveCall const call{.size = {n}, .layout = Layout::uniform(Ranks{ranks}, link), .reduction = gamma};
            std::string_view const across = algorithm.name.substr(std::string_view{"hierarchical_"}.size());
            EXPECT_EQ(algorithm.time(call).total(), row(algorithm.collective, across).time(call).total());
        }
    }
}

TEST(Rails, NoPortCarriesMoreThanItsShardAcross) {
    // Expectation: n/8 a rank where it passes all on once, 7/8 of that in a scatter, and as much in the gather after it;
    // the whole vector three times where it is not cut.
    double const shard = n.base() / 8.0;
    auto const most = [](Collective collective, std::string_view name) {
        return most_sent_across(row(collective, name), domains(64, 8));
    };
    EXPECT_NEAR(most(Collective::broadcast, "hierarchical_pipelined_chain"), shard, 1e-6);
    EXPECT_NEAR(most(Collective::reduce, "hierarchical_pipelined_chain"), shard, 1e-6);
    EXPECT_NEAR(most(Collective::broadcast, "hierarchical_van_de_geijn"), 2.0 * 7.0 / 8.0 * shard, 1e-6);
    EXPECT_NEAR(most(Collective::broadcast, "hierarchical_binomial"), 3.0 * n.base(), 1e-6);
}

TEST(Rails, LargeBroadcastsTendToTheSharesOfThePorts) {
    // Expectation: 2 (g-1)/g n b_in + n/g b_out, and for the reduce n gamma (g-1)/g + n/g gamma = n gamma more; what is
    // over is of the order of sqrt(n).
    CollectiveCall call = domains(64, 8);
    call.size = {1e5 * GB};
    double const inside = 1.75 * 1e5, across = 10.0 / 8.0 * 1e5;
    double const broadcast = row(Collective::broadcast, "hierarchical_pipelined_chain").time(call).total().base();
    double const reduce = row(Collective::reduce, "hierarchical_pipelined_chain").time(call).total().base();
    EXPECT_NEAR(broadcast / (inside + across), 1.0, 1e-3);
    EXPECT_NEAR(reduce / (inside + across + 0.25e5), 1.0, 1e-3);
}

TEST(Rails, ClosedFormsHoldForManyRanks) {
    for (CollectiveCall const& call : {domains(1000, 2), domains(1000, 8), domains(1000, 250), three_levels()}) {
        for (CollectiveAlgorithm const& algorithm : collective_algorithms()) {
            if (!has_one_root(algorithm.collective) || algorithm.arrangement != Arrangement::levels) { continue; }
            if (!has_closed_form(algorithm, call.layout)) { continue; }
            SCOPED_TRACE(algorithm.name);
            SimulatedCollective const simulated = simulate(*algorithm.schedule(call), call.layout, call.reduction);
            CollectiveTime const closed = algorithm.time(call);
            double const picoseconds = 1e-12 * static_cast<double>(simulated.critical_messages + 1);
            EXPECT_NEAR(closed.total().base(), simulated.total().base(), 1e-9 * closed.total().base() + picoseconds);
        }
    }
}

TEST(Rails, ABillionRanksArePricedWithoutCountingThem) {
    // Expectation: 8 x 125,000,000: 10 messages inside, 2 * 27 across (2^26 < 1.25e8 < 2^27).
    CollectiveTime const time = row(Collective::broadcast, "hierarchical_van_de_geijn").time(domains(1'000'000'000, 8));
    EXPECT_NEAR(time.latency.in(us), 10.0 + 54.0 * 7.0, 1e-6);
    // Folded to 2^26, then 26 halvings and a gather of 26 rounds.
    CollectiveTime const reduce = row(Collective::reduce, "hierarchical_rabenseifner").time(domains(1'000'000'000, 8));
    EXPECT_NEAR(reduce.latency.in(us), 10.0 + 53.0 * 7.0, 1e-6);
}

} // namespace
} // namespace headroom
