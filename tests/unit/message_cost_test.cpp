#include "support/shifts.hpp"

#include "headroom/error.hpp"
#include "headroom/network/collective_algorithm.hpp"
#include "headroom/network/message_cost.hpp"

#include <gtest/gtest.h>

#include <array>

namespace headroom {

using namespace headroom::network;

namespace {

using namespace units;

Link const link{.latency = 3.1 * us, .bandwidth = 47.3 * GB / s};
LogGp const loggp{.latency = 2.5 * us, .overhead = 1.5 * us, .gap = 1.0 * us, .gap_byte = SecondsPerByte{6e-9}};

Layout ranks(int p) { return Layout::uniform(Ranks{p}, link); }
double us_of(SimulatedCollective const& simulated) { return simulated.total().in(us); }
double run(MessageSchedule const& schedule, MessageCost const& cost, Symmetry symmetry = Symmetry::used) {
    return us_of(simulate(schedule, ranks(schedule.participants()), {&cost, 1}, {}, symmetry));
}

/// Expectation: a message of n bytes takes o + (n-1) G + L + o, and the answer as long again.
TEST(LogGpCost, PingPongIsTheTextbooks) {
    for (double const n : {1.0, 8.0, 1000.0, 1e6}) {
        test::Written const there_and_back{2, {{{0, 1, n}}, {{1, 0, n}}}};
        double const one_way = 1.5 + (n - 1.0) * 6e-3 + 2.5 + 1.5;
        EXPECT_NEAR(run(there_and_back, loggp), 2.0 * one_way, 1e-6 * one_way) << n;
    }
}

/// Expectation: of p - 1 messages from one sender the last leaves after p - 2 gaps of g + (n-1) G, not after whole trips.
TEST(LogGpCost, OneSenderPaysTheGapBetweenMessages) {
    double const n = 1000.0, gap = 1.0 + 999.0 * 6e-3, one_way = 1.5 + 999.0 * 6e-3 + 2.5 + 1.5;
    test::Written const fan{5, {{{0, 1, n}}, {{0, 2, n}}, {{0, 3, n}}, {{0, 4, n}}}};
    EXPECT_NEAR(run(fan, loggp), 3.0 * gap + one_way, 1e-6);
    // of short messages the processor is what is busy: o > g
    test::Written const shorts{5, {{{0, 1, 1.0}}, {{0, 2, 1.0}}, {{0, 3, 1.0}}, {{0, 4, 1.0}}}};
    EXPECT_NEAR(run(shorts, loggp), 3.0 * 1.5 + 1.5 + 2.5 + 1.5, 1e-6);
}

/// Expectation: down a binomial tree of 2^d ranks each level costs a whole trip on the longest way, since a trip is longer
/// than the gap after which the sender goes on.
TEST(LogGpCost, BinomialBroadcastIsATripALevel) {
    for (int const depth : {1, 2, 3, 6}) {
        for (double const n : {1.0, 5000.0}) {
            double const one_way = 1.5 + (n - 1.0) * 6e-3 + 2.5 + 1.5;
            EXPECT_NEAR(run(test::binomial(1 << depth, n), loggp), depth * one_way, 1e-6 * depth * one_way);
        }
    }
}

/// With a network whose gap is longer than a trip, the root is what is waited for: d - 1 gaps, then a trip.
TEST(LogGpCost, BinomialBroadcastWaitsForTheRootWhereTheGapIsLong) {
    LogGp slow = loggp;
    slow.gap = 20.0 * us;
    EXPECT_NEAR(run(test::binomial(16, 1.0), slow), 3.0 * 20.0 + 1.5 + 2.5 + 1.5, 1e-6);
}

/// Expectation: each step of a ring is a trip, and followed for one rank it is what all ranks come to.
TEST(LogGpCost, RingIsATripAStep) {
    for (CollectiveAlgorithm const& row : collective_algorithms()) {
        if (row.name != "ring" || row.collective != Collective::all_gather) { continue; }
        for (int const p : {2, 3, 8, 13}) {
            auto const schedule = row.schedule({.size = {1.0 * MB}, .layout = ranks(p)});
            double const n = 1e6 / p, one_way = 1.5 + (n - 1.0) * 6e-3 + 2.5 + 1.5;
            EXPECT_NEAR(run(*schedule, loggp, Symmetry::ignored), (p - 1) * one_way, 1e-6 * p);
            EXPECT_EQ(run(*schedule, loggp, Symmetry::used), run(*schedule, loggp, Symmetry::ignored));
        }
    }
}

/// Expectation: above S a message asks and is answered first, 2 (L + 2 o), and does not begin before its receiver.
TEST(LogGpCost, LongMessagesAskFirst) {
    LogGp asks = loggp;
    asks.rendezvous = 100.0 * byte;
    EXPECT_NEAR(run(test::Written{2, {{{0, 1, 101.0}}}}, asks), 2.0 * 5.5 + 5.5 + 100 * 6e-3, 1e-6);
    EXPECT_NEAR(run(test::Written{2, {{{0, 1, 100.0}}}}, asks), 5.5 + 99 * 6e-3, 1e-6);
    // rank 1 is late by a message from rank 2: eager data waits for it, a rendezvous begins then
    test::Written const late{3, {{{2, 1, 100.0}}, {{0, 1, 101.0}}}};
    EXPECT_NEAR(run(late, asks), 5.5 + 99 * 6e-3 + 11.0 + 5.5 + 100 * 6e-3, 1e-6);
    EXPECT_NEAR(run(late, loggp), 5.5 + 99 * 6e-3 + 1.5, 1e-6) << "only taking it in comes after the first";
}

/// Every row of the table, with and without the short cut, on one level and on two.
TEST(AlphaBetaCost, IsThePlainSimulationToThePicosecond) {
    Link const slow{.latency = 11.7 * us, .bandwidth = 9.1 * GB / s};
    for (CollectiveAlgorithm const& row : collective_algorithms()) {
        for (int const p : {1, 2, 3, 7, 12, 16}) {
            for (int const domain : {p, 4}) {
                Layout const layout = Layout::of(Group{.size = p, .per_domain = std::min(domain, p)}, link, slow);
                CollectiveCall const call{.size = {3.3 * MB}, .layout = layout};
                if (row.takes != nullptr && !row.takes(layout)) { continue; }
                auto const schedule = row.schedule(call);
                std::vector<MessageCost> costs;
                for (int i = 0; i < layout.levels; ++i) {
                    costs.emplace_back(layout.level[static_cast<std::size_t>(i)].link);
                }
                for (Symmetry const symmetry : {Symmetry::used, Symmetry::ignored}) {
                    SecondsPerByte const gamma{1.7e-12};
                    auto const plain = simulate(*schedule, layout, gamma, symmetry);
                    auto const priced = simulate(*schedule, layout, costs, gamma, symmetry);
                    EXPECT_EQ(priced.picoseconds, plain.picoseconds) << row.name << " " << p;
                    EXPECT_EQ(priced.messages, plain.messages);
                    EXPECT_NEAR(priced.parts.total().base(), plain.parts.total().base(), 1e-15);
                }
            }
        }
    }
}

Protocols const library{.protocols = {{.name = "LL", .link = {.latency = 2.0 * us, .bandwidth = 10.0 * GB / s}},
                                      {.name = "LL128", .link = {.latency = 4.0 * us, .bandwidth = 36.0 * GB / s}},
                                      {.name = "Simple", .link = {.latency = 14.0 * us, .bandwidth = 40.0 * GB / s}}}};

/// Expectation: lines cross at (4 - 2) us / (1/10 - 1/36) ns = 27.7 KB and at 10 us / (1/36 - 1/40) ns = 3.6 MB.
TEST(ProtocolCost, TheCheapestIsTaken) {
    EXPECT_EQ(library.taken(27.6 * kB).name, "LL");
    EXPECT_EQ(library.taken(27.8 * kB).name, "LL128");
    EXPECT_EQ(library.taken(3.59 * MB).name, "LL128");
    EXPECT_EQ(library.taken(3.61 * MB).name, "Simple");
    EXPECT_NEAR(MessageCost{library}.times(40.0 * MB).transit().in(us), 14.0 + 1000.0, 1e-9);
    EXPECT_NEAR(run(test::Written{2, {{{0, 1, 1000.0}}}}, library), 2.1, 1e-6);
}

TEST(ProtocolCost, SwitchPointsAreObeyedEvenWhereTheyAreDear) {
    Protocols given = library;
    given.choice = ProtocolChoice::switch_points;
    given.protocols[1].from = 64.0 * kB;
    given.protocols[2].from = 1.0 * MB;
    EXPECT_EQ(given.taken(63.9 * kB).name, "LL");
    EXPECT_EQ(given.taken(64.0 * kB).name, "LL128");
    EXPECT_EQ(given.taken(1.0 * MB).name, "Simple");
    given.protocols[2].from = 1.0 * kB;
    EXPECT_THROW(MessageCost{given}, InputError);
    EXPECT_THROW(MessageCost{Protocols{}}, InputError);
}

/// Expectation: an eager sender is through after its bytes have left (100 us) while they are still under way; a rendezvous
/// holds both for handshake, latency and bytes.
TEST(EagerRendezvousCost, OnlyLargeMessagesWaitForTheReceiver) {
    EagerRendezvous const model{
        .link = {.latency = 10.0 * us, .bandwidth = 1.0 * GB / s}, .threshold = 100.0 * kB, .handshake = 7.0 * us};
    EXPECT_NEAR(run(test::Written{3, {{{0, 1, 1e5}}, {{0, 2, 1e5}}}}, model), 100.0 + 110.0, 1e-6);
    EXPECT_NEAR(run(test::Written{3, {{{0, 1, 1.01e5}}, {{0, 2, 1.01e5}}}}, model), 2 * 118.0, 1e-6);
}

/// A message that arrives early waits until its receiver comes to it; only then is it added.
TEST(EagerRendezvousCost, AddingWaitsForTheReceiver) {
    EagerRendezvous const model{
        .link = {.latency = 10.0 * us, .bandwidth = 1.0 * GB / s}, .threshold = 1.0 * MB, .handshake = {}};
    test::Written const late{3, {{{2, 1, 5e5}}, {{0, 1, 1e5, true}}}};
    MessageCost const cost{model};
    auto const result = simulate(late, ranks(3), {&cost, 1}, SecondsPerByte{1e-9});
    EXPECT_NEAR(us_of(result), 510.0 + 100.0, 1e-6);
}

TEST(MessageCosts, AreOneForAllLevelsOrOneForEach) {
    std::array<MessageCost, 2> const two{link, link};
    EXPECT_THROW(simulate(test::Shifts{4, 1.0}, ranks(4), two), InputError);
    EXPECT_THROW(simulate(test::Shifts{4, 1.0}, ranks(4), std::span<MessageCost const>{}), InputError);
}

/// Expectation: messages that picoseconds can count one by one, and not one after the other, are refused and not wrapped
/// round; two of them fit, three do not, whoever waits for whom.
TEST(Simulation, RefusesSumsThatPicosecondsCannotCount) {
    double const n = 1.9e6; // seconds at a byte a second; 4e6 are counted
    Link const slow{.latency = {}, .bandwidth = 1.0 * byte / s};
    MessageCost const cost{slow};
    test::Written const fits{2, {{{0, 1, n}}, {{1, 0, n}}}};
    test::Written const there{2, {{{0, 1, n}}, {{1, 0, n}}, {{0, 1, n}}}};
    test::Shifts const round{8, n};
    Layout const two = Layout::uniform(Ranks{2}, slow), eight = Layout::uniform(Ranks{8}, slow);
    EXPECT_EQ(simulate(fits, two).picoseconds, 3'800'000'000'000'000'000);
    EXPECT_THROW(simulate(there, two), InputError);
    EXPECT_THROW(simulate(there, two, {&cost, 1}), InputError);
    for (Symmetry const symmetry : {Symmetry::used, Symmetry::ignored}) {
        EXPECT_THROW(simulate(round, eight, {}, symmetry), InputError);
        EXPECT_THROW(simulate(round, eight, {&cost, 1}, {}, symmetry), InputError);
    }
}

/// Expectation: the same of a message and the adding of it.
TEST(Simulation, RefusesATransferAndAnAdditionThatTogetherAreTooLong) {
    Link const slow{.latency = {}, .bandwidth = 1.0 * byte / s};
    MessageCost const cost{slow};
    SecondsPerByte const adding{1.0};
    test::Written const adds{2, {{{0, 1, 3.9e6, true}}, {{1, 0, 3.9e6, true}}}};
    EXPECT_THROW(simulate(adds, Layout::uniform(Ranks{2}, slow), adding), InputError);
    EXPECT_THROW(simulate(adds, Layout::uniform(Ranks{2}, slow), {&cost, 1}, adding), InputError);
}

} // namespace
} // namespace headroom
