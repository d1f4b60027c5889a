#include "headroom/flow_simulation.hpp"
#include "headroom/simulated_collectives.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

// Collectives by messages beside the closed form of a step.

namespace headroom {
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
            if (!is_own || domain % groups.stride != 0 || domain < groups.stride) { return; }
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

} // namespace
} // namespace headroom
