#include "support/measured_collectives.hpp"

#include "headroom/fit/communication_fit_answer.hpp"
#include "headroom/network/collective_algorithm.hpp"
#include "headroom/network/library_collectives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace headroom::fit {

using namespace headroom::network;

namespace {

using headroom::test::measured;
using ::testing::HasSubstr;

/// Times of a library's algorithm, exactly.
std::vector<MeasuredCollective> by_closed_form(Collective collective, std::string const& algorithm, int ranks,
                                               int nodes, Fabric fabric) {
    std::vector<MeasuredCollective> rows;
    Group const group{.size = ranks, .per_domain = ranks / nodes};
    for (double bytes = 1024; bytes < 1e10; bytes *= 4.0) {
        for (LibraryAlgorithm const& row : library_algorithms()) {
            if (row.collective != collective || row.name != algorithm) { continue; }
            MeasuredCollective one;
            one.system = "made up";
            one.collective = collective;
            one.algorithm = algorithm;
            one.ranks = ranks;
            one.nodes = nodes;
            one.size = {Bytes{bytes}};
            one.time = row.time(one.size, group, fabric).total();
            rows.push_back(one);
        }
    }
    return rows;
}

void append(std::vector<MeasuredCollective>& rows, std::vector<MeasuredCollective> const& more) {
    rows.insert(rows.end(), more.begin(), more.end());
}

// T = 10 us + n / (1 GB/s) exactly: one segment, nothing left over.
TEST(CommunicationFit, OneProtocolIsOneSegment) {
    auto const fits = fit_communication(measured({{0.0, 1e-5, 1e-9}}, 64.0, 20, 0.0, 1));
    ASSERT_EQ(fits.fits.size(), 1U);
    CommunicationFit const& fit = fits.fits.front();
    ASSERT_EQ(fit.segments.size(), 1U);
    EXPECT_NEAR(fit.segments[0].alpha_seconds.value, 1e-5, 1e-14);
    EXPECT_NEAR(fit.segments[0].beta_seconds_per_byte.value, 1e-9, 1e-18);
    EXPECT_NEAR(fit.bus_bandwidth()->base(), 1.75e9, 1.0); // 2 x 7/8 of a byte for each of an all-reduce over 8
    EXPECT_TRUE(fit.remarks.empty());
    EXPECT_FALSE(fit.dip.has_value());
}

// Eager below 64 KiB at 10 us + n / (1 GB/s); above it a handshake costs 80 us and bytes go at 10 GB/s. At 64 KiB the
// first would take 75.5 us, the second 86.6: the time jumps, between the sizes 32 and 64 KiB.
TEST(CommunicationFit, AForcedSwitchIsAJumpBetweenTwoSizes) {
    auto const fits = fit_communication(measured({{0.0, 1e-5, 1e-9}, {65536.0, 2.8e-4, 1e-10}}, 64.0, 24, 0.0, 1));
    CommunicationFit const& fit = fits.fits.front();
    ASSERT_EQ(fit.segments.size(), 2U);
    ASSERT_EQ(fit.switches.size(), 1U);
    EXPECT_TRUE(fit.switches[0].jumps);
    EXPECT_EQ(fit.switches[0].bytes.low, 32768.0);
    EXPECT_EQ(fit.switches[0].bytes.high, 65536.0);
    EXPECT_NEAR(fit.segments[1].alpha_seconds.value, 2.8e-4, 1e-10);
}

// Two protocols that a library chooses between: it takes the cheaper, so their lines meet where it switches.
TEST(CommunicationFit, AChosenSwitchIsWhereTheLinesMeet) {
    std::vector<MeasuredCollective> rows = measured({{0.0, 1e-5, 1e-9}}, 64.0, 24, 0.0, 1);
    for (MeasuredCollective& row : rows) {
        row.time = std::min(row.time, Seconds{1e-4 + row.size.size.base() * 1e-10}); // meet at 100 kB
    }
    CommunicationFit const fit = fit_communication(rows).fits.front();
    ASSERT_EQ(fit.segments.size(), 2U);
    EXPECT_FALSE(fit.switches[0].jumps);
    EXPECT_NEAR(fit.switches[0].bytes.value, 1e5, 2.0);
}

// At 512 KiB 534 us, 982 MB/s; at 1 MiB 2105 us, 498 MB/s: 49 % less.
TEST(CommunicationFit, AFallOfBandwidthIsNamed) {
    auto const fits = fit_communication(measured({{0.0, 1e-5, 1e-9}, {1048576.0, 2e-3, 1e-10}}, 64.0, 22, 0.0, 1));
    CommunicationFit const& fit = fits.fits.front();
    ASSERT_TRUE(fit.dip.has_value());
    EXPECT_EQ(fit.dip->from, Bytes{524288.0});
    EXPECT_EQ(fit.dip->to, Bytes{1048576.0});
    EXPECT_TRUE(fit.dip->ends);
    ASSERT_FALSE(fit.remarks.empty());
    EXPECT_THAT(words_of(fit, fit.remarks.front()), HasSubstr("bandwidth falls by 49 % from 512 KiB to 1 MiB"));
}

TEST(CommunicationFit, GroupsAreKeptApartAndSmallOnesSkipped) {
    auto rows = measured({{0.0, 1e-5, 1e-9}}, 64.0, 8, 0.0, 1);
    auto other = measured({{0.0, 2e-5, 1e-9}}, 64.0, 2, 0.0, 1);
    for (MeasuredCollective& row : other) { row.ranks = 16; }
    append(rows, other);
    auto const fits = fit_communication(rows);
    ASSERT_EQ(fits.fits.size(), 1U);
    ASSERT_EQ(fits.skipped.size(), 1U);
    EXPECT_EQ(fits.skipped[0].ranks, 16);
    EXPECT_EQ(fits.skipped[0].sizes, 2U);
    EXPECT_EQ(words_of(fits.skipped[0]), "fewer than 3 sizes");
}

TEST(CommunicationFit, RowsWithoutATimeArePassedOver) {
    auto rows = measured({{0.0, 1e-5, 1e-9}}, 64.0, 8, 0.0, 1);
    rows[3].time = Seconds{};
    rows[4].time = Seconds{-1.0};
    rows[5].time = Seconds{std::numeric_limits<double>::quiet_NaN()};
    auto const fits = fit_communication(rows);
    EXPECT_EQ(fits.fits.front().residuals.size(), 5U);
    EXPECT_TRUE(fit_communication({}).fits.empty());
}

// Rings over 2, 4 and 8 ranks of one link, and an all-gather: every row is 2(p-1) alpha + 2(p-1)/p n beta, or half.
TEST(CommunicationFit, OneLinkExplainsSeveralGroups) {
    Fabric const fabric{{Seconds{3e-6}, BytesPerSecond{4e11}}, {Seconds{9e-6}, BytesPerSecond{5e10}}};
    std::vector<MeasuredCollective> rows;
    for (int const ranks : {2, 4, 8}) {
        append(rows, by_closed_form(Collective::all_reduce, "ring", ranks, 1, fabric));
    }
    append(rows, by_closed_form(Collective::all_gather, "ring", 8, 1, fabric));
    auto const fits = fit_communication(rows);
    ASSERT_EQ(fits.levels.size(), 1U);
    FittedLevel const& level = fits.levels.front();
    EXPECT_FALSE(level.scale_out);
    EXPECT_NEAR(level.latency_seconds.value, 3e-6, 3e-12);
    EXPECT_NEAR(level.bytes_per_second.value, 4e11, 4e5);
    EXPECT_LT(level.median_relative_error, 1e-6);
    for (Contention const& one : level.contention) { EXPECT_NEAR(one.factor.value, 1.0, 1e-6); }
}

// Inside a node first, then between nodes given that: a hierarchical ring on 2 and on 4 nodes.
TEST(CommunicationFit, LevelsAreToldApart) {
    Fabric const fabric{{Seconds{3e-6}, BytesPerSecond{4e11}}, {Seconds{9e-6}, BytesPerSecond{5e10}}};
    auto rows = by_closed_form(Collective::all_reduce, "ring", 8, 1, fabric);
    append(rows, by_closed_form(Collective::all_reduce, "hierarchical_ring", 16, 2, fabric));
    append(rows, by_closed_form(Collective::all_reduce, "hierarchical_ring", 32, 4, fabric));
    auto const fits = fit_communication(rows);
    ASSERT_EQ(fits.levels.size(), 2U);
    EXPECT_TRUE(fits.levels[1].scale_out);
    EXPECT_NEAR(fits.levels[1].latency_seconds.value, 9e-6, 1e-10);
    EXPECT_NEAR(fits.levels[1].bytes_per_second.value, 5e10, 5e6);
}

/// Times as predictions price them: by the fastest algorithm of the library.
std::vector<MeasuredCollective> priced(Collective collective, int ranks, int nodes, Fabric fabric) {
    std::vector<MeasuredCollective> rows;
    for (double bytes = 1024; bytes < 1e10; bytes *= 4.0) {
        MeasuredCollective one;
        one.system = "made up";
        one.collective = collective;
        one.ranks = ranks;
        one.nodes = nodes;
        one.size = {Bytes{bytes}};
        one.time = fastest(collective, one.size, {.size = ranks, .per_domain = ranks / nodes}, fabric).time.total();
        rows.push_back(one);
    }
    return rows;
}

// MPI chooses among more algorithms than rings and trees: 2, 4 and 8 ranks of one link, each size by the fastest form.
TEST(CommunicationFit, FitsByTheFormsOfAllAlgorithmsWhereTheyAreFollowed) {
    Link const inside{Seconds{5e-6}, BytesPerSecond{4e11}}, across{Seconds{9e-6}, BytesPerSecond{2.5e10}};
    std::vector<MeasuredCollective> rows;
    for (auto const& [ranks, nodes] : {std::pair{2, 1}, {4, 1}, {8, 1}, {16, 2}, {32, 4}, {64, 8}}) {
        for (MeasuredCollective one : priced(Collective::all_reduce, ranks, nodes, {inside, across})) {
            CollectiveCall const call{
                .size = one.size, .layout = Layout::of({.size = ranks, .per_domain = ranks / nodes}, inside, across)};
            for (CollectiveAlgorithm const& row : collective_algorithms()) {
                bool const fits = row.arrangement == Arrangement::flat ||
                                  (row.arrangement == Arrangement::levels && call.layout.levels > 1);
                if (row.collective == Collective::all_reduce && fits && has_closed_form(row, call.layout)) {
                    one.time = std::min(one.time, row.time(call).total());
                }
            }
            rows.push_back(one);
        }
    }
    auto const fits = fit_communication(rows);
    ASSERT_EQ(fits.levels.size(), 2U);
    EXPECT_NEAR(fits.levels[0].latency_seconds.value, 5e-6, 5e-8);
    EXPECT_NEAR(fits.levels[0].bytes_per_second.value, 4e11, 4e9);
    EXPECT_NEAR(fits.levels[1].latency_seconds.value, 9e-6, 9e-8);
    EXPECT_NEAR(fits.levels[1].bytes_per_second.value, 2.5e10, 2.5e8);
    EXPECT_THAT(words_of(fits.levels[0].notes.front()), HasSubstr("fastest of all algorithms"));
}

struct Priced {
    Fabric fabric;
    int per_node;
};

// A log made of prices gives back the constants that it was priced with.
TEST(CommunicationFit, FitsByTheFormsOfPredictions) {
    for (Priced const& one : {
             Priced{{{Seconds{3e-6}, BytesPerSecond{4e11}}, {Seconds{9e-6}, BytesPerSecond{2.5e10}}}, 8},
             Priced{{{Seconds{1.9e-6}, BytesPerSecond{2.3e11}}, {Seconds{4e-6}, BytesPerSecond{1.9e10}}}, 8},
             Priced{{{Seconds{6e-6}, BytesPerSecond{1.2e10}}, {Seconds{2e-5}, BytesPerSecond{1.25e9}}}, 4},
             Priced{{{Seconds{2e-6}, BytesPerSecond{5e10}}, {Seconds{1.4e-5}, BytesPerSecond{3e9}}}, 2},
         }) {
        for (Collective const collective :
             {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter}) {
            std::vector<MeasuredCollective> rows;
            for (int const nodes : {1, 2, 4}) {
                append(rows, priced(collective, nodes * one.per_node, nodes, one.fabric));
            }
            auto const fits = fit_communication(rows);
            std::string const what = std::string{name_of(collective)} + format(one.fabric.scale_up.bandwidth);
            ASSERT_EQ(fits.levels.size(), 2U) << what;
            auto const near = [&what](Fitted const& fitted, double value) {
                EXPECT_NEAR(fitted.value, value, 0.01 * value) << what;
            };
            near(fits.levels[0].latency_seconds, one.fabric.scale_up.latency.base());
            near(fits.levels[0].bytes_per_second, one.fabric.scale_up.bandwidth.base());
            near(fits.levels[1].latency_seconds, one.fabric.scale_out.latency.base());
            near(fits.levels[1].bytes_per_second, one.fabric.scale_out.bandwidth.base());
        }
    }
}

KnownLinks dgx_h100() {
    return {.machine = "dgx-h100",
            .domain = 8,
            .scale_up = {Seconds{3e-6}, BytesPerSecond{4e11}},
            .most_inside = BytesPerSecond{9e11},
            .most_between = BytesPerSecond{5e10}};
}

TEST(CommunicationFit, NameplatesOfMachines) {
    Cluster cards;
    cards.scale_up.bandwidth = BytesPerSecond{6.3e10};
    cards.scale_out.bandwidth = BytesPerSecond{2.5e10};
    cards.host.bandwidth = BytesPerSecond{6e10};
    cards.scale_up_service.wire = Wire::pcie;
    EXPECT_EQ(known_links(cards, {}, false).most_inside.base(), 0.0) << "cards may be bridged";
    EXPECT_EQ(known_links(cards, {}, true).most_inside.base(), 6.3e10);
    EXPECT_EQ(known_links(cards, {}, false).most_between.base(), 6e10) << "other NICs, behind the same bus";
    EXPECT_EQ(known_links(cards, {}, true).most_between.base(), 2.5e10);
    cards.scale_up_service.wire = Wire::nvls_switch;
    EXPECT_EQ(known_links(cards, {}, false).most_inside.base(), 12.6e10) << "switches that add";
}

// Two nodes as fast as one: the remainder for the network would be a rate that no NIC has.
TEST(CommunicationFit, RefusesARateAboveTheNameplate) {
    Fabric const fabric{{Seconds{3e-6}, BytesPerSecond{4e11}}, {Seconds{3e-6}, BytesPerSecond{6.77e11}}};
    auto rows = priced(Collective::all_reduce, 8, 1, fabric);
    append(rows, priced(Collective::all_reduce, 16, 2, fabric));
    auto const known = fit_communication(rows, {.known = [](std::string const&) { return std::optional{dgx_h100()}; }});
    ASSERT_EQ(known.levels.size(), 1U);
    EXPECT_FALSE(known.levels[0].scale_out);
    ASSERT_EQ(known.refused.size(), 1U);
    EXPECT_EQ(words_of(known.refused[0]),
              "677 GB/s an accelerator is above the 50 GB/s that its NIC carries in dgx-h100; "
              "the times are nearly those inside a node: check --nodes");
    auto const unknown = fit_communication(rows);
    ASSERT_EQ(unknown.refused.size(), 1U) << "no NIC carries as much";
    EXPECT_THAT(words_of(unknown.refused[0]), HasSubstr("above the 100 GB/s that any NIC carries"));

    KnownLinks slow = dgx_h100();
    slow.most_inside = BytesPerSecond{2e11};
    auto const inside = fit_communication(rows, {.known = [&](std::string const&) { return std::optional{slow}; }});
    ASSERT_FALSE(inside.refused.empty());
    EXPECT_THAT(words_of(inside.refused[0]), HasSubstr("above the 200 GB/s of the link in dgx-h100"));

    KnownLinks rack = dgx_h100(); // hosts of one NVLink domain
    rack.domain = 72;
    auto const domain = fit_communication(rows, {.known = [&](std::string const&) { return std::optional{rack}; }});
    EXPECT_TRUE(domain.refused.empty());
}

// Between nodes given the link inside one that the catalog knows; without it the cost inside is counted between nodes.
TEST(CommunicationFit, TwoNodesAloneTakeTheKnownLinkInside) {
    Fabric const fabric{dgx_h100().scale_up, {Seconds{9e-6}, BytesPerSecond{2.5e10}}};
    auto const rows = priced(Collective::all_reduce, 16, 2, fabric);
    auto const fits = fit_communication(rows, {.known = [](std::string const&) { return std::optional{dgx_h100()}; }});
    ASSERT_EQ(fits.levels.size(), 1U);
    EXPECT_TRUE(fits.levels[0].scale_out);
    EXPECT_NEAR(fits.levels[0].bytes_per_second.value, 2.5e10, 2.5e8);
    EXPECT_NEAR(fits.levels[0].latency_seconds.value, 9e-6, 9e-8);
    EXPECT_THAT(words_of(fits.levels[0].notes.back()), HasSubstr("that of dgx-h100 in the catalog"));
    auto const blind = fit_communication(rows);
    ASSERT_EQ(blind.levels.size(), 1U);
    EXPECT_LT(blind.levels[0].bytes_per_second.value, 2.5e10);
    EXPECT_THAT(words_of(blind.levels[0].notes.back()), HasSubstr("counted between nodes"));
}

// A switch that lets bytes of rings take 1.5 times as long as those of one message.
TEST(CommunicationFit, ContentionIsAFactorOverTheLinkAlone) {
    Fabric const link{{Seconds{1e-6}, BytesPerSecond{1e12}}, {Seconds{1e-4}, BytesPerSecond{1e8}}};
    auto rows = by_closed_form(Collective::point_to_point, "send", 2, 2, link);
    Fabric slow = link;
    slow.scale_out.bandwidth = link.scale_out.bandwidth / 1.5;
    append(rows, by_closed_form(Collective::all_reduce, "ring", 8, 8, slow));
    auto const fits = fit_communication(rows);
    ASSERT_EQ(fits.levels.size(), 1U);
    FittedLevel const& level = fits.levels.front();
    ASSERT_TRUE(level.reference.has_value());
    EXPECT_EQ(fits.fits[*level.reference].collective, Collective::point_to_point);
    auto const ring = std::ranges::find_if(level.contention, [&](Contention const& one) {
        return fits.fits[one.fit].collective == Collective::all_reduce;
    });
    ASSERT_NE(ring, level.contention.end());
    EXPECT_NEAR(ring->factor.value, 1.5, 0.02);
    ASSERT_FALSE(level.notes.empty());
    EXPECT_THAT(words_of(level.notes.front()), HasSubstr("all_reduce ring on 8 ranks: a byte takes 15"));
}

// With few rows nothing shows which one is bad; a line through two of three is not called exact.
TEST(CommunicationFit, FewRowsHaveWideIntervals) {
    auto const fit = fit_communication(measured({{0.0, 1e-5, 1e-9}}, 65536.0, 3, 0.0, 1)).fits.front();
    ASSERT_EQ(fit.segments.size(), 1U);
    EXPECT_GT(fit.segments[0].alpha_seconds.high, 1.05e-5);
    EXPECT_LT(fit.segments[0].alpha_seconds.low, 0.95e-5);
}

// A hundred runs of each size, 60,000 rows in all: the same constants, in no time.
TEST(CommunicationFit, ManyRepeatsAreThinned) {
    std::vector<MeasuredCollective> rows;
    for (unsigned run = 0; run < 200; ++run) {
        append(rows, measured({{0.0, 1e-5, 1e-9}, {65536.0, 2.8e-4, 1e-10}}, 8.0, 30, 0.05, run));
    }
    CommunicationFit const fit = fit_communication(rows).fits.front();
    EXPECT_EQ(fit.residuals.size(), rows.size());
    EXPECT_NEAR(fit.segments.front().alpha_seconds.value, 1e-5, 2e-7);
    EXPECT_NEAR(fit.segments.back().beta_seconds_per_byte.value, 1e-10, 2e-12);
}

// Two runs of the same sizes, one at half the speed: the fit between them is of neither, and both figures are named.
TEST(CommunicationFit, RunsThatDisagreeAreNamed) {
    auto rows = measured({{0.0, 1e-5, 1e-9}}, 1024.0, 11, 0.0, 1);
    append(rows, measured({{0.0, 2e-5, 2e-9}}, 1024.0, 11, 0.0, 1));
    CommunicationFit const fit = fit_communication(rows).fits.front();
    ASSERT_TRUE(fit.spread.has_value());
    EXPECT_EQ(fit.spread->size.base(), 1048576.0);
    EXPECT_NEAR(fit.spread->longest.base() / fit.spread->shortest.base(), 2.0, 1e-9);
    EXPECT_THAT(remarks_of(fit), ::testing::Contains(HasSubstr("runs of the same sizes disagree: 1 MiB took")));
    auto alike = measured({{0.0, 1e-5, 1e-9}}, 1024.0, 11, 0.02, 1);
    append(alike, measured({{0.0, 1e-5, 1e-9}}, 1024.0, 11, 0.02, 2));
    EXPECT_FALSE(fit_communication(alike).fits.front().spread.has_value());
}

} // namespace
} // namespace headroom::fit
