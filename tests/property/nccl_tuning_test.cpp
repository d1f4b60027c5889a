// NCCL's model and the prices made from it, for any group and size.

#include "headroom/io/catalog.hpp"
#include "headroom/network/library_collectives.hpp"
#include "headroom/network/nccl_tuning.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace headroom {

using namespace headroom::network;

namespace {

NcclTuning const& tuning() {
    static NcclTuning const read = io::Catalog{}.nccl_tuning();
    return read;
}

NcclGroup any_group() {
    NcclGroup group;
    group.nodes = *rc::gen::inRange(1, 33);
    group.ranks = std::max(2, group.nodes * *rc::gen::inRange(1, 17));
    group.generation = *rc::gen::element(NcclGeneration::volta, NcclGeneration::ampere, NcclGeneration::hopper,
                                         NcclGeneration::blackwell);
    group.nvlink = *rc::gen::arbitrary<bool>();
    group.multicast = group.nvlink && *rc::gen::arbitrary<bool>();
    group.collnet = *rc::gen::arbitrary<bool>();
    group.channels = *rc::gen::inRange(2, 33);
    group.intra = BytesPerSecond{1e9 * *rc::gen::inRange(5, 900)};
    group.inter = BytesPerSecond{1e9 * *rc::gen::inRange(1, 800)};
    group.network_latency = Seconds{1e-6 * *rc::gen::inRange(0, 100)};
    if (group.ranks < group.nodes) { group.nodes = 1; }
    return group;
}

Collective any_collective() {
    return *rc::gen::element(Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                             Collective::broadcast, Collective::reduce);
}

TotalBytes any_size() { return TotalBytes{Bytes{std::exp2(*rc::gen::inRange(0, 40))}}; }

RC_GTEST_PROP(NcclTuning, TheChoiceIsTheFastestCandidate, ()) {
    NcclGroup const group = any_group();
    TotalBytes const n = any_size();
    auto const choice = nccl_choice(tuning(), any_collective(), n, group);
    RC_ASSERT(choice.has_value()); // a ring is always there
    for (NcclCandidate const& one : choice->candidates) {
        RC_ASSERT(one.seconds(n) >= choice->seconds);
        RC_ASSERT(one.seconds(n) > Seconds{} && std::isfinite(one.seconds(n).base()));
        RC_ASSERT(one.bandwidth > BytesPerSecond{} && one.latency > Seconds{});
    }
    RC_ASSERT(std::ranges::any_of(choice->candidates, [&](NcclCandidate const& one) {
        return one.algorithm == choice->algorithm && one.protocol == choice->protocol &&
               one.seconds(n) == choice->seconds;
    }));
}

/// Where no table by size speaks (rings and all but trees), more bytes never take less time.
RC_GTEST_PROP(NcclTuning, MoreBytesTakeNoLessTime, ()) {
    NcclGroup const group = any_group();
    Collective const collective = any_collective();
    TotalBytes const n = any_size(), more{n.size * 2.0};
    auto const before = nccl_candidates(tuning(), collective, n, group);
    auto const after = nccl_candidates(tuning(), collective, more, group);
    RC_ASSERT(before.size() == after.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i].algorithm == NcclAlgorithm::tree) { continue; }
        RC_ASSERT(after[i].seconds(more) > before[i].seconds(n));
    }
}

/// A faster link never makes a price higher by more than the choice between candidates explains: each candidate falls.
RC_GTEST_PROP(NcclTuning, FasterLinksNeverSlowACandidate, ()) {
    NcclGroup const group = any_group();
    NcclGroup faster = group;
    faster.intra *= 2.0;
    faster.inter *= 2.0;
    TotalBytes const n = any_size();
    Collective const collective = any_collective();
    auto const before = nccl_candidates(tuning(), collective, n, group);
    auto const after = nccl_candidates(tuning(), collective, n, faster);
    RC_ASSERT(before.size() == after.size());
    for (std::size_t i = 0; i < before.size(); ++i) { RC_ASSERT(after[i].seconds(n) <= before[i].seconds(n)); }
}

/// Twice the bytes never cost less, whatever NCCL changes to in between.
RC_GTEST_PROP(PublishedPrice, TwiceTheBytesTakeNoLessTime, ()) {
    static io::Catalog const catalog;
    Cluster const cluster = catalog.cluster(*rc::gen::elementOf(catalog.names(io::RecordKind::node)));
    int const nodes = *rc::gen::inRange(1, 65), ranks = nodes * *rc::gen::inRange(1, 9);
    Collective const collective =
        *rc::gen::element(Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                          Collective::broadcast, Collective::reduce, Collective::all_to_all, Collective::gather);
    TotalBytes const n = any_size();
    auto const price = published_price(tuning(), cluster, collective, n, ranks, nodes);
    auto const twice = published_price(tuning(), cluster, collective, TotalBytes{n.size * 2.0}, ranks, nodes);
    RC_ASSERT(price.has_value() == twice.has_value());
    if (price) { RC_ASSERT(twice->time.total() >= price->time.total() * (1.0 - 1e-12)); }
}

/// Nothing leaves a node faster than its NICs, and no rank receives faster than its links.
RC_GTEST_PROP(PublishedPrice, LinksCarryNoMoreThanTheyCan, ()) {
    static io::Catalog const catalog;
    Cluster const cluster = catalog.cluster(*rc::gen::elementOf(catalog.names(io::RecordKind::node)));
    int const per_node = std::max(1, std::max(cluster.accelerators_per_node, cluster.domain));
    int const nodes = *rc::gen::inRange(1, 17), ranks = nodes * per_node;
    Collective const collective = *rc::gen::element(Collective::all_reduce, Collective::all_gather,
                                                    Collective::all_to_all, Collective::broadcast);
    TotalBytes const n{Bytes{1e12}};
    auto const price = published_price(tuning(), cluster, collective, n, ranks, nodes);
    if (!price || ranks < 2) { return; }
    Group const group{.size = ranks, .per_domain = per_node};
    bool const in_switch = price->algorithm == NcclAlgorithm::nvls || price->algorithm == NcclAlgorithm::nvls_tree;
    if (in_switch) { return; }
    Seconds const bound = bandwidth_lower_bound(collective, n, group, {cluster.scale_up, cluster.scale_out});
    RC_ASSERT(price->time.bandwidth >= bound * (1.0 - 1e-9));
}

/// Prices of every machine of the catalog exist, are finite and not below the floor of what they cross.
RC_GTEST_PROP(PublishedPrice, IsNotBelowItsFloor, ()) {
    static io::Catalog const catalog;
    Cluster const cluster = catalog.cluster(*rc::gen::elementOf(catalog.names(io::RecordKind::node)));
    int const nodes = *rc::gen::inRange(1, 9), ranks = nodes * *rc::gen::inRange(1, 9);
    Collective const collective = *rc::gen::element(Collective::all_reduce, Collective::all_gather,
                                                    Collective::all_to_all, Collective::point_to_point);
    auto const price = published_price(tuning(), cluster, collective, any_size(), ranks, nodes);
    if (!price) { return; }
    RC_ASSERT(std::isfinite(price->time.total().base()));
    RC_ASSERT(price->time.latency >= cluster.scale_up_service.collective_latency);
    RC_ASSERT(price->time.bandwidth >= Seconds{});
}

} // namespace
} // namespace headroom
