#pragma once

#include "headroom/trace/trace_collectives.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headroom::trace {

/// Runs of one rank in one channel, by begin.
struct ChannelMember {
    std::uint32_t rank = 0; ///< index into the ranks
    std::vector<std::uint32_t> runs;
};

/// Collectives that can be matched by order: those of one process group, or of one pair of ranks.
struct CollectiveChannel {
    std::string group;
    std::int32_t ranks = 0; ///< of the group: stated, else those that are here
    bool stated = false;
    bool directed = false;              ///< from one rank to another: numbers of sends are each rank's own
    std::vector<ChannelMember> members; ///< by rising rank
};

/// Channels by name; what belongs to none (two ranks alone that nobody names) is counted.
struct CollectiveChannels {
    std::vector<CollectiveChannel> channels = {};
    std::int64_t without_peer = 0;
    std::int64_t groups_by_order = 0; ///< channels that rest on the order of streams
};

/// Sorts the runs of all ranks into channels. A group is what has one name, one list of ranks and one size, but sends
/// from one rank to another are a channel of their own where sender and receiver are known; runs on a
/// stream that name none belong to the group of the others on that stream; streams that name none at all pair up by
/// what runs on them, then by order. `order` lists the ranks.
CollectiveChannels channels_of(std::span<RankRuns const* const> order);

/// Hash of what is called, and of its size where all ranks must have the same.
std::uint64_t call_name_hash(CollectiveLabel const& label);
std::uint64_t call_hash(CollectiveLabel const& label, std::uint64_t name_hash, std::int64_t bytes);

} // namespace headroom::trace
