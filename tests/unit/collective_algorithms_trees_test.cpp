#include "../../core/src/network/algorithms/in_network.hpp"
#include "../../core/src/network/algorithms/segments.hpp"
#include "support/collective_rows.hpp"
#include "support/data_flow.hpp"

#include "headroom/network/collective_algorithm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

// Trees, chains and switches by hand: alpha 1 us, beta 1 ns a byte, gamma 0.25 ns a byte, so 1 kB takes 1 us a hop.

namespace headroom {

using namespace headroom::network;

namespace {

using namespace units;

using by_hand::gamma;
using by_hand::link;
using by_hand::row;

CollectiveCall call_of(int ranks, Bytes size, SecondsPerByte reduction = gamma) {
    return {.size = {size}, .layout = Layout::uniform(Ranks{ranks}, link), .reduction = reduction};
}

CollectiveTime time_of(Collective collective, std::string_view name, int ranks, Bytes size) {
    return row(collective, name).time(call_of(ranks, size));
}

double us_of(Collective collective, std::string_view name, int ranks, Bytes size) {
    return time_of(collective, name, ranks, size).total().in(us);
}

double segments_of(Collective collective, std::string_view name, CollectiveCall const& call) {
    return row(collective, name).schedule(call)->chunks();
}

TEST(Send, TakesOneMessage) {
    EXPECT_NEAR(us_of(Collective::point_to_point, "send", 2, 3.0 * kB), 4.0, 1e-9);
    EXPECT_NEAR(us_of(Collective::point_to_point, "send", 9, 3.0 * kB), 4.0, 1e-9); // the others look on
    EXPECT_EQ(us_of(Collective::point_to_point, "send", 1, 3.0 * kB), 0.0);         // nobody to send to
}

TEST(Flat, TheRootServesOneAfterTheOther) {
    // Expectation: 4 others, each 1 us and 2 us of wire, and where they are added 0.5 us each.
    EXPECT_NEAR(us_of(Collective::broadcast, "flat", 5, 2.0 * kB), 12.0, 1e-9);
    EXPECT_NEAR(us_of(Collective::reduce, "flat", 5, 2.0 * kB), 14.0, 1e-9);
    EXPECT_NEAR(us_of(Collective::all_reduce, "flat", 5, 2.0 * kB), 26.0, 1e-9);
    // Expectation: 4 messages of a fifth of 5 kB.
    EXPECT_NEAR(us_of(Collective::scatter, "linear", 5, 5.0 * kB), 8.0, 1e-9);
    EXPECT_NEAR(us_of(Collective::gather, "linear", 5, 5.0 * kB), 8.0, 1e-9);
}

TEST(Chain, GoesThereAndBack) {
    // Expectation: 4 hops there with adding, 4 back, none at the same time as another.
    CollectiveTime const time = time_of(Collective::all_reduce, "chain", 5, 2.0 * kB);
    EXPECT_NEAR(time.latency.in(us), 8.0, 1e-9);
    EXPECT_NEAR(time.bandwidth.in(us), 16.0, 1e-9);
    EXPECT_NEAR(time.reduction.in(us), 2.0, 1e-9);
}

TEST(PipelinedChain, CutsForTheLeastTime) {
    // Expectation: p - 2 = 8 and n beta / alpha = 32 give q = sqrt(256) = 16; 9 + 15 rounds of 1 + 2 us.
    CollectiveCall const call = call_of(10, 32.0 * kB);
    EXPECT_EQ(segments_of(Collective::broadcast, "pipelined_chain", call), 16);
    EXPECT_NEAR(us_of(Collective::broadcast, "pipelined_chain", 10, 32.0 * kB), 72.0, 1e-9);
    // Expectation: adding makes a byte cost 1.25 ns, so q = sqrt(8 * 40) = 17.9: 18 with 26 rounds of 1 + 40/18 us.
    EXPECT_EQ(segments_of(Collective::reduce, "pipelined_chain", call), 18);
    EXPECT_NEAR(us_of(Collective::reduce, "pipelined_chain", 10, 32.0 * kB), 26.0 * (1.0 + 40.0 / 18.0), 1e-9);
}

TEST(PipelinedChain, TwoRanksGainNothingFromSegments) {
    EXPECT_EQ(segments_of(Collective::broadcast, "pipelined_chain", call_of(2, 1.0 * GB)), 1);
    EXPECT_NEAR(us_of(Collective::broadcast, "pipelined_chain", 2, 2.0 * kB), 3.0, 1e-9);
}

TEST(Segments, AreTheBestOfAllNumbers) {
    // Expectation: no other whole number makes (q + f)(alpha + h/q) less.
    for (double const fill : {1.0, 2.0, 7.0, 30.0}) {
        for (double const hop : {0.01, 0.3, 1.0, 2.0, 6.0, 11.9, 100.0, 777.0}) {
            auto const cost = [&](double q) { return (q + fill) * (1.0 + hop / q); };
            double const chosen = algorithms::best_segments(fill, 1.0 * MB, hop * us, 1.0 * us);
            for (int q = 1; q <= 400; ++q) { EXPECT_LE(cost(chosen), cost(q) * (1.0 + 1e-12)) << fill << " " << hop; }
        }
    }
}

TEST(Segments, AreBoundedWhereNothingElseBoundsThem) {
    EXPECT_EQ(algorithms::best_segments(4.0, 1.0 * TB, 1.0 * s, Seconds{}), algorithms::most_segments); // no alpha
    EXPECT_EQ(algorithms::best_segments(4.0, 9.5 * byte, 1.0 * s, Seconds{}), 9U); // none of less than a byte
    EXPECT_EQ(algorithms::best_segments(4.0, 0.0 * byte, Seconds{}, Seconds{}), 1U);
    EXPECT_EQ(algorithms::best_segments(4.0, 1.0 * GB, Seconds{}, 1.0 * us), 1U); // bytes cost nothing
    EXPECT_EQ(algorithms::best_segments(0.0, 1.0 * GB, 1.0 * s, 1.0 * us), 1U);   // nothing to fill
    EXPECT_EQ(algorithms::best_segments(4.0, 1.0 * GB, Seconds{INFINITY}, 1.0 * us), algorithms::most_segments);
}

TEST(Binomial, TakesARoundForEachDoubling) {
    // Expectation: 8 ranks take 3 rounds, 9 take 4.
    EXPECT_NEAR(us_of(Collective::broadcast, "binomial", 8, 2.0 * kB), 9.0, 1e-9);
    EXPECT_NEAR(us_of(Collective::broadcast, "binomial", 9, 2.0 * kB), 12.0, 1e-9);
    EXPECT_NEAR(us_of(Collective::reduce, "binomial", 9, 2.0 * kB), 14.0, 1e-9);
}

TEST(Binomial, TheRootSendsEveryOthersShardOnce) {
    // Expectation: of 6 shards of 1 kB the root sends 2, then 2, then 1: 5 us and 3 alpha. With 8 it is 4 + 2 + 1.
    EXPECT_NEAR(us_of(Collective::scatter, "binomial", 6, 6.0 * kB), 8.0, 1e-9);
    EXPECT_NEAR(us_of(Collective::gather, "binomial", 6, 6.0 * kB), 8.0, 1e-9);
    EXPECT_NEAR(us_of(Collective::scatter, "binomial", 8, 8.0 * kB), 10.0, 1e-9);
}

TEST(VanDeGeijn, ScattersThenGathers) {
    // Expectation: 8 ranks, 3 + 3 messages, 7/8 of 8 kB twice. 5 ranks: 3 + 3 messages too, 4/5 of 5 kB twice.
    EXPECT_NEAR(us_of(Collective::broadcast, "van_de_geijn", 8, 8.0 * kB), 20.0, 1e-9);
    EXPECT_NEAR(us_of(Collective::broadcast, "van_de_geijn", 5, 5.0 * kB), 14.0, 1e-9);
    // Expectation: the ring takes p - 1 messages where doubling takes 3.
    EXPECT_NEAR(us_of(Collective::broadcast, "scatter_ring", 8, 8.0 * kB), 24.0, 1e-9);
    EXPECT_NEAR(us_of(Collective::broadcast, "scatter_ring", 5, 5.0 * kB), 15.0, 1e-9);
}

TEST(RabenseifnerReduce, FoldsWhatIsNoPowerOfTwo) {
    // Expectation: 8 ranks, 2 lg p = 6 messages, 7/8 of 8 kB down and up, 7 kB added.
    CollectiveTime const even = time_of(Collective::reduce, "rabenseifner", 8, 8.0 * kB);
    EXPECT_NEAR(even.latency.in(us), 6.0, 1e-9);
    EXPECT_NEAR(even.bandwidth.in(us), 14.0, 1e-9);
    EXPECT_NEAR(even.reduction.in(us), 1.75, 1e-9);
    // Expectation: 6 ranks fold to 4 by one message of all 8 kB: 1 + 2 * 2 messages, 8 + 2 * 6 kB, 8 + 6 kB added.
    CollectiveTime const folded = time_of(Collective::reduce, "rabenseifner", 6, 8.0 * kB);
    EXPECT_NEAR(folded.latency.in(us), 5.0, 1e-9);
    EXPECT_NEAR(folded.bandwidth.in(us), 20.0, 1e-9);
    EXPECT_NEAR(folded.reduction.in(us), 3.5, 1e-9);
}

TEST(DoubleBinaryTree, CountsItsRounds) {
    // Expectation: 8 ranks are the root and two trees of 7, depth 2: the last segment is under way for 2 * 2 rounds
    // after it left. q = sqrt(4 * 16) = 8 at 16 kB: 12 rounds of 1 + 2 us.
    EXPECT_EQ(segments_of(Collective::broadcast, "double_binary_tree", call_of(8, 16.0 * kB)), 8);
    EXPECT_NEAR(us_of(Collective::broadcast, "double_binary_tree", 8, 16.0 * kB), 36.0, 1e-9);
    // Expectation: 6 ranks have trees of 5, where no leaf is late twice: 3 rounds. q = sqrt(3 * 12) = 6 at 12 kB.
    EXPECT_NEAR(us_of(Collective::broadcast, "double_binary_tree", 6, 12.0 * kB), 9.0 * 3.0, 1e-9);
    // Expectation: 2 ranks have nothing to fill and send once; 3 pass a short message on once more.
    EXPECT_NEAR(us_of(Collective::broadcast, "double_binary_tree", 2, 16.0 * kB), 17.0, 1e-9);
    EXPECT_NEAR(us_of(Collective::broadcast, "double_binary_tree", 3, 0.0 * kB), 2.0, 1e-9);
    // Expectation: 3 ranks, two segments of 1 kB: 0 to 1, 0 to 2, then 1 to 2, at last 2 to 1: 4 rounds.
    EXPECT_EQ(segments_of(Collective::broadcast, "double_binary_tree", call_of(3, 2.0 * kB)), 2);
    EXPECT_NEAR(us_of(Collective::broadcast, "double_binary_tree", 3, 2.0 * kB), 8.0, 1e-9);
}

TEST(DoubleBinaryTree, HasFullBandwidthAndALogarithm) {
    // Expectation: 1024 ranks at 100 GB, (q + 18)(alpha + n beta/q): all but n beta, and 2 n beta there and back.
    double const wire = 100.0 * GB / link.bandwidth / (1.0 * us);
    EXPECT_NEAR(us_of(Collective::broadcast, "double_binary_tree", 1024, 100.0 * GB) / wire, 1.0, 2e-3);
    EXPECT_NEAR(time_of(Collective::all_reduce, "double_binary_tree", 1024, 100.0 * GB).bandwidth.in(us) / wire, 2.0,
                4e-3);
    // Expectation: one short segment goes down 9 edges, 2 rounds each, after it left the root: 19 alpha; both ways 38.
    EXPECT_NEAR(us_of(Collective::broadcast, "double_binary_tree", 1024, 0.0 * byte), 19.0, 1e-9);
    EXPECT_NEAR(us_of(Collective::all_reduce, "double_binary_tree", 1024, 0.0 * byte), 38.0, 1e-9);
}

TEST(DoubleBinaryTree, IsItsScheduleForEveryNumberOfSegments) {
    // Expectation: n such that q comes near 1 to 9, for every p, so that all the cases of its count are met.
    for (auto const collective : {Collective::broadcast, Collective::reduce, Collective::all_reduce}) {
        CollectiveAlgorithm const& tree = row(collective, "double_binary_tree");
        for (int ranks = 1; ranks <= 140; ++ranks) {
            for (int segments = 1; segments <= 9; ++segments) {
                double const fill = 2.0 * std::log2(ranks + 1.0);
                CollectiveCall const call = call_of(ranks, segments * segments / fill * kB);
                double const simulated = simulate(*tree.schedule(call), call.layout, call.reduction).total().in(us);
                ASSERT_NEAR(tree.time(call).total().in(us), simulated, 1e-4)
                    << name_of(collective) << " " << ranks << " ranks, " << segments << " segments";
            }
        }
    }
}

TEST(InNetwork, GoesUpAndDownAtOnce) {
    // Expectation: a star, H = 1, q = sqrt(16) = 4 at 16 kB: 4 + 1 rounds of 1 + 4 us; adding costs nothing.
    for (auto const collective : {Collective::all_reduce, Collective::reduce, Collective::broadcast}) {
        CollectiveTime const time = time_of(collective, "in_network", 8, 16.0 * kB);
        EXPECT_NEAR(time.total().in(us), 25.0, 1e-9);
        EXPECT_EQ(time.reduction, Seconds{});
    }
    // Expectation: the 73rd rank makes a second level: 4 hops of latency in place of 2.
    EXPECT_NEAR(us_of(Collective::all_reduce, "in_network", 72, 0.0 * byte), 2.0, 1e-9);
    EXPECT_NEAR(us_of(Collective::all_reduce, "in_network", 73, 0.0 * byte), 4.0, 1e-9);
    // Expectation: nearly n beta, half of what ranks alone can do at the best.
    double const wire = 10.0 * GB / link.bandwidth / (1.0 * us);
    EXPECT_NEAR(us_of(Collective::all_reduce, "in_network", 72, 10.0 * GB) / wire, 1.0, 1e-3);
}

TEST(InNetwork, TreesOfSwitchesOfAnyRadixDoWhatTheyPromise) {
    for (auto const collective : {Collective::all_reduce, Collective::reduce, Collective::broadcast}) {
        for (int const radix : {2, 3, 4, 7}) {
            for (int ranks = 1; ranks <= 64; ++ranks) {
                CollectiveCall const call = call_of(ranks, 10.0 * kB);
                auto const schedule = algorithms::in_network_schedule(collective, call, radix);
                SCOPED_TRACE(std::to_string(ranks) + " ranks, radix " + std::to_string(radix));
                EXPECT_EQ(data_flow::fault_of(*schedule, collective, call.layout), "");
                EXPECT_NEAR(algorithms::in_network_time(call, radix).total().in(us),
                            simulate(*schedule, call.layout, gamma).total().in(us), 1e-4);
            }
        }
    }
}

/// Rank 0 sends to one participant, which adds.
class ToOne final : public MessageSchedule {
public:
    explicit ToOne(int adder) : adder_{adder} {}
    [[nodiscard]] int participants() const override { return 3; }
    [[nodiscard]] std::int64_t rounds() const override { return 1; }
    [[nodiscard]] std::uint32_t chunks() const override { return 1; }
    void write(std::int64_t /*index*/, Round& round) const override { round.send_on(0, 0, adder_, 4e3, {}, true); }

private:
    int adder_;
};

TEST(Simulation, SwitchesAddAtLineRate) {
    // Expectation: with 2 ranks participant 2 is a switch. The message takes 1 + 4 us, and another 1 us at a rank.
    Layout const layout = Layout::uniform(Ranks{2}, link);
    EXPECT_NEAR(simulate(ToOne{1}, layout, gamma).total().in(us), 6.0, 1e-9);
    EXPECT_NEAR(simulate(ToOne{1}, layout, gamma).parts.reduction.in(us), 1.0, 1e-9);
    EXPECT_NEAR(simulate(ToOne{2}, layout, gamma).total().in(us), 5.0, 1e-9);
    EXPECT_EQ(simulate(ToOne{2}, layout, gamma).parts.reduction, Seconds{});
}

TEST(EveryRow, NothingIsSentWhereThereIsOneRank) {
    for (CollectiveAlgorithm const& one : collective_algorithms()) {
        EXPECT_EQ(one.time(call_of(1, 1.0 * GB)).total(), Seconds{}) << name_of(one.collective) << " by " << one.name;
    }
}

TEST(EveryRow, AnEmptyVectorCostsOnlyLatency) {
    for (CollectiveAlgorithm const& one : collective_algorithms()) {
        CollectiveCall const call = call_of(13, 0.0 * byte);
        if (!has_closed_form(one, call.layout)) { continue; }
        CollectiveTime const time = one.time(call);
        EXPECT_GT(time.latency, Seconds{}) << name_of(one.collective) << " by " << one.name;
        EXPECT_EQ(time.bandwidth + time.reduction, Seconds{}) << name_of(one.collective) << " by " << one.name;
    }
}

TEST(EveryRow, ABillionRanksAreCounted) {
    // Expectation: closed forms, so a billion ranks take no longer to ask about than eight, and no count overflows.
    for (CollectiveAlgorithm const& one : collective_algorithms()) {
        for (int const ranks : {1'000'000'000, 1 << 30, 2'147'483'647}) {
            CollectiveCall const call = call_of(ranks, 1.0 * GB);
            if (!has_closed_form(one, call.layout)) { continue; }
            double const time = one.time(call).total().base();
            bool const switches = one.arrangement == Arrangement::in_network;
            EXPECT_TRUE(std::isfinite(time)) << name_of(one.collective) << " by " << one.name;
            EXPECT_GE(time * (1.0 + 1e-12), lower_bound(one.collective, call, switches).total().base())
                << name_of(one.collective) << " by " << one.name;
        }
    }
    // Expectation: 2^30 ranks double 30 times; their two trees have depth 29.
    EXPECT_NEAR(us_of(Collective::broadcast, "binomial", 1 << 30, 0.0 * byte), 30.0, 1e-9);
    EXPECT_NEAR(us_of(Collective::broadcast, "double_binary_tree", 1 << 30, 0.0 * byte), 59.0, 1e-9);
    EXPECT_NEAR(us_of(Collective::broadcast, "flat", 1'000'000'001, 0.0 * byte), 1e9, 1e-3);
}

TEST(EveryRow, LinksWithoutLatencyAreCutNoFinerThanThereIsUse) {
    // Expectation: with alpha zero the closed form is finite and still its own schedule.
    Layout const layout = Layout::uniform(Ranks{7}, {.latency = {}, .bandwidth = 1.0 * GB / s});
    CollectiveCall const call{.size = {300.0 * byte}, .layout = layout, .reduction = gamma};
    for (CollectiveAlgorithm const& one : collective_algorithms()) {
        if (!has_closed_form(one, layout)) { continue; }
        SimulatedCollective const simulated = simulate(*one.schedule(call), layout, gamma);
        double const rounding = 1e-12 * static_cast<double>(simulated.critical_messages + 1);
        EXPECT_NEAR(one.time(call).total().base(), simulated.total().base(), rounding)
            << name_of(one.collective) << " by " << one.name;
    }
}

} // namespace
} // namespace headroom
