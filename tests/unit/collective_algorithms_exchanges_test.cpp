#include "support/collective_rows.hpp"

#include "headroom/network/collective_algorithm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

// Prices of exchanges, counted by hand: a message costs 1 us, the whole vector 1 ms to send and 0.25 ms to add.

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

CollectiveCall flat(int ranks, double skew = 1.0) {
    return {.size = {n}, .layout = Layout::uniform(Ranks{ranks}, link), .reduction = gamma, .skew = skew};
}
CollectiveCall domains(int ranks, int g) {
    return {.size = {n}, .layout = Layout::of({.size = ranks, .per_domain = g}, link, slow), .reduction = gamma};
}

/// Messages, and vectors sent and added, one after another.
void expect_counts(CollectiveTime const& time, double messages, double sent, double added) {
    EXPECT_NEAR(time.latency.in(us), messages, 1e-9 * messages);
    EXPECT_NEAR(time.bandwidth.in(ms), sent, 1e-12 * (sent + 1.0));
    EXPECT_NEAR(time.reduction.in(ms), 0.25 * added, 1e-12 * (added + 1.0));
}
void expect_counts(Collective collective, std::string_view name, int ranks, double messages, double sent,
                   double added = 0.0) {
    SCOPED_TRACE(std::string{name} + ", p = " + std::to_string(ranks));
    expect_counts(row(collective, name).time(flat(ranks)), messages, sent, added);
}

void expect_simulated(CollectiveAlgorithm const& algorithm, CollectiveCall const& call) {
    SCOPED_TRACE(std::string{algorithm.name} + ", p = " + std::to_string(call.layout.ranks) +
                 ", skew = " + std::to_string(call.skew));
    ASSERT_TRUE(has_closed_form(algorithm, call.layout));
    SimulatedCollective const simulated = simulate(*algorithm.schedule(call), call.layout, call.reduction);
    double const closed = algorithm.time(call).total().base();
    double const picoseconds = 1e-12 * static_cast<double>(simulated.critical_messages + 1);
    EXPECT_NEAR(closed, simulated.total().base(), 1e-9 * closed + picoseconds);
}

TEST(RecursiveDoubling, AllReduceSendsTheWholeVectorEveryRound) {
    expect_counts(Collective::all_reduce, "recursive_doubling", 1, 0, 0, 0);
    expect_counts(Collective::all_reduce, "recursive_doubling", 2, 1, 1, 1);
    expect_counts(Collective::all_reduce, "recursive_doubling", 8, 3, 3, 3);
    // One rank hands its vector to another and waits: one more round at each end, of which the first adds.
    expect_counts(Collective::all_reduce, "recursive_doubling", 3, 3, 3, 2);
    expect_counts(Collective::all_reduce, "recursive_doubling", 5, 4, 4, 3);
}

TEST(RecursiveDoubling, AllGatherOfFoldedRanksCarriesTwoShardsForOne) {
    expect_counts(Collective::all_gather, "recursive_doubling", 8, 3, 7.0 / 8.0);
    // 3 ranks: a shard to the neighbour, its two for the third one's, two back to the first.
    expect_counts(Collective::all_gather, "recursive_doubling", 3, 3, (1.0 + 2.0 + 2.0) / 3.0);
    // 5 ranks: one shard in, then 2 and 3 (the pair stands for two), then the 4 that the first lacks.
    expect_counts(Collective::all_gather, "recursive_doubling", 5, 4, (1.0 + 2.0 + 3.0 + 4.0) / 5.0);
    expect_counts(Collective::all_gather, "recursive_doubling", 9, 5, 19.0 / 9.0);
}

TEST(RecursiveDoubling, ReduceScatterSendsAllButWhatItsGroupKeeps) {
    expect_counts(Collective::reduce_scatter, "recursive_doubling", 8, 3, (7.0 + 6.0 + 4.0) / 8.0, 17.0 / 8.0);
    auto const& algorithm = row(Collective::reduce_scatter, "recursive_doubling");
    EXPECT_TRUE(has_closed_form(algorithm, flat(1).layout));
    EXPECT_FALSE(has_closed_form(algorithm, flat(6).layout));
}

TEST(RecursiveHalving, CountsWhatTheFoldedPlacesGet) {
    expect_counts(Collective::reduce_scatter, "recursive_halving", 1, 0, 0, 0);
    expect_counts(Collective::reduce_scatter, "recursive_halving", 8, 3, 7.0 / 8.0, 7.0 / 8.0);
    // 5 ranks: a vector in, then 3 shards and 2 (the pair keeps two), then one back to the first.
    expect_counts(Collective::reduce_scatter, "recursive_halving", 5, 4, (5.0 + 3.0 + 2.0 + 1.0) / 5.0,
                  (5.0 + 3.0 + 2.0) / 5.0);
    // 7 ranks: three pairs of four places, so halves are even: the 2 n beta of Thakur, Rabenseifner and Gropp.
    expect_counts(Collective::reduce_scatter, "recursive_halving", 7, 4, 2.0, 1.0 + 6.0 / 7.0);
    // 9 ranks: one pair of eight places, whose part is the longest of every round: more than that.
    expect_counts(Collective::reduce_scatter, "recursive_halving", 9, 5, (9.0 + 5.0 + 3.0 + 2.0 + 1.0) / 9.0,
                  (9.0 + 5.0 + 3.0 + 2.0) / 9.0);
}

TEST(Rabenseifner, HalvesAndDoublesOnAPowerOfTwo) {
    expect_counts(Collective::all_reduce, "rabenseifner", 1, 0, 0, 0);
    expect_counts(Collective::all_reduce, "rabenseifner", 8, 6, 2.0 * 7.0 / 8.0, 7.0 / 8.0);
    // 3 ranks: a vector in and out, and halves both ways between two places.
    expect_counts(Collective::all_reduce, "rabenseifner", 3, 4, 3.0, 1.5);
    expect_counts(Collective::all_reduce, "rabenseifner", 5, 6, 2.0 * 3.0 / 4.0 + 2.0, 3.0 / 4.0 + 1.0);
}

TEST(Pairwise, HasOneRoundForEveryOther) {
    expect_counts(Collective::reduce_scatter, "pairwise", 5, 4, 4.0 / 5.0, 4.0 / 5.0);
    expect_counts(Collective::all_to_all, "pairwise", 5, 4, 4.0 / 5.0);
    expect_counts(Collective::all_to_all, "pairwise", 1, 0, 0);
}

TEST(Bruck, AllGatherNeedsNoMoreRoundsThanBits) {
    expect_counts(Collective::all_gather, "bruck", 1, 0, 0);
    expect_counts(Collective::all_gather, "bruck", 5, 3, 4.0 / 5.0);
    expect_counts(Collective::all_gather, "bruck", 8, 3, 7.0 / 8.0);
}

TEST(Bruck, AllToAllSendsABlockOnceForEveryBitOfItsWay) {
    // Bits that are set in 0 .. p-1: at p = 6 three numbers are odd, two have bit 1, two have bit 2.
    expect_counts(Collective::all_to_all, "bruck", 3, 2, 2.0 / 3.0);
    expect_counts(Collective::all_to_all, "bruck", 5, 3, 5.0 / 5.0);
    expect_counts(Collective::all_to_all, "bruck", 6, 3, 7.0 / 6.0);
    expect_counts(Collective::all_to_all, "bruck", 7, 3, 9.0 / 7.0);
    expect_counts(Collective::all_to_all, "bruck", 8, 3, 3.0 / 2.0);
    expect_counts(Collective::all_to_all, "bruck", 9, 4, 13.0 / 9.0);
}

TEST(Barrier, GoesByTheLogarithm) {
    expect_counts(Collective::barrier, "dissemination", 1, 0, 0);
    expect_counts(Collective::barrier, "dissemination", 8, 3, 0);
    expect_counts(Collective::barrier, "dissemination", 9, 4, 0);
    expect_counts(Collective::barrier, "binomial", 9, 8, 0); // up and down
}

TEST(Skew, IsWhatTheBusiestReceiverGetsOverTheMean) {
    // Expectation: 4 ranks, skew 2: half of all data is for rank 0, and each other gets a sixth of every rank's.
    CollectiveTime const pairs = row(Collective::all_to_all, "pairwise").time(flat(4, 2.0));
    expect_counts(pairs, 3, 3.0 * 0.5, 0);
    // Bruck: four blocks of a sixth, and the three for rank 0 are a third longer.
    CollectiveTime const bruck = row(Collective::all_to_all, "bruck").time(flat(4, 2.0));
    expect_counts(bruck, 2, 4.0 / 6.0 + 3.0 / 3.0, 0);
    // Everything for rank 0: three vectors, however they come. More than that cannot be asked for.
    for (double const skew : {4.0, 1000.0}) {
        expect_counts(row(Collective::all_to_all, "pairwise").time(flat(4, skew)), 3, 3.0, 0);
        expect_counts(row(Collective::all_to_all, "bruck").time(flat(4, skew)), 2, 3.0, 0);
    }
}

TEST(Skew, ClosedFormsAreTheSimulatedSchedules) {
    for (int ranks = 1; ranks <= 40; ++ranks) {
        for (double const skew : {1.0, 1.3, 2.0, ranks / 2.0, 1.0 * ranks, 1e6}) {
            for (CollectiveAlgorithm const& algorithm : collective_algorithms()) {
                if (algorithm.collective != Collective::all_to_all) { continue; }
                expect_simulated(algorithm, flat(ranks, skew));
                CollectiveCall const call = flat(ranks, skew);
                EXPECT_GE(algorithm.time(call).total().base() * (1.0 + 1e-12),
                          lower_bound(Collective::all_to_all, call).total().base());
            }
            for (int g = 2; g < ranks; ++g) {
                if (ranks % g != 0) { continue; }
                CollectiveCall call = domains(ranks, g);
                call.skew = skew;
                expect_simulated(row(Collective::all_to_all, "hierarchical"), call);
            }
        }
    }
}

TEST(Hierarchical, DividesThePayloadByTheRanksItWasReducedOver) {
    // Expectation: 32 ranks in domains of 8: 7 hops inside of n/8, 3 across of n/32, both ways.
    CollectiveTime const time = row(Collective::all_reduce, "hierarchical_ring").time(domains(32, 8));
    EXPECT_NEAR(time.latency.in(us), 2.0 * (7 * 1.0 + 3 * 7.0), 1e-9);
    EXPECT_NEAR(time.bandwidth.in(ms), 2.0 * (7.0 / 8.0 + 10.0 * 3.0 / 32.0), 1e-9);
    EXPECT_NEAR(time.reduction.in(ms), 0.25 * 31.0 / 32.0, 1e-9);
}

TEST(Hierarchical, RanksWithoutAPartnerHandTheirShardsOver) {
    // Expectation: 12 ranks, 8 and 4. 7 hops of n/8 inside, four rounds of n/32 to hand the shards of four ranks to the
    // other four, one hop of n/8 across (halves of n/4), and all of it back; n/8 is added seven times, then once more.
    CollectiveTime const time = row(Collective::all_reduce, "hierarchical_ring").time(domains(12, 8));
    EXPECT_NEAR(time.latency.in(us), 2.0 * (7.0 + 4.0 + 7.0), 1e-9);
    EXPECT_NEAR(time.bandwidth.in(ms), 2.0 * (7.0 / 8.0 + 4.0 / 32.0 + 10.0 / 8.0), 1e-9);
    EXPECT_NEAR(time.reduction.in(ms), 0.25 * (7.0 + 1.0) / 8.0, 1e-9);
}

TEST(Hierarchical, UnevenShardsAreDealtInPieces) {
    // Expectation: 12 ranks, 8 and 4, n/12 at each: 7 pieces of n/48 to one of four owners, 8 such pieces across, 4 of
    // n/32 to hand the others their part, 7 hops of n/8.
    CollectiveTime const time = row(Collective::all_gather, "hierarchical_ring").time(domains(12, 8));
    EXPECT_NEAR(time.latency.in(us), 7.0 + 7.0 + 4.0 + 7.0, 1e-9);
    EXPECT_NEAR(time.bandwidth.in(ms), 7.0 / 48.0 + 10.0 * 8.0 / 48.0 + 4.0 / 32.0 + 7.0 / 8.0, 1e-9);
}

TEST(Hierarchical, OnOneLevelIsWhatRunsAcross) {
    for (int const ranks : {1, 2, 7, 64}) {
        auto const same = [&](Collective collective, std::string_view levels, std::string_view one) {
            EXPECT_EQ(row(collective, levels).time(flat(ranks)).total(),
                      row(collective, one).time(flat(ranks)).total());
        };
        same(Collective::all_reduce, "hierarchical_ring", "ring");
        same(Collective::all_reduce, "hierarchical_recursive_doubling", "recursive_doubling");
        same(Collective::all_reduce, "hierarchical_rabenseifner", "rabenseifner");
        same(Collective::all_gather, "hierarchical_bruck", "bruck");
        same(Collective::reduce_scatter, "hierarchical_recursive_halving", "recursive_halving");
        same(Collective::all_to_all, "hierarchical", "pairwise");
    }
}

TEST(Hierarchical, AllToAllSendsFewerMessagesAcross) {
    // Expectation: 32 ranks in domains of 8: 7 messages of n/8 inside, 3 of n/4 across, where pairs take 24 of n/32.
    CollectiveTime const time = row(Collective::all_to_all, "hierarchical").time(domains(32, 8));
    EXPECT_NEAR(time.latency.in(us), 7 * 1.0 + 3 * 7.0, 1e-9);
    EXPECT_NEAR(time.bandwidth.in(ms), 7.0 / 8.0 + 10.0 * 3.0 / 4.0, 1e-9);
}

TEST(Hierarchical, ClosedFormsHoldForManyRanks) {
    std::vector<Layout> layouts;
    for (int const g : {2, 8, 72}) { layouts.push_back(domains(1000, g).layout); } // 72: 13 domains and 64 ranks
    layouts.push_back(domains(1003, 8).layout);
    layouts.push_back(domains(257, 200).layout);
    layouts.push_back({.level = {Level{4, link}, Level{6, slow}, Level{20, slowest}}, .levels = 3, .ranks = 480});
    for (CollectiveAlgorithm const& algorithm : collective_algorithms()) {
        if (algorithm.arrangement != Arrangement::levels) { continue; }
        for (Layout const& layout : layouts) {
            if (!has_closed_form(algorithm, layout)) { continue; }
            expect_simulated(algorithm, {.size = {n}, .layout = layout, .reduction = gamma});
        }
    }
}

TEST(Torus, RunsARingAlongEachSide) {
    // Expectation: 2 x 3 x 4: 1 hop of n/2, 2 of n/6, 3 of n/24, both ways.
    Layout const torus{.level = {Level{2, link}, Level{3, link}, Level{4, link}}, .levels = 3, .ranks = 24};
    CollectiveTime const time =
        row(Collective::all_reduce, "torus_ring").time({.size = {n}, .layout = torus, .reduction = gamma});
    expect_counts(time, 12, 2.0 * 23.0 / 24.0, 23.0 / 24.0);
}

TEST(ManyRanks, ArePricedWithoutCountingThem) {
    // Expectation: 2^29 < 10^9 < 2^30.
    int const ranks = 1'000'000'000;
    auto const messages = [&](Collective collective, std::string_view name) {
        return row(collective, name).time(flat(ranks)).latency.in(us);
    };
    EXPECT_NEAR(messages(Collective::all_reduce, "recursive_doubling"), 31.0, 1e-9);
    EXPECT_NEAR(messages(Collective::all_reduce, "rabenseifner"), 60.0, 1e-9);
    EXPECT_NEAR(messages(Collective::reduce_scatter, "recursive_halving"), 31.0, 1e-9);
    EXPECT_NEAR(messages(Collective::all_gather, "bruck"), 30.0, 1e-9);
    EXPECT_NEAR(messages(Collective::all_to_all, "bruck"), 30.0, 1e-9);
    EXPECT_NEAR(messages(Collective::all_to_all, "pairwise"), 999'999'999.0, 1e-3);
    EXPECT_NEAR(messages(Collective::barrier, "dissemination"), 30.0, 1e-9);
    expect_counts(Collective::all_to_all, "bruck", 1 << 29, 29, 14.5); // half of 29 bits
    expect_counts(Collective::all_to_all, "bruck", (1 << 30) - 1, 30, 30.0 * ((1 << 29) - 1.0) / ((1 << 30) - 1.0));
    // 463,129,088 pairs of 2^29 places: more than 2^28, so the first 1, 2, 4 ... 2^28 places are all pairs.
    double const halves = 2.0 * ((1 << 29) - 1.0);
    expect_counts(Collective::reduce_scatter, "recursive_halving", ranks, 31, (1e9 + 1.0 + halves) / 1e9,
                  (1e9 + halves) / 1e9);
}

TEST(ManyRanks, OfEveryRowHaveAPrice) {
    for (CollectiveAlgorithm const& algorithm : collective_algorithms()) {
        bool const in_network = algorithm.arrangement == Arrangement::in_network;
        for (int const ranks : {1'000'000'000, 2'147'483'647}) {
            Layout const uneven = Layout::of({.size = ranks, .per_domain = 72}, link, slow);
            for (Layout const& layout : {Layout::uniform(Ranks{ranks}, link), uneven}) {
                if (!has_closed_form(algorithm, layout)) { continue; }
                SCOPED_TRACE(algorithm.name);
                CollectiveCall const call{.size = {n}, .layout = layout, .reduction = gamma};
                CollectiveTime const time = algorithm.time(call);
                EXPECT_TRUE(std::isfinite(time.total().base()));
                EXPECT_GE(time.latency.base(), 0.0);
                EXPECT_GE(time.total().base() * (1.0 + 1e-12),
                          lower_bound(algorithm.collective, call, in_network).total().base());
            }
        }
    }
}

} // namespace
} // namespace headroom
