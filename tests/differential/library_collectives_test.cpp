#include "headroom/network/collective_algorithm.hpp"
#include "headroom/network/library_collectives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

// Closed forms that price training steps on two levels, against the table of algorithms, whose forms are counted
// messages.
//
// With full domains the two are the same. Where the last of k domains has s < g ranks, a library's closed form takes the
// s NICs of the smallest domain to carry what all of a domain's would, (k-1) g/(p s) n in k-1 messages, and leaves out
// how the ranks without a partner there hand over what they have:
//
//     all-gather, reduce-scatter   less by (g-1)(a_in + n/(p s) b_in) + max(s, g-s)(a_in + n/(g s) b_in)
//     all-reduce                   less by 2 max(s, g-s)(a_in + n/(g s) b_in), but across 2(k-1) g/(p s) n b_out instead of
//                                  2(k-1)/(k s) n b_out, which is more, g/p being more than 1/k

namespace headroom {

using namespace headroom::network;

namespace {

using namespace units;

Fabric const fabric{.scale_up = {.latency = 1.3 * us, .bandwidth = 431.0 * GB / s},
                    .scale_out = {.latency = 5.9 * us, .bandwidth = 47.0 * GB / s}};

CollectiveTime counted(Collective collective, Bytes n, Group group) {
    for (CollectiveAlgorithm const& row : collective_algorithms()) {
        if (row.collective == collective && row.name == "hierarchical_ring") {
            return row.time({.size = {n}, .layout = Layout::of(group, fabric.scale_up, fabric.scale_out)});
        }
    }
    throw std::out_of_range{"no hierarchical ring"};
}

void expect_same(CollectiveTime const& one, CollectiveTime const& other) {
    EXPECT_NEAR(one.latency.base(), other.latency.base(), 1e-12 * other.latency.base());
    EXPECT_NEAR(one.bandwidth.base(), other.bandwidth.base(), 1e-12 * other.bandwidth.base());
}

CollectiveTime with(CollectiveTime const& time, Seconds latency, Seconds bandwidth) {
    return {time.latency + latency, time.bandwidth + bandwidth};
}

TEST(LibraryCollectives, AreTheCountedOnesWhereDomainsAreFull) {
    for (int g = 1; g <= 16; ++g) {
        for (int k = 1; k <= 33; ++k) {
            for (Bytes const n : {8.0 * byte, 1.0 * MB, 3.0 * GB}) {
                SCOPED_TRACE(std::to_string(k) + " domains of " + std::to_string(g) + ", " + format(n));
                Group const group{.size = g * k, .per_domain = g};
                expect_same(hierarchical_all_reduce({n}, group, fabric), counted(Collective::all_reduce, n, group));
                expect_same(hierarchical_half({n}, group, fabric), counted(Collective::all_gather, n, group));
                expect_same(hierarchical_half({n}, group, fabric), counted(Collective::reduce_scatter, n, group));
            }
        }
    }
}

TEST(LibraryCollectives, LeaveOutHandingOverWhereTheLastDomainIsNotFull) {
    Bytes const n = 64.0 * MB;
    for (int g = 2; g <= 16; ++g) {
        for (int p = g + 1; p <= 100; ++p) {
            if (p % g == 0) { continue; }
            SCOPED_TRACE(std::to_string(p) + " ranks in domains of " + std::to_string(g));
            Group const group{.size = p, .per_domain = g};
            Link const up = fabric.scale_up, out = fabric.scale_out;
            int const k = group.domains(), s = p - (k - 1) * g, rounds = std::max(s, g - s);
            Seconds const handing = n * (1.0 * rounds / g / s) / up.bandwidth;
            Seconds const dealing = n * (1.0 * (g - 1) / p / s) / up.bandwidth;

            CollectiveTime const half =
                with(hierarchical_half({n}, group, fabric), (rounds + g - 1) * up.latency, handing + dealing);
            expect_same(half, counted(Collective::all_gather, n, group));
            expect_same(half, counted(Collective::reduce_scatter, n, group));

            Seconds const more = n * (2.0 * (k - 1) / s * (1.0 * g / p - 1.0 / k)) / out.bandwidth;
            EXPECT_GT(more.base(), 0.0);
            expect_same(
                with(hierarchical_all_reduce({n}, group, fabric), 2.0 * rounds * up.latency, 2.0 * handing - more),
                counted(Collective::all_reduce, n, group));
        }
    }
}

} // namespace
} // namespace headroom
