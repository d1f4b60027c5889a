#pragma once

#include "headroom/machine.hpp"
#include "headroom/network/collective.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace headroom::network {

/// Algorithm by which NCCL moves a vector through its ranks.
enum class NcclAlgorithm { tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat };
/// Protocol by which NCCL detects that bytes have arrived: flags in every 8 bytes, in every 128, or one per chunk.
enum class NcclProtocol { ll, ll128, simple };
/// The generations that its tables know; older and newer ones share the nearest column.
enum class NcclGeneration { volta, ampere, hopper, blackwell };
inline constexpr std::size_t nccl_algorithm_count = 7, nccl_protocol_count = 3, nccl_generation_count = 4;

std::string_view name_of(NcclAlgorithm algorithm); ///< as NCCL prints it: "NVLSTree"
std::string_view name_of(NcclProtocol protocol);   ///< "LL", "LL128", "Simple"

/// The column of a chip; empty where no NCCL (or RCCL) runs on it.
std::optional<NcclGeneration> nccl_generation(Generation generation);

/// The constants of NCCL's tuning model (src/graph/tuning.cc), as `catalog/libraries/nccl.toml` records them.
struct NcclTuning {
    using ByProtocol = std::array<Seconds, nccl_protocol_count>;
    using ByAlgorithm = std::array<ByProtocol, nccl_algorithm_count>;
    using ByScale = std::array<BytesPerSecond, 3>; ///< one node, two nodes, more
    using ByGeneration = std::array<ByScale, nccl_generation_count>;

    ByAlgorithm base_latency;
    ByAlgorithm nvlink_latency, pci_latency, net_latency;                     ///< of one step on such hardware
    ByGeneration ll_most;                                                     ///< of all channels together
    ByGeneration ring_ll128_most, tree_ll128_most, tree_most, nvls_tree_most; ///< of one channel; zero: no bound
    std::array<double, nccl_generation_count> nvls_efficiency{};
    std::array<BytesPerSecond, nccl_generation_count> channel_bandwidth;       ///< that channels are cut into
    std::array<std::array<double, 24>, nccl_protocol_count> tree_correction{}; ///< from 64 B, a doubling each
    double ring_plateau_before_ampere = 1.9, ring_plateau = 1.4;
    Seconds net_overhead; ///< of posting to the network
};

/// A group of ranks as NCCL's model sees it.
struct NcclGroup {
    int ranks = 1, nodes = 1;
    NcclGeneration generation = NcclGeneration::hopper;
    bool nvlink = true;    ///< inside a node; else PCIe
    bool multicast = true; ///< its switch multiplies and adds: NVLS
    bool collnet = false;  ///< the network adds
    int channels = 2;
    BytesPerSecond intra, inter;  ///< of all channels: what a rank sends inside a node, and a node to others
    Seconds network_latency = {}; ///< that the network plugin reports, added to every step over it
};

/// Predicted time of one algorithm and protocol: T = latency + n / bandwidth.
struct NcclCandidate {
    NcclAlgorithm algorithm = NcclAlgorithm::ring;
    NcclProtocol protocol = NcclProtocol::simple;
    Seconds latency;
    BytesPerSecond bandwidth; ///< algorithm bandwidth: vector size over time
    [[nodiscard]] Seconds seconds(TotalBytes n) const { return latency + n.size / bandwidth; }
};

/// Every algorithm and protocol that NCCL would consider for this collective, with the time its model gives.
///
///     T = latency + n / bandwidth
///     ring latency   base + (steps - s) max(intra, overhead) + s inter; steps 2(p-1), s = 2(N-1) for all-reduce, and half
///                    for all-gather and reduce-scatter; broadcast and reduce: base + one step
///     tree latency   base + 2 ((p/N - 1) intra + lg N inter)
///     NVLS           intra (+ inter); NVLSTree intra + 2 lg N inter; PAT base + lg N inter / 3.5 + 2.8 us p
///     bandwidth      channels times what a channel gets, times the protocol's share, over steps / p (tree: 2)
///
/// Trees of middle sizes are corrected by a table (0.4 to 0.6 between about 256 KB and 4 MB), rings of several nodes
/// pay their latency 1.4 times. Empty for collectives that NCCL runs as sends: all-to-all, point-to-point and the rest.
/// Holds for:  p >= 2.
/// Assumes:    nodes hold equally many ranks.
/// Source:     [NCCL]
std::vector<NcclCandidate> nccl_candidates(NcclTuning const& tuning, Collective collective, TotalBytes n,
                                           NcclGroup const& group);

/// NCCL's choice: the candidate that its model says is fastest; ties go to the earlier algorithm.
struct NcclChoice {
    NcclAlgorithm algorithm = NcclAlgorithm::ring;
    NcclProtocol protocol = NcclProtocol::simple;
    Seconds seconds = {}; ///< that its model predicts
    std::vector<NcclCandidate> candidates;
};
std::optional<NcclChoice> nccl_choice(NcclTuning const& tuning, Collective collective, TotalBytes n,
                                      NcclGroup const& group);

/// The group that `ranks` make on so many nodes of a cluster: generation, link and rates from its records. Fewer ranks
/// than a node has share one; a scale-up domain of several nodes counts as one node.
/// Empty where the accelerator runs no NCCL.
std::optional<NcclGroup> nccl_group(NcclTuning const& tuning, Cluster const& cluster, int ranks, int nodes);

/// NCCL's choice for a cluster's ranks, on as few nodes as hold them.
std::optional<NcclChoice> nccl_choice(NcclTuning const& tuning, Cluster const& cluster, Ranks ranks,
                                      Collective collective, TotalBytes n);

/// A collective priced from published constants alone: nothing is fitted.
struct PublishedPrice {
    CollectiveTime time;
    std::optional<NcclAlgorithm> algorithm = {}; ///< empty for sends
    std::optional<NcclProtocol> protocol = {};
};

/// Time of a collective from NCCL's model, where its published constants are known to be off corrected by others.
///
///     T = latency + max(0, floor - least latency) + n / min(bandwidth, traffic bound)
///
///     floor = max(launch, ceil(lg N) round trip); one round trip for sends
///
/// The algorithm is NCCL's choice. Launch and round trip are the `collective_latency` of the links inside a node and
/// between nodes: no kernel starts sooner, and no tree of N nodes is up and down again sooner. What the least latency of
/// all candidates lacks of the floor is added to each, so that twice the bytes never cost less. A broadcast or a
/// reduce is through when it has passed every rank of the ring: base + (p-N) intra + (N-1) inter, where NCCL's model has
/// one step. NVLS sends n + n/p a rank, so its rate is at most efficiency B / (1 + 1/p). All-to-all is p-1 sends, gather
/// and scatter those of one root, which has a whole NIC; so has the one rank of a node that a ring of point-to-point
/// sends makes send outside.
/// Holds for:  p >= 1 (p = 1 costs the floor of a launch).
/// Assumes:    default settings of the library; the ranks alone on the fabric. What a plugin of the network reports of
///             its latency (EFA: 75 us) is not added to every step as NCCL does when it chooses: two p5 nodes are
///             measured at 69 us for 8 B, where a tree of such steps costs 175; a round trip of it is in the floor.
/// Source:     [NCCL]
std::optional<PublishedPrice> published_price(NcclTuning const& tuning, Cluster const& cluster, Collective collective,
                                              TotalBytes n, int ranks, int nodes);

} // namespace headroom::network
