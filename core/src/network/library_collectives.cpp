#include "headroom/network/library_collectives.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace headroom::network {

namespace {

/// Time that a volume takes on a link; nothing takes no time, even on a link that is not there.
Seconds carry(Bytes volume, BytesPerSecond bandwidth) { return volume.base() > 0.0 ? volume / bandwidth : Seconds{}; }

/// ceil(lg p): rounds of a binary tree over p ranks.
double rounds(double p) {
    return p > 1.0 ? static_cast<double>(std::bit_width(static_cast<std::uint64_t>(std::ceil(p)) - 1)) : 0.0;
}

/// A group in the letters of the formulas: p ranks, k domains of g ranks, the last of which holds s <= g: its few NICs
/// carry as much between domains as the many of a full one.
struct Shape {
    double p, k, g, s;
};

Shape shape_of(Group group) {
    double const p = std::max(group.size, 1);
    double const k = std::clamp(static_cast<double>(group.domains()), 1.0, p);
    double const g = std::clamp(static_cast<double>(group.per_domain), 1.0, p);
    return {.p = p, .k = k, .g = g, .s = p - (k - 1.0) * g};
}

/// Latency of one turn of a ring over the whole group: p - 1 hops, k - 1 of them between domains.
Seconds turn_latency(Shape shape, Fabric fabric) {
    return (shape.p - shape.k) * fabric.scale_up.latency + (shape.k - 1.0) * fabric.scale_out.latency;
}

/// Latency of one way through a binary tree: inside a domain, then between domains.
Seconds depth_latency(Shape shape, Fabric fabric) {
    return rounds(shape.g) * fabric.scale_up.latency + rounds(shape.k) * fabric.scale_out.latency;
}

/// Time of a volume that flows through every rank of a flat ring or tree. Between domains such rings or trees share the
/// work, one for each NIC, so each of the s NICs of the smallest domain carries volume / s. The slower kind of link
/// decides.
Seconds flow(Bytes volume, Shape shape, Fabric fabric) {
    Seconds const inside = shape.g > 1.0 ? carry(volume, fabric.scale_up.bandwidth) : Seconds{};
    Seconds const across = shape.k > 1.0 ? carry(volume / shape.s, fabric.scale_out.bandwidth) : Seconds{};
    return std::max(inside, across);
}

CollectiveTime sum(CollectiveTime a, CollectiveTime b) { return {a.latency + b.latency, a.bandwidth + b.bandwidth}; }
CollectiveTime twice(CollectiveTime a) { return {2.0 * a.latency, 2.0 * a.bandwidth}; }

/// ring_half for a count that need not be whole (g above).
CollectiveTime half_turn(Bytes n, double p, Link link) {
    return {(p - 1.0) * link.latency, carry((p - 1.0) / p * n, link.bandwidth)};
}

/// One ring through the whole group, g of them side by side when it crosses domains.
///
///     T = 2[(p-k) a_in + (k-1) a_out] + 2(p-1)/p n max(b_in, b_out/g)
///
/// Source: [PatarasukYuan2009]
CollectiveTime flat_ring_all_reduce(TotalBytes n, Group group, Fabric fabric) {
    Shape const shape = shape_of(group);
    return {2.0 * turn_latency(shape, fabric), flow(2.0 * (shape.p - 1.0) / shape.p * n.size, shape, fabric)};
}

/// One double tree through the whole group, g of them side by side when it crosses domains.
///
///     T = 2[ceil(lg g) a_in + ceil(lg k) a_out] + 2 n max(b_in, b_out/g)
///
/// Source: [SandersSpeckTraeff2009]
CollectiveTime flat_tree_all_reduce(TotalBytes n, Group group, Fabric fabric) {
    Shape const shape = shape_of(group);
    return {2.0 * depth_latency(shape, fabric), flow(shape.p > 1.0 ? 2.0 * n.size : Bytes{}, shape, fabric)};
}

/// Reduce-scatter inside, double tree across of n/g, all-gather inside.
///
///     T = 2[(g-1) a_in + (g-1)/g n b_in] + 2 ceil(lg k) a_out + 2 n/g b_out
///
/// Source: [StasMlEngineering], [SandersSpeckTraeff2009]
CollectiveTime hierarchical_tree_all_reduce(TotalBytes n, Group group, Fabric fabric) {
    Shape const shape = shape_of(group);
    CollectiveTime const inside = twice(half_turn(n.size, shape.g, fabric.scale_up));
    Bytes const shard = shape.k > 1.0 ? 2.0 * n.size / shape.s : Bytes{};
    return sum(inside, {2.0 * rounds(shape.k) * fabric.scale_out.latency, carry(shard, fabric.scale_out.bandwidth)});
}

/// One ring through the whole group: T = (p-k) a_in + (k-1) a_out + (p-1)/p n max(b_in, b_out/g).
/// Source: [Thakur2005]
CollectiveTime flat_ring_half(TotalBytes n, Group group, Fabric fabric) {
    Shape const shape = shape_of(group);
    return {turn_latency(shape, fabric), flow((shape.p - 1.0) / shape.p * n.size, shape, fabric)};
}

/// Pairwise exchange: g-1 partners inside the domain, then p-g across, n/p to each.
///
///     T = (g-1) a_in + (p-g) a_out + (g-1)/p n b_in + (p-g)/p n b_out
///
/// Source: [Thakur2005]
CollectiveTime split_all_to_all(TotalBytes n, Group group, Fabric fabric) {
    Shape const shape = shape_of(group);
    auto const p = shape.p, g = shape.g, s = shape.s;
    return {(g - 1.0) * fabric.scale_up.latency + (p - s) * fabric.scale_out.latency,
            carry((g - 1.0) / p * n.size, fabric.scale_up.bandwidth) +
                carry((p - s) / p * n.size, fabric.scale_out.bandwidth)};
}

/// Binomial tree across domains, then inside each.
///
///     T = ceil(lg k)(a_out + n b_out) + ceil(lg g)(a_in + n b_in)
///
/// Source: [Thakur2005]
CollectiveTime two_level_binomial_broadcast(TotalBytes n, Group group, Fabric fabric) {
    Shape const shape = shape_of(group);
    return {depth_latency(shape, fabric), carry(rounds(shape.k) * n.size, fabric.scale_out.bandwidth) +
                                              carry(rounds(shape.g) * n.size, fabric.scale_up.bandwidth)};
}

/// One ring through the whole group in small pieces, g of them side by side when it crosses domains; a reduce is the
/// same backwards, adding on the way.
///
///     T = (p-k) a_in + (k-1) a_out + n max(b_in, b_out/g)
///
/// Holds for:  any p >= 1.
/// Assumes:    pieces are so small that filling the ring costs latency alone.
/// Source:     [NCCL]
CollectiveTime flat_ring_pass(TotalBytes n, Group group, Fabric fabric) {
    Shape const shape = shape_of(group);
    return {turn_latency(shape, fabric), flow(shape.p > 1.0 ? n.size : Bytes{}, shape, fabric)};
}

/// Binomial scatter of shards of n/p, then a ring all-gather of them.
///
///     T = ceil(lg g) a_in + ceil(lg k) a_out + (p-1)/p n max(b_in, b_out) + ring all-gather
///
/// Holds for:  any p >= 1.
/// Assumes:    the root's one NIC carries the whole scatter when the group crosses domains.
/// Source:     [Thakur2005]
CollectiveTime scatter_all_gather_broadcast(TotalBytes n, Group group, Fabric fabric) {
    Shape const shape = shape_of(group);
    Bytes const sent = (shape.p - 1.0) / shape.p * n.size;
    Seconds const inside = shape.g > 1.0 ? carry(sent, fabric.scale_up.bandwidth) : Seconds{};
    Seconds const across = shape.k > 1.0 ? carry(sent, fabric.scale_out.bandwidth) : Seconds{};
    return sum({depth_latency(shape, fabric), std::max(inside, across)}, flat_ring_half(n, group, fabric));
}

/// One message; between domains when the group crosses any.
CollectiveTime one_message(TotalBytes n, Group group, Fabric fabric) {
    if (group.size <= 1) { return {}; }
    return point_to_point(n, group.domains() > 1 ? fabric.scale_out : fabric.scale_up);
}

constexpr std::array algorithms{
    LibraryAlgorithm{.collective = Collective::all_reduce,
                     .name = "ring",
                     .time = flat_ring_all_reduce,
                     .source = "PatarasukYuan2009"},
    LibraryAlgorithm{.collective = Collective::all_reduce,
                     .name = "tree",
                     .time = flat_tree_all_reduce,
                     .source = "SandersSpeckTraeff2009"},
    LibraryAlgorithm{.collective = Collective::all_reduce,
                     .name = "hierarchical_ring",
                     .time = hierarchical_all_reduce,
                     .source = "StasMlEngineering"},
    LibraryAlgorithm{.collective = Collective::all_reduce,
                     .name = "hierarchical_tree",
                     .time = hierarchical_tree_all_reduce,
                     .source = "StasMlEngineering"},
    LibraryAlgorithm{
        .collective = Collective::all_gather, .name = "ring", .time = flat_ring_half, .source = "Thakur2005"},
    LibraryAlgorithm{.collective = Collective::all_gather,
                     .name = "hierarchical_ring",
                     .time = hierarchical_half,
                     .source = "StasMlEngineering"},
    LibraryAlgorithm{
        .collective = Collective::reduce_scatter, .name = "ring", .time = flat_ring_half, .source = "Thakur2005"},
    LibraryAlgorithm{.collective = Collective::reduce_scatter,
                     .name = "hierarchical_ring",
                     .time = hierarchical_half,
                     .source = "StasMlEngineering"},
    LibraryAlgorithm{
        .collective = Collective::all_to_all, .name = "pairwise", .time = split_all_to_all, .source = "Thakur2005"},
    LibraryAlgorithm{.collective = Collective::broadcast,
                     .name = "binomial",
                     .time = two_level_binomial_broadcast,
                     .source = "Thakur2005"},
    LibraryAlgorithm{.collective = Collective::broadcast,
                     .name = "scatter_all_gather",
                     .time = scatter_all_gather_broadcast,
                     .source = "Thakur2005"},
    LibraryAlgorithm{.collective = Collective::broadcast, .name = "ring", .time = flat_ring_pass, .source = "NCCL"},
    LibraryAlgorithm{.collective = Collective::reduce, .name = "ring", .time = flat_ring_pass, .source = "NCCL"},
    LibraryAlgorithm{
        .collective = Collective::point_to_point, .name = "send", .time = one_message, .source = "Thakur2005"},
};

/// Bytes that every rank must send or receive on average, and that NICs must carry between domains on average.
struct Cut {
    Bytes any_rank, across;
};

Cut unavoidable(Collective collective, Bytes n, Group group) {
    Shape const shape = shape_of(group);
    auto const p = shape.p, k = shape.k, g = shape.g;
    switch (collective) {
    case Collective::all_reduce: return {2.0 * (p - 1.0) / p * n, 2.0 * (k - 1.0) / p * n};
    case Collective::all_gather:
    case Collective::reduce_scatter: return {(p - 1.0) / p * n, (k - 1.0) / p * n};
    case Collective::all_to_all: return {(p - 1.0) / p * n, (p - g) / p * n};
    case Collective::broadcast:
    case Collective::reduce: return {n, k > 1.0 ? n / static_cast<double>(group.per_domain) : Bytes{}};
    case Collective::scatter:
    case Collective::gather: return {(p - 1.0) / p * n, Bytes{}};
    case Collective::point_to_point: return {n, Bytes{}};
    case Collective::barrier: return {};
    }
    return {};
}

} // namespace

CollectiveTime hierarchical_all_reduce(TotalBytes n, Group group, Fabric fabric) {
    return twice(hierarchical_half(n, group, fabric));
}

CollectiveTime hierarchical_half(TotalBytes n, Group group, Fabric fabric) {
    Shape const shape = shape_of(group);
    Bytes const across = (shape.p - shape.s) / (shape.p * shape.s) * n.size; // (k-1)/k n/g when domains are even
    return sum(half_turn(n.size, shape.g, fabric.scale_up),
               {(shape.k - 1.0) * fabric.scale_out.latency, carry(across, fabric.scale_out.bandwidth)});
}

std::span<LibraryAlgorithm const> library_algorithms() { return algorithms; }

CollectiveChoice fastest(Collective collective, TotalBytes n, Group group, Fabric fabric) {
    CollectiveChoice best;
    for (LibraryAlgorithm const& algorithm : algorithms) {
        if (algorithm.collective != collective) { continue; }
        CollectiveTime const time = algorithm.time(n, group, fabric);
        if (best.algorithm.empty() || time.total() < best.time.total()) { best = {time, algorithm.name}; }
    }
    return best;
}

Seconds bandwidth_lower_bound(Collective collective, TotalBytes n, Group group, Fabric fabric) {
    if (group.size <= 1) { return Seconds{}; }
    Shape const shape = shape_of(group);
    BytesPerSecond ways_out{};
    if (shape.g > 1.0) { ways_out += fabric.scale_up.bandwidth; }
    if (shape.k > 1.0) { ways_out += fabric.scale_out.bandwidth; }
    Cut const cut = unavoidable(collective, n.size, group);
    return std::max(carry(cut.any_rank, ways_out), carry(cut.across, fabric.scale_out.bandwidth));
}

} // namespace headroom::network
