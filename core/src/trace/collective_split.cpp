#include "collective_split.hpp"

#include "wide_time.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace headroom::trace {
namespace {

constexpr std::size_t samples = 64;
constexpr std::int64_t missing = std::numeric_limits<std::int64_t>::min();

/// Ends of each member at a sample of positions.
std::vector<std::vector<std::int64_t>> sampled_ends(CollectiveChannel const& channel, ChannelPositions const& positions,
                                                    std::span<RankRuns const* const> order) {
    std::size_t const step = std::max<std::size_t>(1, positions.count / samples);
    std::vector<std::vector<std::int64_t>> result;
    for (std::size_t m = 0; m < channel.members.size(); ++m) {
        auto& ends = result.emplace_back(positions.count / step + 1, missing);
        auto const& member = channel.members[m];
        for (std::size_t k = 0; k < member.runs.size(); ++k) {
            auto const at = positions.at[m][k];
            if (at == no_partner || static_cast<std::size_t>(at) % step != 0) { continue; }
            ends[static_cast<std::size_t>(at) / step] = order[member.rank]->runs.runs[member.runs[k]].end;
        }
    }
    return result;
}

std::int64_t distance(std::vector<std::int64_t> const& one, std::vector<std::int64_t> const& other) {
    std::vector<std::int64_t> differences;
    for (std::size_t i = 0; i < one.size(); ++i) {
        if (one[i] != missing && other[i] != missing) { differences.push_back(wide_difference(other[i], one[i])); }
    }
    return differences.empty() ? std::numeric_limits<std::int64_t>::max() : median_and_spread(differences).spread;
}

/// Members in groups of `size`.
std::vector<std::vector<std::size_t>> groups_of(std::vector<std::vector<std::int64_t>> const& ends, std::size_t size) {
    std::vector<std::size_t> open(ends.size());
    for (std::size_t m = 0; m < open.size(); ++m) { open[m] = m; }
    std::vector<std::vector<std::size_t>> result;
    while (!open.empty()) {
        std::vector<std::pair<std::int64_t, std::size_t>> near;
        for (std::size_t const m : open) {
            near.emplace_back(m == open.front() ? -1 : distance(ends[open.front()], ends[m]), m);
        }
        std::ranges::sort(near);
        near.resize(std::min(size, near.size()));
        auto& group = result.emplace_back();
        for (auto const& [far, m] : near) { group.push_back(m); }
        std::ranges::sort(group);
        std::erase_if(open, [&](std::size_t m) { return std::ranges::binary_search(group, m); });
    }
    return result;
}

bool is_shared(CollectiveChannel const& channel) {
    return channel.stated && channel.ranks > 0 && channel.members.size() > static_cast<std::size_t>(channel.ranks);
}

} // namespace

std::vector<PlacedChannel> placed_channels(std::vector<CollectiveChannel> channels,
                                           std::span<RankRuns const* const> order) {
    std::vector<PlacedChannel> result;
    for (auto& channel : channels) {
        auto positions = positions_of(channel, order);
        if (!is_shared(channel)) {
            result.push_back({std::move(channel), std::move(positions)});
            continue;
        }
        auto const ends = sampled_ends(channel, positions, order);
        for (auto const& group : groups_of(ends, static_cast<std::size_t>(channel.ranks))) {
            CollectiveChannel part{channel.group, channel.ranks, channel.stated, {}};
            for (std::size_t const m : group) { part.members.push_back(std::move(channel.members[m])); }
            auto placed = positions_of(part, order);
            result.push_back({std::move(part), std::move(placed)});
        }
    }
    return result;
}

} // namespace headroom::trace
