#include "headroom/network/flow_simulation.hpp"
#include "headroom/network/simulated_collectives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

// Collectives by messages against the closed form of a step.

namespace headroom {

using namespace headroom::network;

namespace {

Fabric const fabric{.scale_up = {.latency = Seconds{1.5e-6}, .bandwidth = BytesPerSecond{400e9}},
                    .scale_out = {.latency = Seconds{6e-6}, .bandwidth = BytesPerSecond{45e9}}};
constexpr std::array kinds{Collective::all_reduce, Collective::all_gather,     Collective::reduce_scatter,
                           Collective::all_to_all, Collective::point_to_point, Collective::broadcast,
                           Collective::reduce};
constexpr std::array sizes{1e3, 1e6, 1e9};

/// `adapters` of a domain have what its accelerators have together.
Cluster cluster_of(int domain, int adapters) {
    Cluster cluster;
    cluster.domain = domain;
    cluster.scale_up = fabric.scale_up;
    cluster.scale_out = fabric.scale_out;
    cluster.adapter = fabric.scale_out.bandwidth * (static_cast<double>(domain) / adapters);
    return cluster;
}

/// Calls check with jobs of 2 to 64 ranks.
template <class Check> void for_groups(int domain, Check check) {
    for (int const size : {2, 3, 4, 8, 16}) {
        for (int const stride : {1, 2, 3, 4, 8, 16}) {
            for (int const blocks : {1, 2, 4}) {
                DimensionGroups const groups{.size = size, .stride = stride, .ranks = size * stride * blocks};
                if (groups.ranks > 64) { continue; }
                for (Collective const kind : kinds) {
                    for (double const size_of_all : sizes) {
                        SCOPED_TRACE(std::string{name_of(kind)} + " of " + std::to_string(size_of_all) + " bytes, " +
                                     std::to_string(size) + " ranks " + std::to_string(stride) + " apart of " +
                                     std::to_string(groups.ranks) + ", domains of " + std::to_string(domain));
                        check(kind, TotalBytes{Bytes{size_of_all}}, groups);
                    }
                }
            }
        }
    }
}

/// Whether a group fills its domains: the closed form has an account of its own for domains that are partly filled.
bool group_of_even(DimensionGroups groups, int domain) {
    Group const group = group_of(groups.size, groups.stride, domain);
    return group.size % group.per_domain == 0;
}

TEST(CollectivesByMessages, OneGroupOnItsShareTakesTheTimeOfTheClosedFormWhereThatIsOfItsSchedule) {
    for (int const domain : {1, 4, 8}) {
        CollectivesByMessages messages{cluster_of(domain, domain), fabric};
        for_groups(domain, [&](Collective kind, TotalBytes n, DimensionGroups groups) {
            auto const& priced = messages.price(kind, n, groups);
            bool const is_flat = group_of(groups.size, groups.stride, domain).per_domain == 1 ||
                                 group_of(groups.size, groups.stride, domain).domains() == 1;
            bool const is_own = priced.algorithm == "hierarchical_ring" || priced.algorithm == "send" ||
                                (is_flat && (priced.algorithm == "ring" || priced.algorithm == "pairwise") &&
                                 kind != Collective::broadcast && kind != Collective::reduce);
            if (!is_own || !group_of_even(groups, domain)) { return; }
            EXPECT_NEAR(priced.reference.base(), priced.closed.base(), 1e-6 * priced.closed.base())
                << priced.algorithm << " by " << priced.schedule;
        });
    }
}

TEST(CollectivesByMessages, RingsThatLeaveADomainByDifferentAdaptersMoveLongVectorsAtTheRateOfTheClosedForm) {
    CollectivesByMessages messages{cluster_of(8, 8), fabric};
    for (int const size : {16, 32}) {
        auto const& priced =
            messages.price(Collective::all_gather, {Bytes{1e11}}, {.size = size, .stride = 1, .ranks = size});
        ASSERT_EQ(priced.algorithm, "ring");
        EXPECT_NEAR(priced.reference.base(), priced.closed.base(), 0.02 * priced.closed.base());
    }
}

TEST(CollectivesByMessages, GroupsThatShareAdaptersAreNeverFasterThanOneAlone) {
    for (int const adapters : {8, 4, 2, 1}) {
        CollectivesByMessages messages{cluster_of(8, adapters), fabric};
        ASSERT_EQ(messages.adapters(), adapters);
        for_groups(8, [&](Collective kind, TotalBytes n, DimensionGroups groups) {
            auto const& priced = messages.price(kind, n, groups);
            EXPECT_GE(priced.together.base(), priced.alone.base() * (1.0 - 1e-9)) << priced.schedule;
            if (priced.stands_in.empty()) { EXPECT_GT(priced.total(), Seconds{}); }
        });
    }
}

TEST(CollectivesByMessages, TwoGroupsOnAnAdapterEachHaveHalfOfIt) {
    // pairs of ranks 8 apart on 4 NICs for 8 accelerators, each twice as fast as a share: alone a pair has it whole
    CollectivesByMessages messages{cluster_of(8, 4), fabric};
    auto const& priced = messages.price(Collective::all_gather, {Bytes{2e9}}, {.size = 2, .stride = 8, .ranks = 16});
    double const half = 1e9; // bytes that each of two ranks sends
    EXPECT_NEAR(priced.alone.base(), 6e-6 + half / 90e9, 1e-9);
    EXPECT_NEAR(priced.together.base(), 6e-6 + half / 45e9, 1e-9);
    EXPECT_NEAR(priced.total().base(), priced.closed.base(), 1e-9);
}

TEST(CollectivesByMessages, AGroupThatLiesAcrossDomainsPaysForIt) {
    // ranks 0 to 7, 8 to 15 and so on in domains of 12: the second group has 4 in either of two, which the closed form
    // takes for neighbours
    CollectivesByMessages messages{cluster_of(12, 12), fabric};
    auto const& priced = messages.price(Collective::all_to_all, {Bytes{8e9}}, {.size = 8, .stride = 1, .ranks = 24});
    EXPECT_NEAR(priced.alone.base(), priced.closed.base(), 1e-6 * priced.closed.base());
    EXPECT_GT(priced.together.base(), 4e9 / 45e9); // half of what each of its ranks holds leaves the domain
    EXPECT_GT(priced.contention(), 4.0);
}

/// Simulating a part of the job gives the time of all of it.
TEST(CollectivesByMessages, APartThatRepeatsStandsForAll) {
    CollectivesByMessages messages{cluster_of(4, 2), fabric};
    for (DimensionGroups const groups :
         {DimensionGroups{.size = 4, .stride = 1, .ranks = 64}, DimensionGroups{.size = 8, .stride = 1, .ranks = 64},
          DimensionGroups{.size = 4, .stride = 2, .ranks = 64}, DimensionGroups{.size = 4, .stride = 16, .ranks = 64},
          DimensionGroups{.size = 6, .stride = 1, .ranks = 60}}) {
        auto const& priced = messages.price(Collective::all_to_all, {Bytes{1e8}}, groups);
        ASSERT_EQ(priced.schedule, "pairwise");
        EXPECT_LT(priced.simulated.ranks, groups.ranks);
        Link port = fabric.scale_out;
        port.bandwidth *= 2.0;
        Topology const star =
            build_topology(StarNetwork{.endpoints = groups.ranks,
                                       .port = port,
                                       .nodes = {.accelerators = 4, .adapters = 2, .scale_up = fabric.scale_up}});
        auto const row = std::ranges::find_if(collective_algorithms(), [](CollectiveAlgorithm const& one) {
            return one.collective == Collective::all_to_all && one.name == "pairwise";
        });
        ContendingGroups const all{
            .name = "all",
            .algorithm = &*row,
            .call = {.size = {Bytes{1e8}}, .layout = Layout::uniform(Ranks{groups.size}, fabric.scale_out)},
            .groups = strided_groups(groups.ranks, groups.size, groups.stride)};
        ContendedTime const whole = contended_time({&all, 1}, star);
        EXPECT_NEAR(priced.together.base(), whole.groups[0].together.base(), 1e-9 * whole.last.base());
    }
}

/// Long groups are simulated with fewer domains: where both are possible their ratio is nearly the same.
TEST(CollectivesByMessages, FewDomainsContendAsManyDo) {
    CollectivesByMessages messages{cluster_of(8, 4), fabric};
    for (Collective const kind : {Collective::all_gather, Collective::reduce_scatter, Collective::all_to_all}) {
        auto const& few = messages.price(kind, {Bytes{1e9}}, {.size = 8, .stride = 8, .ranks = 64});
        auto const& many = messages.price(kind, {Bytes{1e9}}, {.size = 4096, .stride = 8, .ranks = 32768});
        EXPECT_LT(many.simulated.ranks, 32768);
        EXPECT_NEAR(few.contention(), many.contention(), 0.02);
    }
}

TEST(CollectivesByMessages, TellsWhereTheClosedFormStandsIn) {
    CollectivesByMessages messages{cluster_of(8, 8), fabric};
    auto const reason = [&messages](Collective kind, DimensionGroups groups) {
        auto const& priced = messages.price(kind, {Bytes{1e6}}, groups);
        EXPECT_EQ(priced.total(), priced.closed);
        EXPECT_TRUE(priced.schedule.empty());
        return priced.stands_in;
    };
    EXPECT_EQ(reason(Collective::barrier, {.size = 8, .stride = 1, .ranks = 8}),
              "no schedule of messages is known for it");
    EXPECT_EQ(reason(Collective::all_reduce, {.size = 8, .stride = 3, .ranks = 16}),
              "its groups do not divide the ranks");
    EXPECT_EQ(reason(Collective::all_reduce, {.size = 4093, .stride = 1, .ranks = 4093}),
              "its groups are too many and too uneven to simulate");
    EXPECT_EQ(reason(Collective::all_reduce, {.size = 1, .stride = 1, .ranks = 8}), "");
    Cluster const dark = cluster_of(8, 8);
    CollectivesByMessages none{dark, {}};
    EXPECT_EQ(none.price(Collective::barrier, {Bytes{1e6}}, {.size = 8, .stride = 1, .ranks = 8}).stands_in,
              "its links have no rates");
}

TEST(CollectivesByMessages, AdaptersAreThoseThatHaveTheRate) {
    auto const adapters = [](int domain, double of_share) {
        Cluster cluster = cluster_of(domain, domain);
        cluster.adapter = fabric.scale_out.bandwidth * of_share;
        return CollectivesByMessages{cluster, fabric}.adapters();
    };
    EXPECT_EQ(adapters(8, 1.0), 8);
    EXPECT_EQ(adapters(8, 2.0), 4);
    EXPECT_EQ(adapters(8, 8.0), 1);
    EXPECT_EQ(adapters(8, 8.0 / 3.0), 4); // 3 do not divide 8
    EXPECT_EQ(adapters(8, 2.0 * 1.4), 4); // 4, of which congestion leaves a share
    EXPECT_EQ(adapters(8, 0.5), 8);       // two for each
    EXPECT_EQ(adapters(8, 0.0), 8);       // not known
    EXPECT_EQ(adapters(1, 1.0), 1);
    EXPECT_EQ(adapters(72, 1.0), 72);
}

TEST(CollectivesByMessages, AnswersTheSameTwice) {
    CollectivesByMessages messages{cluster_of(8, 4), fabric};
    DimensionGroups const groups{.size = 16, .stride = 2, .ranks = 64};
    auto const* const first = &messages.price(Collective::all_reduce, {Bytes{1e7}}, groups);
    messages.price(Collective::all_gather, {Bytes{1e7}}, groups);
    EXPECT_EQ(first, &messages.price(Collective::all_reduce, {Bytes{1e7}}, groups));
}

} // namespace
} // namespace headroom
