#include "headroom/network/nccl_tuning.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace headroom::network {

namespace {

constexpr double network_payload = 12.0 / 12.5; ///< NCCL reckons with 12 GB/s on 100 Gbit/s

bool is_nvlink(Wire wire) {
    return wire == Wire::nvlink || wire == Wire::nvswitch || wire == Wire::nvls_switch || wire == Wire::mesh;
}

/// Bandwidth of a rank inside a node. In a mesh only the links to the others of the group carry anything.
BytesPerSecond inner_rate(Cluster const& cluster, int together) {
    BytesPerSecond rate = cluster.scale_up_service.assumed;
    if (!(rate > BytesPerSecond{})) { rate = cluster.scale_up.bandwidth; }
    int const most = std::max(2, std::min(cluster.accelerators_per_node, cluster.domain));
    if (cluster.scale_up_service.wire == Wire::mesh && together < most) {
        rate *= 1.0 * std::max(1, together - 1) / (most - 1);
    }
    return rate;
}

bool is_sends(Collective collective) {
    return collective == Collective::all_to_all || collective == Collective::point_to_point ||
           collective == Collective::gather || collective == Collective::scatter;
}

/// A launch inside a node, and a round trip for every level of a tree of nodes; sends have one.
Seconds floor_of(Cluster const& cluster, NcclGroup const& group, Collective collective) {
    Seconds const inside = cluster.scale_up_service.collective_latency;
    double levels = std::bit_width(static_cast<unsigned>(group.nodes - 1)); // ceil(lg N)
    if (is_sends(collective)) { levels = std::min(levels, 1.0); }
    return std::max(inside, cluster.scale_out_service.collective_latency * levels);
}

/// NVLS: a rank sends its vector once for the sum and its share of the sum once for all.
BytesPerSecond traffic_bound(NcclTuning const& tuning, NcclGroup const& group, NcclCandidate const& candidate,
                             Collective collective) {
    bool const nvls = candidate.algorithm == NcclAlgorithm::nvls || candidate.algorithm == NcclAlgorithm::nvls_tree;
    if (!nvls || collective != Collective::all_reduce) { return candidate.bandwidth; }
    double const efficiency = tuning.nvls_efficiency[static_cast<std::size_t>(group.generation)];
    double const together = 1.0 * group.ranks / group.nodes;
    return std::min(candidate.bandwidth, group.intra * (efficiency / (1.0 + 1.0 / together)));
}

/// Bandwidth of one rank alone over the network: its share of the node's NICs, or a whole NIC that nobody shares then.
BytesPerSecond own_way_out(Cluster const& cluster, BytesPerSecond share) {
    return std::max(share, cluster.adapter * network_payload);
}

/// Sends of Simple chunks. Point-to-point: all ranks pass on to the next, so that of a node one rank sends outside. All
/// to all: p-1 sends one after another, the bytes of those that leave the node over its ways out. Gather and scatter:
/// the same for one root, alone on its way out.
CollectiveTime sends(NcclTuning const& tuning, Cluster const& cluster, NcclGroup const& group, Collective collective,
                     TotalBytes n) {
    constexpr auto ring = static_cast<std::size_t>(NcclAlgorithm::ring);
    constexpr auto simple = static_cast<std::size_t>(NcclProtocol::simple);
    Seconds const base = tuning.base_latency[ring][simple];
    Seconds const inside = base + (group.nvlink ? tuning.nvlink_latency : tuning.pci_latency)[ring][simple];
    Seconds const between = base + tuning.net_latency[ring][simple] + group.network_latency;
    double const together = 1.0 * group.ranks / group.nodes;
    BytesPerSecond const share = group.inter / together; // of one rank
    BytesPerSecond const alone = own_way_out(cluster, share);
    if (collective == Collective::point_to_point) {
        bool const leaves = group.nodes > 1;
        BytesPerSecond const rate = leaves ? std::min(alone, group.inter) : inner_rate(cluster, 2);
        return {.latency = leaves ? between : inside, .bandwidth = n.size / rate};
    }
    double const near = together - 1.0, far = group.ranks - together;
    Bytes const piece = n.size / (1.0 * group.ranks);
    CollectiveTime time{.latency = inside * near + between * far, .bandwidth = piece * near / group.intra};
    BytesPerSecond const outer = collective == Collective::all_to_all ? share : std::min(alone, group.inter);
    if (far > 0.0) { time.bandwidth = std::max(time.bandwidth, piece * far / outer); }
    return time;
}

/// Broadcast and reduce of a ring are through when the first chunk is past every rank. NCCL's model counts one step.
Seconds way_through(NcclTuning const& tuning, NcclGroup const& group, Collective collective,
                    NcclCandidate const& candidate) {
    if (collective != Collective::broadcast && collective != Collective::reduce) { return candidate.latency; }
    constexpr auto ring = static_cast<std::size_t>(NcclAlgorithm::ring);
    auto const protocol = static_cast<std::size_t>(candidate.protocol);
    Seconds const inside = (group.nvlink ? tuning.nvlink_latency : tuning.pci_latency)[ring][protocol];
    Seconds const between = tuning.net_latency[ring][protocol] + group.network_latency;
    return tuning.base_latency[ring][protocol] + inside * (1.0 * (group.ranks - group.nodes)) +
           between * (1.0 * (group.nodes - 1));
}

} // namespace

std::optional<NcclGeneration> nccl_generation(Generation generation) {
    switch (generation) {
    case Generation::volta:
    case Generation::turing: return NcclGeneration::volta;
    case Generation::ampere:
    case Generation::ada:
    case Generation::ada_consumer:
    case Generation::rdna3: // RCCL grew from the tables of that time
    case Generation::cdna2:
    case Generation::cdna3:
    case Generation::cdna4: return NcclGeneration::ampere;
    case Generation::hopper: return NcclGeneration::hopper;
    case Generation::blackwell:
    case Generation::blackwell_ultra:
    case Generation::blackwell_consumer: return NcclGeneration::blackwell;
    default: return std::nullopt;
    }
}

std::optional<NcclGroup> nccl_group(NcclTuning const& tuning, Cluster const& cluster, int ranks, int nodes) {
    auto const generation = nccl_generation(cluster.accelerator.generation);
    Wire const wire = cluster.scale_up_service.wire;
    if (!generation || wire == Wire::unknown || ranks < 1 || nodes < 1) { return std::nullopt; }
    // A rack whose switches join several nodes is one node to NCCL.
    int const per_node = std::max(cluster.domain, 1);
    int const parts = per_node > cluster.accelerators_per_node ? (ranks + per_node - 1) / per_node : nodes;
    int const together = std::max(1, ranks / parts);
    NcclGroup group{.ranks = ranks,
                    .nodes = std::min(parts, ranks),
                    .generation = *generation,
                    .nvlink = is_nvlink(wire),
                    .multicast = wire == Wire::nvls_switch,
                    .collnet = false,
                    .intra = inner_rate(cluster, together),
                    .inter = cluster.scale_out.bandwidth * (network_payload * together)};
    BytesPerSecond const slowest = group.nodes > 1 ? std::min(group.intra, group.inter) : group.intra;
    BytesPerSecond const channel = tuning.channel_bandwidth[static_cast<std::size_t>(*generation)];
    double const channels = std::min(group.nvlink ? group.intra / channel : slowest / channel, 64.0);
    group.channels = std::max(2, static_cast<int>(std::lround(channels)));
    return group;
}

std::optional<NcclChoice> nccl_choice(NcclTuning const& tuning, Cluster const& cluster, Ranks ranks,
                                      Collective collective, TotalBytes n) {
    int const per_node = std::max(1, cluster.accelerators_per_node);
    auto const group = nccl_group(tuning, cluster, ranks.count(), (ranks.count() + per_node - 1) / per_node);
    return group ? nccl_choice(tuning, collective, n, *group) : std::nullopt;
}

std::optional<PublishedPrice> published_price(NcclTuning const& tuning, Cluster const& cluster, Collective collective,
                                              TotalBytes n, int ranks, int nodes) {
    auto const group = nccl_group(tuning, cluster, ranks, nodes);
    if (!group) { return std::nullopt; }
    Seconds const floor = floor_of(cluster, *group, collective);
    if (ranks < 2) { return PublishedPrice{.time = {.latency = floor, .bandwidth = {}}}; }
    PublishedPrice price;
    Seconds least;
    if (auto const choice = nccl_choice(tuning, collective, n, *group)) {
        auto const chosen = std::ranges::find_if(choice->candidates, [&](NcclCandidate const& one) {
            return one.algorithm == choice->algorithm && one.protocol == choice->protocol;
        });
        least = way_through(tuning, *group, collective, *chosen);
        for (NcclCandidate const& one : choice->candidates) {
            least = std::min(least, way_through(tuning, *group, collective, one));
        }
        price.algorithm = choice->algorithm;
        price.protocol = choice->protocol;
        price.time = {.latency = way_through(tuning, *group, collective, *chosen),
                      .bandwidth = n.size / traffic_bound(tuning, *group, *chosen, collective)};
    } else if (is_sends(collective)) {
        price.time = sends(tuning, cluster, *group, collective, n);
        least = price.time.latency;
    } else {
        return std::nullopt;
    }
    price.time.latency += std::max(Seconds{}, floor - least);
    return price;
}

} // namespace headroom::network
