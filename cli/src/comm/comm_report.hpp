#pragma once

#include "output.hpp"

#include "headroom/comparison.hpp"
#include "headroom/compression.hpp"
#include "headroom/server.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// The network that data moves over: one link for all, or a cluster's two levels.
struct CommNetwork {
    std::string name; ///< of the cluster, or the link as it was given
    Fabric fabric;
    int domain = 0; ///< ranks on the fast level; 0: one level for all
    [[nodiscard]] Group group(int ranks) const { return group_of(ranks, 1, domain > 0 ? domain : ranks); }
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
    Bytes element;         ///< of one gradient
    std::optional<GradientMatrix> matrix;
};

/// What the verb was asked.
struct CommQuestion {
    std::string movement; ///< a collective, parameter_server or actor_learner
    std::optional<Collective> collective;
    TotalBytes size;
    bool sweep = false;
    std::vector<int> ranks;
    CommNetwork network;
    std::optional<CommServers> servers;
    std::optional<CommActors> actors;
    std::optional<CommCompression> compression;
};

struct CommRow {
    std::string collective, algorithm, source;
    int ranks = 1;
    TotalBytes size;
    CollectiveTime time;
    std::optional<Seconds> reduction; ///< empty: not modelled
    std::optional<BytesPerSecond> bus_bandwidth;
    Seconds lower_bound;
    std::optional<ActorLearnerTime> parts;
    bool fastest = false; ///< of its ranks and size
};

struct CommCrossover {
    int ranks = 1;
    TotalBytes size;
    std::string below, above;
    Seconds time;
};

/// One collective of a compressed step, priced.
struct CommSent {
    SentCollective sent;
    CollectiveChoice choice;
};

struct CommCompressed {
    int ranks = 1;
    CompressedGradients gradients;
    std::vector<CommSent> sent;
    CollectiveTime time, uncompressed;
};

struct CommReport {
    io::Catalog const& catalog;
    std::string calibration; ///< empty: nothing calibrated
    CommQuestion question;
    std::vector<CommRow> rows;
    std::vector<CommCrossover> crossovers;
    std::vector<CommCompressed> compressed;
    std::optional<double> wall_seconds;
};

/// Sizes that are asked about: one, or 1 KiB doubling up to it.
std::vector<TotalBytes> sizes_of(CommQuestion const& question);
/// Every algorithm at every number of ranks and every size, which is the fastest, where that changes.
CommReport answer_of(CommQuestion question, io::Catalog const& catalog, std::string calibration);

Document document_of(CommReport const& report);
Json json_of(CommReport const& report);
Sheet sheet_of(CommReport const& report);

} // namespace headroom::cli
