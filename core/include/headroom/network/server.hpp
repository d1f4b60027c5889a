#pragma once

#include "headroom/network/library_collectives.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace headroom::network {

/// Where parameters are kept for all workers: equal shards behind so many ports.
struct ParameterServers {
    Ranks ports{1}; ///< S: each serves one shard
    Link port;      ///< of one server
    Link worker;    ///< of one worker
    /// The servers are the workers themselves (at most one port each) and share their ports: what a worker
    /// keeps of its own does not travel.
    bool colocated = false;
};

/// Time of a synchronous update through parameter servers: each of K workers pushes n bytes of gradients and,
/// once the last push has arrived, pulls n bytes of weights.
///
///     T = 2 alpha + 2 max(K/S n/B, n/B_worker)
///     T = 2 alpha + 2 max((K-1)/S n, (S-1)/S n, [S < K] n)/B      colocated; a ring's bytes when S = K
///
/// The K transfers of one shard queue at its port; pushes and pulls do not overlap, since no weight is new before the
/// last gradient has come.
/// Holds for:  any K and S >= 1; grows linearly with K where the servers' ports decide, while a ring stays below 2 n/B.
/// Assumes:    full-duplex ports, equal shards, the messages to S servers start together, the update is free.
/// Source:     [Li2014]
CollectiveTime parameter_server(TotalBytes n, Ranks workers, ParameterServers const& servers);

/// Time that no number of servers beats: T >= 2 n/B_worker (colocated: 2(K-1)/K n/B), no latency counted.
/// Source: [Li2014]
Seconds parameter_server_lower_bound(TotalBytes n, Ranks workers, ParameterServers const& servers);

/// Path of a learner's weights to its actors.
enum class WeightBroadcast {
    direct,             ///< one copy for each actor leaves the learner
    binomial,           ///< actors pass the weights on, whole
    scatter_all_gather, ///< pieces are scattered, then gathered around a ring
};
inline constexpr std::array weight_broadcasts{WeightBroadcast::direct, WeightBroadcast::binomial,
                                              WeightBroadcast::scatter_all_gather};
std::string_view name_of(WeightBroadcast broadcast);

/// Data that one update of reinforcement learning moves between one learner and A actors.
struct ActorLearner {
    TotalBytes weights; ///< n: one copy
    Bytes experience;   ///< e: what one actor sends an update
    Ranks ports{1};     ///< of the learner, on each level of the network
    WeightBroadcast broadcast = WeightBroadcast::direct;
};

struct ActorLearnerTime {
    CollectiveTime broadcast, gather;
    /// One after another: actors act on the newest weights.
    [[nodiscard]] CollectiveTime synchronous() const {
        return {broadcast.latency + gather.latency, broadcast.bandwidth + gather.bandwidth};
    }
    /// Weights leave while experience arrives, on full-duplex ports: the shortest time between two updates.
    [[nodiscard]] Seconds asynchronous() const { return std::max(broadcast.total(), gather.total()); }
};

/// Time that weights and experience take, over a group of the learner and its A = p - 1 actors.
///
///     direct      alpha + max(n, A/P n)/B         copies leave the learner's P ports one after another
///     binomial, scatter_all_gather                as in `library_algorithms`, over p ranks
///     gather      alpha + max(e, A/P e)/B         experience queues at the same ports
///
/// Over two levels the g - 1 actors of the learner's domain and the p - g others are served at once, each on their own
/// level; the slower decides.
/// Holds for:  any p >= 1 (no actor costs nothing).
/// Assumes:    full-duplex ports; every actor sends as much; trees leave by one port.
/// Source:     [Thakur2005], [Espeholt2018]
ActorLearnerTime actor_learner(ActorLearner const& update, Group group, Fabric fabric);

/// Time that no way of sending weights beats, one after another: that of a broadcast, and A e / P over all levels that
/// the learner's ports have. No latency counted.
/// Source: [Thakur2005]
Seconds actor_learner_lower_bound(ActorLearner const& update, Group group, Fabric fabric);

} // namespace headroom::network
