#include "headroom/network/library_collectives.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstddef>
#include <utility>

namespace headroom {

using namespace headroom::network;

namespace {

using namespace units;

constexpr double slack = 1.0 + 1e-12;

/// A number spread evenly over the powers of ten between two bounds.
double spread(double low, double high) {
    double const share = *rc::gen::inRange(0, 1 << 20) / static_cast<double>(1 << 20);
    return low * std::pow(high / low, share);
}

TotalBytes any_size() { return {Bytes{spread(1.0, 1e13)}}; }

Group any_group() { return group_of(*rc::gen::inRange(1, 3000), *rc::gen::inRange(1, 20), *rc::gen::inRange(1, 100)); }

Link any_link() { return {.latency = Seconds{spread(1e-7, 1e-4)}, .bandwidth = BytesPerSecond{spread(1e8, 2e12)}}; }

Fabric any_fabric() { return {.scale_up = any_link(), .scale_out = any_link()}; }

LibraryAlgorithm any_algorithm() {
    auto const rows = library_algorithms();
    return rows[*rc::gen::inRange<std::size_t>(0, rows.size())];
}

RC_GTEST_PROP(CollectiveProperty, NothingBeatsTheBandwidthBound, ()) {
    LibraryAlgorithm const algorithm = any_algorithm();
    TotalBytes const n = any_size();
    Group const group = any_group();
    Fabric const fabric = any_fabric();
    Seconds const bound = bandwidth_lower_bound(algorithm.collective, n, group, fabric);
    RC_LOG() << algorithm.name << " of " << name_of(algorithm.collective) << ", p = " << group.size
             << ", g = " << group.per_domain << '\n';
    RC_ASSERT(bound <= slack * algorithm.time(n, group, fabric).bandwidth);
}

RC_GTEST_PROP(CollectiveProperty, OneRankIsFree, ()) {
    LibraryAlgorithm const algorithm = any_algorithm();
    RC_ASSERT(algorithm.time(any_size(), Group{}, any_fabric()).total() == Seconds{});
}

RC_GTEST_PROP(CollectiveProperty, PartsAreFiniteAndNotNegative, ()) {
    CollectiveTime const time = any_algorithm().time(any_size(), any_group(), any_fabric());
    RC_ASSERT(std::isfinite(time.total().base()));
    RC_ASSERT(time.latency >= Seconds{});
    RC_ASSERT(time.bandwidth >= Seconds{});
}

RC_GTEST_PROP(CollectiveProperty, MoreBytesNeverTakeLess, ()) {
    LibraryAlgorithm const algorithm = any_algorithm();
    TotalBytes const n = any_size();
    TotalBytes const more{n.size * spread(1.0, 1e3)};
    Group const group = any_group();
    Fabric const fabric = any_fabric();
    RC_ASSERT(algorithm.time(n, group, fabric).total() <= slack * algorithm.time(more, group, fabric).total());
}

RC_GTEST_PROP(CollectiveProperty, ASlowerLinkNeverTakesLess, ()) {
    LibraryAlgorithm const algorithm = any_algorithm();
    TotalBytes const n = any_size();
    Group const group = any_group();
    Fabric const fabric = any_fabric();
    Fabric slower = fabric;
    Link& link = *rc::gen::arbitrary<bool>() ? slower.scale_up : slower.scale_out;
    link.bandwidth /= spread(1.0, 100.0);
    link.latency *= spread(1.0, 100.0);
    RC_ASSERT(algorithm.time(n, group, fabric).total() <= slack * algorithm.time(n, group, slower).total());
}

RC_GTEST_PROP(CollectiveProperty, TheFastestIsTheMinimumOfTheTable, ()) {
    Collective const collective = any_algorithm().collective;
    TotalBytes const n = any_size();
    Group const group = any_group();
    Fabric const fabric = any_fabric();
    CollectiveChoice const choice = fastest(collective, n, group, fabric);
    bool named = false;
    for (LibraryAlgorithm const& algorithm : library_algorithms()) {
        if (algorithm.collective != collective) { continue; }
        RC_ASSERT(choice.time.total() <= algorithm.time(n, group, fabric).total());
        named = named || algorithm.name == choice.algorithm;
    }
    RC_ASSERT(named);
}

RC_GTEST_PROP(CollectiveProperty, ManyDomainsNeverCostOneSlowRing, ()) {
    // Expectation: where the fast link is faster, p ranks over domains cost at most a ring of p on the slow link.
    Fabric fabric = any_fabric();
    if (fabric.scale_up.bandwidth < fabric.scale_out.bandwidth) {
        std::swap(fabric.scale_up.bandwidth, fabric.scale_out.bandwidth);
    }
    if (fabric.scale_up.latency > fabric.scale_out.latency) {
        std::swap(fabric.scale_up.latency, fabric.scale_out.latency);
    }
    TotalBytes const n = any_size();
    Group const group = any_group();
    RC_ASSERT(fastest(Collective::all_reduce, n, group, fabric).time.total() <=
              slack * ring_all_reduce(n, Ranks{group.size}, fabric.scale_out).total());
}

RC_GTEST_PROP(CollectiveProperty, OneLevelIsTheFlatFormula, ()) {
    // Expectation: inside one domain, or with one rank in each, every all-reduce is its single-link formula.
    int const p = *rc::gen::inRange(1, 2000);
    bool const inside = *rc::gen::arbitrary<bool>();
    Group const group{.size = p, .per_domain = inside ? p : 1};
    Fabric const fabric = any_fabric();
    Link const link = inside ? fabric.scale_up : fabric.scale_out;
    TotalBytes const n = any_size();
    for (LibraryAlgorithm const& algorithm : library_algorithms()) {
        if (algorithm.collective != Collective::all_reduce) { continue; }
        bool const tree = algorithm.name == "tree" || (algorithm.name == "hierarchical_tree" && !inside);
        Seconds const flat = (tree ? tree_all_reduce(n, Ranks{p}, link) : ring_all_reduce(n, Ranks{p}, link)).total();
        Seconds const time = algorithm.time(n, group, fabric).total();
        RC_ASSERT(std::abs((time - flat).base()) <= 1e-12 * flat.base());
    }
}

RC_GTEST_PROP(CollectiveProperty, AllReduceIsReduceScatterThenAllGather, ()) {
    TotalBytes const n = any_size();
    Group const group = any_group();
    Fabric const fabric = any_fabric();
    Seconds const halves = 2.0 * hierarchical_half(n, group, fabric).total();
    Seconds const whole = hierarchical_all_reduce(n, group, fabric).total();
    RC_ASSERT(std::abs((halves - whole).base()) <= 1e-12 * whole.base());
}

RC_GTEST_PROP(PlacementProperty, GroupsFitTheirDomains, ()) {
    int const size = *rc::gen::inRange(1, 5000), stride = *rc::gen::inRange(1, 600), domain = *rc::gen::inRange(1, 100);
    Group const group = group_of(size, stride, domain);
    RC_ASSERT(group.size == size);
    RC_ASSERT(group.per_domain >= 1);
    RC_ASSERT(group.per_domain <= size);
    RC_ASSERT(group.per_domain == 1 || (group.per_domain - 1) * stride < domain); // first and last share a domain
    RC_ASSERT(group.domains() * group.per_domain >= size);
    RC_ASSERT((group.domains() - 1) * group.per_domain < size);
}

} // namespace
} // namespace headroom
