#include "headroom/network/server.hpp"

#include "headroom/error.hpp"

#include <algorithm>

namespace headroom::network {

namespace {

Seconds carry(Bytes volume, BytesPerSecond bandwidth) { return volume.base() > 0.0 ? volume / bandwidth : Seconds{}; }

/// One way of servers that are workers: what a server's port takes in, what a worker's port sends.
Bytes colocated_way(Bytes n, double workers, double ports) {
    double const taken_in = (workers - 1.0) / ports;
    double const sent = ports < workers ? 1.0 : (ports - 1.0) / ports;
    return std::max(taken_in, sent) * n;
}

/// One way between the learner and all actors at once, each level on `ports` ports of its own.
CollectiveTime star(Bytes each, double ports, Group group, Fabric fabric) {
    double const inside = std::min(group.per_domain, group.size) - 1.0;
    double const across = group.size - 1.0 - inside;
    auto const level = [&](double actors, Link link) {
        return actors > 0.0 ? CollectiveTime{link.latency, carry(std::max(1.0, actors / ports) * each, link.bandwidth)}
                            : CollectiveTime{};
    };
    CollectiveTime const near = level(inside, fabric.scale_up), far = level(across, fabric.scale_out);
    return near.total() > far.total() ? near : far;
}

CollectiveTime tree(std::string_view name, TotalBytes n, Group group, Fabric fabric) {
    for (LibraryAlgorithm const& algorithm : library_algorithms()) {
        if (algorithm.collective == Collective::broadcast && algorithm.name == name) {
            return algorithm.time(n, group, fabric);
        }
    }
    throw ContractError{"no such broadcast"};
}

} // namespace

CollectiveTime parameter_server(TotalBytes n, Ranks workers, ParameterServers const& servers) {
    double const k = workers.count(), s = servers.ports.count();
    if (servers.colocated) {
        if (workers.count() == 1) { return {}; }
        BytesPerSecond const slower = std::min(servers.port.bandwidth, servers.worker.bandwidth);
        return {2.0 * std::max(servers.port.latency, servers.worker.latency),
                2.0 * carry(colocated_way(n.size, k, std::min(s, k)), slower)};
    }
    Seconds const at_port = carry(k / s * n.size, servers.port.bandwidth);
    Seconds const at_worker = carry(n.size, servers.worker.bandwidth);
    return {2.0 * std::max(servers.port.latency, servers.worker.latency), 2.0 * std::max(at_port, at_worker)};
}

Seconds parameter_server_lower_bound(TotalBytes n, Ranks workers, ParameterServers const& servers) {
    double const k = workers.count();
    return 2.0 * carry((servers.colocated ? (k - 1.0) / k : 1.0) * n.size, servers.worker.bandwidth);
}

std::string_view name_of(WeightBroadcast broadcast) {
    switch (broadcast) {
    case WeightBroadcast::direct: return "direct";
    case WeightBroadcast::binomial: return "binomial";
    case WeightBroadcast::scatter_all_gather: return "scatter_all_gather";
    }
    return "";
}

ActorLearnerTime actor_learner(ActorLearner const& update, Group group, Fabric fabric) {
    if (group.size <= 1) { return {}; }
    double const ports = update.ports.count();
    CollectiveTime const out = update.broadcast == WeightBroadcast::direct
                                   ? star(update.weights.size, ports, group, fabric)
                                   : tree(name_of(update.broadcast), update.weights, group, fabric);
    return {out, star(update.experience, ports, group, fabric)};
}

Seconds actor_learner_lower_bound(ActorLearner const& update, Group group, Fabric fabric) {
    if (group.size <= 1) { return {}; }
    BytesPerSecond in{};
    if (std::min(group.per_domain, group.size) > 1) { in += fabric.scale_up.bandwidth; }
    if (group.domains() > 1) { in += fabric.scale_out.bandwidth; }
    return bandwidth_lower_bound(Collective::broadcast, update.weights, group, fabric) +
           carry((group.size - 1.0) / update.ports.count() * update.experience, in);
}

} // namespace headroom::network
