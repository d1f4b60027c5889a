#include "algorithms/terms.hpp"

#include "headroom/network/collective_algorithm.hpp"

#include <algorithm>

namespace headroom::network {
namespace {

/// Least bytes that some rank must send or receive, over n.
double unavoidable(Collective collective, double p, double skew, bool in_network) {
    double const others = (p - 1.0) / p;
    switch (collective) {
    case Collective::all_reduce: return in_network ? 1.0 : 2.0 * others;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::scatter:
    case Collective::gather: return others;
    case Collective::all_to_all: return others * std::clamp(skew, 1.0, p);
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::point_to_point: return 1.0;
    case Collective::barrier: return 0.0;
    }
    return 0.0;
}

/// Least bytes that a domain of g of the p ranks must send or receive, over n and its g outer ports.
double leaving(Collective collective, double p, double g, bool in_network) {
    double const domains = p / g;
    switch (collective) {
    case Collective::all_reduce: return (in_network ? 1.0 : 2.0 * (1.0 - 1.0 / domains)) / g;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::scatter:
    case Collective::gather: return (1.0 - 1.0 / domains) / g;
    case Collective::all_to_all: return (p - g) / p;
    case Collective::broadcast:
    case Collective::reduce: return 1.0 / g;
    case Collective::point_to_point:
    case Collective::barrier: return 0.0;
    }
    return 0.0;
}

} // namespace

Seconds CollectiveBound::total() const { return std::max({latency, bandwidth, reduction}); }

CollectiveBound lower_bound(Collective collective, CollectiveCall const& call, bool in_network) {
    Layout const& layout = call.layout;
    if (layout.ranks <= 1) { return {}; }
    double const p = layout.ranks;
    Seconds quickest = layout.level[0].link.latency;
    BytesPerSecond ports{};
    for (int i = 0; i < layout.levels; ++i) {
        Link const& link = layout.level[static_cast<std::size_t>(i)].link;
        quickest = std::min(quickest, link.latency);
        ports += link.bandwidth;
    }
    bool const one_hop = collective == Collective::point_to_point || in_network;
    CollectiveBound bound{.latency = (one_hop ? 1 : algorithms::ceil_log2(layout.ranks)) * quickest,
                          .bandwidth = unavoidable(collective, p, call.skew, in_network) * call.size.size / ports,
                          .reduction = {}};
    if (layout.levels > 1) {
        double const g = p / layout.level[static_cast<std::size_t>(layout.levels - 1)].ranks;
        bound.bandwidth = std::max(bound.bandwidth, leaving(collective, p, g, in_network) * call.size.size /
                                                        layout.outermost().bandwidth);
    }
    if (reduces(collective) && !in_network) { bound.reduction = (p - 1.0) / p * call.size.size * call.reduction; }
    return bound;
}

} // namespace headroom::network
