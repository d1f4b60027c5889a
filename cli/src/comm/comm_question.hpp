#pragma once

#include "arguments.hpp"

#include "headroom/collective_algorithm.hpp"
#include "headroom/compression.hpp"
#include "headroom/io/benchmark_log.hpp"
#include "headroom/io/catalog.hpp"
#include "headroom/measured_network.hpp"
#include "headroom/server.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// Ranks of a pod: so many that share the scale-out network before another link leads to other pods.
struct CommPod {
    int ranks = 1;
    Link link; ///< between pods
};

/// The network that data moves over: one link for all, a cluster's two levels, three with pods, or a torus.
struct CommNetwork {
    std::string name; ///< of the cluster, or the link as it was given
    Fabric fabric;
    int domain = 0; ///< ranks on the fast level; 0: one level for all
    std::optional<CommPod> pod;
    std::vector<int> torus;         ///< ranks along each side; empty: no torus
    std::optional<Cluster> cluster; ///< that --cluster named
    MeasuredNetwork measured;       ///< of the calibration, where it holds any
    [[nodiscard]] Group group(int ranks) const { return group_of(ranks, 1, domain > 0 ? domain : ranks); }
    [[nodiscard]] bool leaves_pod(int ranks) const { return pod && ranks > pod->ranks; }
    [[nodiscard]] Layout layout(int ranks) const;
};

/// Parameter servers that a question names: so many of their own, or one shard on every rank.
struct CommServers {
    int count = 1;
    bool on_ranks = false;
};

/// Reinforcement learning: what beside the weights is asked about.
struct CommActors {
    Bytes experience;
    int ports = 1;
};

struct CommCompression {
    GradientCompression how;
    std::string parameter; ///< as given; empty: the default
    std::optional<GradientMatrix> matrix;
};

/// Gradients that are sent in buckets while the backward pass makes the rest of them.
struct CommBuckets {
    Bytes size;
    Seconds behind; ///< the computation they hide behind
};

/// What an all-reduce may be changed to.
struct CommLevers {
    Bytes element{2.0}; ///< of one gradient
    std::optional<CommCompression> compression;
    std::optional<int> local_steps;
    std::optional<CommBuckets> buckets;
    [[nodiscard]] bool any() const { return compression || local_steps || buckets; }
};

/// Several groups that run the same collective on one network.
struct CommContention {
    std::string topology; ///< as given: "leaf-spine:leaf=32,oversubscription=2"
    int groups = 1;
    int stride = 1; ///< between the ranks of a group
};

/// What the verb was asked.
struct CommQuestion {
    std::string movement; ///< a collective, parameter_server or actor_learner
    std::optional<Collective> collective;
    std::vector<std::string> algorithms; ///< empty: every one
    TotalBytes size;
    bool sweep = false, all = false, simulate = false, in_network = false;
    double skew = 1.0;
    SecondsPerByte reduction;
    std::vector<int> ranks;
    CommNetwork network;
    std::optional<CommServers> servers;
    std::optional<CommActors> actors;
    CommLevers levers;
    std::vector<io::BenchmarkLog> measured;
    std::optional<CommContention> contention;
    std::string schedule_file; ///< empty: none is written

    /// The collective whose algorithms are listed, if any.
    [[nodiscard]] std::optional<Collective> listed() const {
        return actors ? std::nullopt : std::optional{collective.value_or(Collective::all_reduce)};
    }
};

/// Everything that was asked, or what is wrong with it; `calibration` becomes the name of the constants used.
CommQuestion read_question(Arguments const& arguments, io::Catalog const& catalog, std::string& calibration);
CommNetwork read_network(Arguments const& arguments, io::Catalog const& catalog, std::string& calibration);

/// A size above zero. Errors: InputError{usage} at `where`.
Bytes read_size(std::string const& text, std::string const& where);
CommLevers read_levers(Arguments const& arguments);
std::optional<CommContention> read_contention(Arguments const& arguments);
std::vector<io::BenchmarkLog> read_measured(Arguments const& arguments);

/// Options that belong to another question would be ignored: refuses `option` where it is given and does not belong.
void check_belongs(Arguments const& arguments, std::string const& option, bool belongs, std::string const& to);

/// Sizes that are asked about: one, or 1 KiB doubling up to it.
std::vector<TotalBytes> sizes_of(CommQuestion const& question);

} // namespace headroom::cli
