#include "headroom/network/nccl_tuning.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace headroom::network {

namespace {

constexpr std::array algorithm_names{"Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"};
constexpr std::array protocol_names{"LL", "LL128", "Simple"};

constexpr double ring_ll_share = 0.5, ring_ll128_share = 0.92;
constexpr double tree_share = 0.92, tree_ll_share = 1.0 / 3.8;
constexpr double tree_ll128_one_node = 7.0 / 9.0, tree_ll128_share = 120.0 / 128.0;
constexpr double pat_share = 0.75, pat_depth = 3.5;
constexpr Seconds pat_per_rank{2.8e-6}, direct_arity{0.4e-6};
constexpr Bytes plateau_from{64.0}; ///< of one rank on one channel

template <class Enum> constexpr std::size_t index_of(Enum value) { return static_cast<std::size_t>(value); }

/// One cell of NCCL's table, with what it is computed from.
struct Cell {
    NcclTuning const& tuning;
    NcclGroup const& group;
    Collective collective;
    NcclAlgorithm algorithm;
    NcclProtocol protocol;

    [[nodiscard]] bool is(NcclAlgorithm one) const { return algorithm == one; }
    [[nodiscard]] bool reduces_everywhere() const { return collective == Collective::all_reduce; }
    [[nodiscard]] bool is_half() const {
        return collective == Collective::all_gather || collective == Collective::reduce_scatter;
    }
    [[nodiscard]] bool is_nvls() const { return is(NcclAlgorithm::nvls) || is(NcclAlgorithm::nvls_tree); }
    [[nodiscard]] double per_node() const { return 1.0 * group.ranks / group.nodes; }
    [[nodiscard]] double whole_per_node() const { return std::max(1, group.ranks / group.nodes); }
    [[nodiscard]] std::size_t scale() const { return group.nodes <= 1 ? 0 : group.nodes == 2 ? 1 : 2; }
    [[nodiscard]] int steps() const {
        return reduces_everywhere() ? 2 * (group.ranks - 1) : is_half() ? group.ranks - 1 : group.ranks;
    }
    [[nodiscard]] int steps_between_nodes() const {
        return group.nodes == 1 ? 0 : reduces_everywhere() ? 2 * (group.nodes - 1) : group.nodes - 1;
    }
    [[nodiscard]] double levels() const { return std::bit_width(static_cast<unsigned>(group.nodes)) - 1; }
    [[nodiscard]] BytesPerSecond limit(NcclTuning::ByGeneration const& table) const {
        return table[index_of(group.generation)][scale()];
    }
    [[nodiscard]] double nvls_efficiency() const { return tuning.nvls_efficiency[index_of(group.generation)]; }
};

BytesPerSecond below(BytesPerSecond rate, BytesPerSecond most) {
    return most > BytesPerSecond{} ? std::min(rate, most) : rate;
}

/// Whether NCCL runs this collective by this algorithm at all.
bool serves(NcclAlgorithm algorithm, Collective collective) {
    using enum NcclAlgorithm;
    switch (collective) {
    case Collective::all_reduce: return algorithm != pat;
    case Collective::all_gather:
    case Collective::reduce_scatter:
        return algorithm == ring || algorithm == collnet_direct || algorithm == nvls || algorithm == pat;
    case Collective::broadcast:
    case Collective::reduce: return algorithm == ring;
    default: return false;
    }
}

/// Whether the hardware of the group and the protocol allow it.
bool allowed(Cell const& cell) {
    using enum NcclAlgorithm;
    NcclGroup const& group = cell.group;
    bool const flags = cell.is(tree) || cell.is(ring);
    if (!flags && cell.protocol != NcclProtocol::simple) { return false; }
    if (cell.protocol == NcclProtocol::ll128 && !group.nvlink) { return false; }
    switch (cell.algorithm) {
    case tree:
    case ring: return true;
    case collnet_direct: return group.collnet && group.multicast && group.nodes > 1;
    case collnet_chain: return group.collnet && group.nodes > 1;
    case nvls: return group.multicast && cell.nvls_efficiency() > 0.0 && (group.nodes == 1 || group.collnet);
    case nvls_tree: return group.multicast && cell.nvls_efficiency() > 0.0 && group.nodes > 1;
    case pat: return group.nodes == group.ranks;
    }
    return false;
}

/// Bandwidth of all channels together.
BytesPerSecond channels_rate(Cell const& cell) {
    using enum NcclAlgorithm;
    NcclGroup const& group = cell.group;
    if (group.nodes == 1 && !cell.is_nvls()) { return group.intra; }
    if (!cell.is_nvls()) {
        bool const pair_of_nodes = group.nodes == 2 && cell.is(tree); // its traffic crosses once each way
        return std::min(group.intra, group.inter * (pair_of_nodes ? 2.0 : 1.0));
    }
    BytesPerSecond inside = group.intra * (cell.nvls_efficiency() * (group.channels - 1) / group.channels);
    inside *= cell.reduces_everywhere() ? 2.0 : (cell.per_node() - 1.0) / cell.per_node();
    if (group.nodes == 1) { return inside; }
    bool const pair_of_nodes = group.nodes == 2 && cell.is(nvls_tree);
    BytesPerSecond const rate = std::min(inside, group.inter * (pair_of_nodes ? 2.0 : 1.0));
    return cell.is(nvls_tree) ? below(rate, cell.limit(cell.tuning.nvls_tree_most) * (1.0 * group.channels)) : rate;
}

BytesPerSecond bus_bandwidth(Cell const& cell) {
    using enum NcclAlgorithm;
    NcclTuning const& tuning = cell.tuning;
    double const channels = cell.group.channels;
    BytesPerSecond rate = channels_rate(cell);
    if (cell.is(ring) && cell.protocol == NcclProtocol::ll) {
        rate = below(rate * ring_ll_share, cell.limit(tuning.ll_most));
    } else if (cell.is(ring) && cell.protocol == NcclProtocol::ll128) {
        rate = below(rate * ring_ll128_share, cell.limit(tuning.ring_ll128_most) * channels);
    } else if (cell.is(tree)) {
        rate = below(rate * tree_share, cell.limit(tuning.tree_most) * channels);
        if (cell.protocol == NcclProtocol::ll) { rate = below(rate * tree_ll_share, cell.limit(tuning.ll_most)); }
        if (cell.protocol == NcclProtocol::ll128) {
            double const share = cell.group.nodes == 1 ? tree_ll128_one_node : tree_ll128_share;
            rate = below(rate * share, cell.limit(tuning.tree_ll128_most) * channels);
        }
    } else if (cell.is(pat)) {
        rate *= pat_share;
    } else if (cell.is(collnet_direct) && cell.reduces_everywhere()) {
        double const sharing = cell.per_node() / channels; // ranks to a way out
        rate /= sharing - (sharing - 1.0) / 2.0;
        if (cell.group.generation >= NcclGeneration::hopper) { rate *= 0.85; }
    }
    return rate;
}

BytesPerSecond algorithm_bandwidth(Cell const& cell) {
    using enum NcclAlgorithm;
    BytesPerSecond const rate = bus_bandwidth(cell);
    if (!cell.is(ring) && cell.is_half()) { return rate; } // counted whole already
    bool const by_steps = cell.is(ring) || cell.is_nvls();
    return rate * (by_steps ? 1.0 * cell.group.ranks / cell.steps() : 0.5);
}

Seconds ring_latency(Cell const& cell, Seconds inside, Seconds between) {
    if (!cell.reduces_everywhere() && !cell.is_half()) { // all ranks pass on at once
        NcclTuning::ByAlgorithm const& table = cell.group.nodes > 1 ? cell.tuning.net_latency
                                               : cell.group.nvlink  ? cell.tuning.nvlink_latency
                                                                    : cell.tuning.pci_latency;
        return table[index_of(cell.algorithm)][index_of(cell.protocol)];
    }
    if (cell.group.nodes > 1) {
        inside = std::max(inside, cell.tuning.net_overhead * (cell.protocol == NcclProtocol::simple ? 3.0 : 1.0));
    }
    int const outer = cell.steps_between_nodes();
    return inside * (1.0 * (cell.steps() - outer)) + between * (1.0 * outer);
}

Seconds latency(Cell const& cell) {
    using enum NcclAlgorithm;
    std::size_t const a = index_of(cell.algorithm), p = index_of(cell.protocol);
    NcclTuning const& tuning = cell.tuning;
    NcclGroup const& group = cell.group;
    Seconds const base = tuning.base_latency[a][p];
    Seconds const inside = (group.nvlink ? tuning.nvlink_latency : tuning.pci_latency)[a][p];
    // One rank a node hides nothing of the network: NCCL takes the tree's latency for every algorithm.
    Seconds between = tuning.net_latency[group.ranks == group.nodes ? index_of(tree) : a][p];
    between += group.network_latency * (cell.protocol == NcclProtocol::simple ? 2.0 : 1.0); // a flush besides
    double const neighbours = cell.whole_per_node() - 1.0;
    switch (cell.algorithm) {
    case ring: return base + ring_latency(cell, inside, between);
    case tree: return base + (inside * neighbours + between * cell.levels()) * 2.0;
    case collnet_direct: return base + (inside * std::min(1.0, neighbours) + direct_arity * neighbours) * 2.0 + between;
    case collnet_chain: return base + inside * (2.0 * neighbours) + between;
    case nvls: return group.nodes > 1 ? inside + between : inside;
    case nvls_tree: return base + inside + between * (2.0 * cell.levels());
    case pat: return base + between * (cell.levels() / pat_depth) + pat_per_rank * (1.0 * group.ranks);
    }
    return base;
}

/// Share of their bandwidth that trees reach at this size.
double tree_correction(Cell const& cell, TotalBytes n) {
    if (!cell.is(NcclAlgorithm::tree) || !cell.reduces_everywhere() || n.size < Bytes{64.0}) { return 1.0; }
    auto const& row = cell.tuning.tree_correction[index_of(cell.protocol)];
    int const doubling = std::ilogb(n.size.base()) - 6;
    return doubling < static_cast<int>(row.size()) ? row[static_cast<std::size_t>(doubling)] : 1.0;
}

/// Factor on the latency of a ring over several nodes.
double plateau(Cell const& cell, TotalBytes n) {
    bool const applies = cell.is(NcclAlgorithm::ring) && cell.protocol == NcclProtocol::simple &&
                         cell.group.nodes > 1 && cell.reduces_everywhere() &&
                         n.size >= plateau_from * (1.0 * cell.group.channels * cell.group.ranks);
    if (!applies) { return 1.0; }
    return cell.group.generation < NcclGeneration::ampere ? cell.tuning.ring_plateau_before_ampere
                                                          : cell.tuning.ring_plateau;
}

} // namespace

std::string_view name_of(NcclAlgorithm algorithm) { return algorithm_names[index_of(algorithm)]; }
std::string_view name_of(NcclProtocol protocol) { return protocol_names[index_of(protocol)]; }

std::vector<NcclCandidate> nccl_candidates(NcclTuning const& tuning, Collective collective, TotalBytes n,
                                           NcclGroup const& group) {
    std::vector<NcclCandidate> candidates;
    if (group.ranks < 2) { return candidates; }
    for (std::size_t a = 0; a < nccl_algorithm_count; ++a) {
        auto const algorithm = static_cast<NcclAlgorithm>(a);
        if (!serves(algorithm, collective)) { continue; }
        for (std::size_t p = 0; p < nccl_protocol_count; ++p) {
            Cell const cell{tuning, group, collective, algorithm, static_cast<NcclProtocol>(p)};
            if (!allowed(cell)) { continue; }
            BytesPerSecond const rate = algorithm_bandwidth(cell) * tree_correction(cell, n);
            if (!(rate > BytesPerSecond{})) { continue; }
            candidates.push_back({algorithm, cell.protocol, latency(cell) * plateau(cell, n), rate});
        }
    }
    return candidates;
}

std::optional<NcclChoice> nccl_choice(NcclTuning const& tuning, Collective collective, TotalBytes n,
                                      NcclGroup const& group) {
    NcclChoice choice{.candidates = nccl_candidates(tuning, collective, n, group)};
    if (choice.candidates.empty()) { return std::nullopt; }
    auto const best =
        std::ranges::min_element(choice.candidates, {}, [n](NcclCandidate const& one) { return one.seconds(n); });
    choice.algorithm = best->algorithm;
    choice.protocol = best->protocol;
    choice.seconds = best->seconds(n);
    return choice;
}

} // namespace headroom::network
