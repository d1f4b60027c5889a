#include "headroom/network/collective.hpp"

#include "headroom/error.hpp"

#include <cmath>

namespace headroom::network {
namespace {

/// Time that a volume takes on a link; nothing takes no time, even on a link that is not there.
Seconds carry(Bytes volume, BytesPerSecond bandwidth) { return volume.base() > 0.0 ? volume / bandwidth : Seconds{}; }

double rounds(double p) { return p > 1.0 ? std::ceil(std::log2(p)) : 0.0; }

struct Named {
    std::string_view name;
    Collective collective;
};

/// As MPI, NCCL and their benchmarks write them, normalised; the first of each is ours.
constexpr std::array names{
    Named{"all_reduce", Collective::all_reduce},
    Named{"all_gather", Collective::all_gather},
    Named{"reduce_scatter", Collective::reduce_scatter},
    Named{"all_to_all", Collective::all_to_all},
    Named{"broadcast", Collective::broadcast},
    Named{"point_to_point", Collective::point_to_point},
    Named{"reduce", Collective::reduce},
    Named{"scatter", Collective::scatter},
    Named{"gather", Collective::gather},
    Named{"barrier", Collective::barrier},
};

/// Other names of the collectives, `normalised` and without a leading "mpi", "nccl", "rccl" or "osu".
constexpr std::array other_names{
    Named{"bcast", Collective::broadcast},         Named{"alltoallv", Collective::all_to_all},
    Named{"sendrecv", Collective::point_to_point}, Named{"sendreceive", Collective::point_to_point},
    Named{"p2p", Collective::point_to_point},      Named{"pingpong", Collective::point_to_point},
    Named{"latency", Collective::point_to_point},  Named{"reducescatterblock", Collective::reduce_scatter},
};

} // namespace

std::string_view name_of(Collective collective) {
    for (Named const& one : names) {
        if (one.collective == collective) { return one.name; }
    }
    return "";
}

std::optional<Collective> collective_from(std::string_view name) {
    std::string text = normalised(name);
    for (std::string_view const maker : {"mpi", "nccl", "rccl", "osu"}) {
        if (text.starts_with(maker) && text.size() > maker.size()) { text.erase(0, maker.size()); }
    }
    for (Named const& one : names) {
        if (text == normalised(one.name)) { return one.collective; }
    }
    for (Named const& one : other_names) {
        if (text == one.name) { return one.collective; }
    }
    return std::nullopt;
}

bool reduces(Collective collective) {
    return collective == Collective::all_reduce || collective == Collective::reduce_scatter ||
           collective == Collective::reduce;
}

CollectiveTime ring_all_reduce(TotalBytes n, Ranks p, Link link) {
    CollectiveTime const half = ring_half(n, p, link);
    return {2.0 * half.latency, 2.0 * half.bandwidth};
}

Bytes ring_all_reduce_bytes(TotalBytes n, Ranks p) { return 2.0 * (p.count() - 1.0) / p.count() * n.size; }

CollectiveTime tree_all_reduce(TotalBytes n, Ranks p, Link link) {
    if (p.count() == 1) { return {}; }
    return {2.0 * rounds(p.count()) * link.latency, carry(2.0 * n.size, link.bandwidth)};
}

CollectiveTime ring_half(TotalBytes n, Ranks p, Link link) {
    double const hops = p.count() - 1.0;
    return {hops * link.latency, carry(hops / p.count() * n.size, link.bandwidth)};
}

CollectiveTime point_to_point(TotalBytes n, Link link) { return {link.latency, carry(n.size, link.bandwidth)}; }

} // namespace headroom::network
