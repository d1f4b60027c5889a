#pragma once

#include "headroom/network/collective.hpp"
#include "headroom/network/compression.hpp"
#include "headroom/network/layout.hpp"
#include "headroom/network/measured_collective.hpp"
#include "headroom/network/measured_network.hpp"
#include "headroom/network/nccl_tuning.hpp"
#include "headroom/network/topology.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headroom::network {

/// Ranks that share the scale-out network before another link leads to other pods.
struct CommPod {
    int ranks = 1;
    Link link; ///< between pods
};

/// The network that data moves over: one link for all ranks, a cluster's two levels, three with pods, or a torus.
struct CommNetwork {
    std::string name; ///< of the cluster, or the link as it was given
    Fabric fabric;
    int domain = 0; ///< ranks on the fast level; 0: one level for all
    std::optional<CommPod> pod;
    std::vector<int> torus;         ///< ranks along each side; empty: no torus
    std::optional<Cluster> cluster; ///< empty where a link was given
    MeasuredNetwork measured;       ///< of the calibration, where it holds any
    std::vector<std::string> notes; ///< origin of measured links, and reasons for those that are not used
    [[nodiscard]] Group group(int ranks) const { return group_of(ranks, 1, domain > 0 ? domain : ranks); }
    [[nodiscard]] bool leaves_pod(int ranks) const { return pod && ranks > pod->ranks; }
    [[nodiscard]] Layout layout(int ranks) const;
};

/// Parameter servers: a number of dedicated ones, or one shard on every rank.
struct CommServers {
    int count = 1;
    bool on_ranks = false;
};

/// Traffic of reinforcement learning in addition to the weights.
struct CommActors {
    Bytes experience; ///< that an actor sends with each update
    int ports = 1;    ///< of the learner
};

struct CommCompression {
    GradientCompression how;
    std::string parameter; ///< as given; empty: the default
    std::optional<GradientMatrix> matrix;
};

/// Gradients that are sent in buckets while the backward pass computes the remaining ones.
struct CommBuckets {
    Bytes size;
    Seconds behind; ///< duration of the backward pass
};

/// Changes of an all-reduce.
struct CommLevers {
    Bytes element{2.0}; ///< of one gradient
    std::optional<CommCompression> compression;
    std::optional<int> local_steps;
    std::optional<CommBuckets> buckets;
    [[nodiscard]] bool any() const { return compression || local_steps || buckets; }
};

/// Groups that run the same collective at once on one network.
struct CommContention {
    std::string topology;                      ///< as given: "leaf-spine:leaf=32,oversubscription=2"
    std::function<Topology(int)> network = {}; ///< by the number of endpoints
    int groups = 1;
    int stride = 1; ///< places between the ranks of a group
};

/// A question about the time of collectives.
struct CommQuestion {
    std::string movement; ///< a collective, parameter_server or actor_learner
    std::optional<Collective> collective;
    std::vector<std::string> algorithms; ///< empty: every one
    TotalBytes size;
    bool sweep = false, simulate = false, in_network = false;
    double skew = 1.0;
    SecondsPerByte reduction;
    std::vector<int> ranks;
    CommNetwork network;
    std::optional<CommServers> servers;
    std::optional<CommActors> actors;
    CommLevers levers;
    std::vector<MeasuredCollective> measured;
    std::optional<CommContention> contention;
    std::optional<NcclTuning> nccl; ///< empty: NCCL's choice is not estimated

    /// The collective whose algorithms are listed, if any.
    [[nodiscard]] std::optional<Collective> listed() const {
        return actors ? std::nullopt : std::optional{collective.value_or(Collective::all_reduce)};
    }
};

/// Sizes that are asked about: one, or 1 KiB doubling up to it.
std::vector<TotalBytes> sizes_of(CommQuestion const& question);

} // namespace headroom::network
