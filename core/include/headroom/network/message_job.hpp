#pragma once

#include "headroom/network/collective.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {
struct FieldTable;
} // namespace headroom

namespace headroom::network {

/// Pattern of messages that the ranks of a job send while a clock runs. `peer` is the rank that rank 0 talks to.
enum class CommPattern : std::int32_t {
    one_way,     ///< 0 sends, the peer answers: half of a round trip, by one clock
    both_ways,   ///< 0 and the peer send to each other at the same time, several times in a row: one exchange
    shifted,     ///< every rank sends to the next one and receives from the one before, likewise: one exchange
    all_at_once, ///< every rank sends its share to every other at the same time
    pairs,       ///< all pairs of one of `pair_rounds`: one way each, all at the same time
    loaded,      ///< one_way while the other ranks exchange megabytes two by two
    computing,   ///< one_way while every rank has a thread that computes
    train,       ///< 0 sends several messages in a row and the peer answers the last: see `fit::MessageTrain`
    adding,      ///< every rank adds a vector to another: no message
    collective,  ///< one of MPI's
};
std::string_view name_of(CommPattern pattern);
std::optional<CommPattern> comm_pattern_from(std::string_view name);

/// Algorithm of one collective that the library can be forced to use, by the library's own name.
struct CommAlgorithm {
    Collective collective = Collective::all_reduce;
    std::string name;
    int number = 0;
};
FieldTable const& field_table_of(CommAlgorithm const*);

/// Ranks of a job, with their hosts.
struct CommWorld {
    std::vector<std::string> hosts; ///< a rank
    std::vector<int> cores;         ///< of a rank's host, that its processes may use
    std::string implementation;     ///< first line of its version
    std::vector<CommAlgorithm> algorithms;
    std::string no_algorithms; ///< why none can be forced; empty where they can
    [[nodiscard]] int ranks() const { return static_cast<int>(hosts.size()); }
    [[nodiscard]] std::string const& host_of(int rank) const { return hosts[static_cast<std::size_t>(rank)]; }
    /// The first rank on rank 0's host and the first one elsewhere.
    [[nodiscard]] std::optional<int> near_peer() const;
    [[nodiscard]] std::optional<int> far_peer() const;
    /// Link between rank 0 and this rank: "inside a host" or "between hosts".
    [[nodiscard]] std::string link_to(int peer) const;
    /// Some host has fewer cores than ranks.
    [[nodiscard]] bool crowded() const;
    [[nodiscard]] int nodes() const;
};
FieldTable const& field_table_of(CommWorld const*);

} // namespace headroom::network
