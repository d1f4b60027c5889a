#include "collective_groups.hpp"

#include "wide_time.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace headroom::trace {

using namespace headroom::network;

namespace {

constexpr std::size_t samples = 64, fewest_samples = 8, most_ranks = 1024;
constexpr std::int64_t missing = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t ends_of_one_group = 25'000; // ns
constexpr std::int64_t parts_of_a_duration = 20;

/// Ends of each member at a sample of positions, and the median of the shortest durations there.
struct SampledEnds {
    std::vector<std::vector<std::int64_t>> of;
    std::int64_t duration = 0;
};

SampledEnds sampled_ends(CollectiveChannel const& channel, ChannelPositions const& positions,
                         std::span<RankRuns const* const> order) {
    std::size_t const step = std::max<std::size_t>(1, positions.count / samples);
    SampledEnds result;
    std::vector<std::int64_t> shortest(positions.count / step + 1, std::numeric_limits<std::int64_t>::max());
    for (std::size_t m = 0; m < channel.members.size(); ++m) {
        auto& ends = result.of.emplace_back(shortest.size(), missing);
        auto const& member = channel.members[m];
        auto const& runs = order[member.rank]->runs;
        for (std::size_t k = 0; k < member.runs.size(); ++k) {
            auto const at = positions.at[m][k];
            if (at == no_partner || static_cast<std::size_t>(at) % step != 0) { continue; }
            CollectiveRun const& run = runs.runs[member.runs[k]];
            auto const& collective = runs.label_of(run).collective;
            if (!channel.stated && collective && !ends_together(*collective)) { continue; }
            ends[static_cast<std::size_t>(at) / step] = run.end;
            auto& least = shortest[static_cast<std::size_t>(at) / step];
            least = std::min(least, wide_difference(run.end, run.begin));
        }
    }
    std::erase(shortest, std::numeric_limits<std::int64_t>::max());
    if (!shortest.empty()) { result.duration = lower_median(shortest); }
    return result;
}

/// Differences of the ends of two ranks at common positions.
std::vector<std::int64_t> differences_of(std::vector<std::int64_t> const& one, std::vector<std::int64_t> const& other) {
    std::vector<std::int64_t> differences;
    for (std::size_t i = 0; i < one.size(); ++i) {
        if (one[i] != missing && other[i] != missing) { differences.push_back(wide_difference(other[i], one[i])); }
    }
    return differences;
}

/// Takes a straight line out of values: what a drift of two clocks adds.
void take_line_out(std::vector<std::int64_t>& values) {
    std::size_t const half = values.size() / 2;
    if (values.size() < fewest_samples) { return; }
    std::vector<std::int64_t> early(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half));
    std::vector<std::int64_t> late(values.end() - static_cast<std::ptrdiff_t>(half), values.end());
    double const rise = static_cast<double>(wide_difference(lower_median(late), lower_median(early)));
    double const slope = rise / static_cast<double>(values.size() - half);
    constexpr double farthest = 4e18;
    for (std::size_t i = 0; i < values.size(); ++i) {
        double const moved = std::clamp(slope * static_cast<double>(i), -farthest, farthest);
        values[i] = wide_difference(values[i], static_cast<std::int64_t>(moved));
    }
}

/// Spread of the differences of two ranks' ends around their median, and the size of the median.
struct Distance {
    std::int64_t spread = std::numeric_limits<std::int64_t>::max(), offset = 0;
    auto operator<=>(Distance const&) const = default;
};
Distance distance_of(std::vector<std::int64_t> const& one, std::vector<std::int64_t> const& other) {
    auto differences = differences_of(one, other);
    if (differences.empty()) { return {}; }
    take_line_out(differences);
    auto const [median, spread] = median_and_spread(differences);
    return {spread, median < 0 ? wide_difference(0, median) : median};
}

using Groups = std::vector<std::vector<std::size_t>>;

/// Members in groups of `size`.
Groups groups_by_ends(std::vector<std::vector<std::int64_t>> const& ends, std::size_t size) {
    std::vector<std::size_t> open(ends.size());
    for (std::size_t m = 0; m < open.size(); ++m) { open[m] = m; }
    Groups result;
    while (!open.empty()) {
        std::vector<std::pair<Distance, std::size_t>> near;
        for (std::size_t const m : open) {
            near.emplace_back(m == open.front() ? Distance{-1, 0} : distance_of(ends[open.front()], ends[m]), m);
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

/// Whether the ends of all groups fit; empty where their members have too few collectives in common to tell.
std::optional<bool> ends_fit(SampledEnds const& ends, Groups const& groups) {
    std::int64_t const most = std::max(ends_of_one_group, ends.duration / parts_of_a_duration);
    for (auto const& group : groups) {
        for (std::size_t i = 1; i < group.size(); ++i) {
            auto const &one = ends.of[group.front()], &other = ends.of[group[i]];
            if (differences_of(one, other).size() < fewest_samples) { return {}; }
            if (distance_of(one, other).spread > most) { return false; }
        }
    }
    return true;
}

/// Size of the group of every run of a channel as its labels state it; 0: none, or several.
std::size_t stated_size(CollectiveChannel const& channel, std::span<RankRuns const* const> order) {
    std::optional<std::int32_t> size;
    for (auto const& member : channel.members) {
        auto const& runs = order[member.rank]->runs;
        for (auto const i : member.runs) {
            std::int32_t const of_run = runs.label_of(runs.runs[i]).group_size;
            if (of_run != size.value_or(of_run)) { return 0; }
            size = of_run;
        }
    }
    return static_cast<std::size_t>(std::max(size.value_or(0), 0));
}

/// Whether the trace says of most runs which collective they are.
bool is_known(CollectiveChannel const& channel, std::span<RankRuns const* const> order) {
    std::size_t known = 0, all = 0;
    for (auto const& member : channel.members) {
        auto const& runs = order[member.rank]->runs;
        all += member.runs.size();
        known += static_cast<std::size_t>(std::ranges::count_if(
            member.runs, [&](auto const i) { return runs.label_of(runs.runs[i]).collective.has_value(); }));
    }
    return known * 2 > all;
}

/// Groups of the members of a channel that nothing names; one of all where they fit or cannot be distinguished, one of each
/// where no partners can be known.
Groups groups_without_name(CollectiveChannel const& channel, ChannelPositions const& positions,
                           std::span<RankRuns const* const> order) {
    std::size_t const ranks = channel.members.size(), stated = stated_size(channel, order);
    if (ranks < 2) { return {{0}}; }
    auto const ends = sampled_ends(channel, positions, order);
    Groups const whole = groups_by_ends(ends.of, ranks);
    bool const smaller = stated >= 2 && stated < ranks;
    bool const known = is_known(channel, order);
    auto const as_one = ends_fit(ends, whole);
    if (!smaller && (stated >= ranks || as_one.value_or(true) || (known && ranks == 2))) { return whole; }
    for (std::size_t size = smaller ? stated : ranks / 2; size >= 2; --size) {
        if (ranks % size == 0) {
            auto groups = groups_by_ends(ends.of, size);
            if (ends_fit(ends, groups).value_or(false)) { return groups; }
        }
        if (smaller) { break; }
    }
    if (!smaller && known) { return whole; }
    Groups alone;
    for (std::size_t m = 0; m < ranks; ++m) { alone.push_back({m}); }
    return alone;
}

bool is_shared(CollectiveChannel const& channel) {
    return channel.stated && channel.ranks > 0 && channel.members.size() > static_cast<std::size_t>(channel.ranks);
}

bool is_nameless(CollectiveChannel const& channel, std::span<RankRuns const* const> order) {
    return !channel.stated && channel.members.size() >= 2 && channel.members.size() <= most_ranks &&
           !of_hosts(channel, order);
}

/// A channel for each kernel: one stream may hold collectives of several groups, mostly by other kernels.
std::vector<CollectiveChannel> by_kernel(CollectiveChannel const& channel, std::span<RankRuns const* const> order) {
    std::map<std::string, CollectiveChannel> parts;
    for (auto const& member : channel.members) {
        auto const& runs = order[member.rank]->runs;
        for (auto const i : member.runs) {
            auto const [at, is_new] = parts.try_emplace(runs.label_of(runs.runs[i]).name);
            CollectiveChannel& part = at->second;
            if (is_new) { part = {channel.group, channel.ranks, channel.stated, channel.directed, {}}; }
            if (part.members.empty() || part.members.back().rank != member.rank) {
                part.members.push_back({member.rank, {}});
            }
            part.members.back().runs.push_back(i);
        }
    }
    std::vector<CollectiveChannel> result;
    for (auto& [name, part] : parts) { result.push_back(std::move(part)); }
    return result;
}

class GroupPlacer {
public:
    explicit GroupPlacer(std::span<RankRuns const* const> order) : order_(order) {}

    PlacedGroups place(std::vector<CollectiveChannel> channels) {
        for (auto& channel : channels) { place(std::move(channel)); }
        add_notes();
        return std::move(result_);
    }

private:
    void place(CollectiveChannel channel) {
        auto positions = positions_of(channel, order_);
        bool const nameless = is_nameless(channel, order_);
        if (nameless && !is_one(channel, positions)) {
            ++result_.sorted;
            for (auto& part : by_kernel(channel, order_)) {
                auto of_part = positions_of(part, order_);
                auto const groups = groups_without_name(part, of_part, order_);
                ++of_size_[groups.front().size()];
                if (groups.size() > 1 && groups.front().size() > 1) {
                    part.ranks = static_cast<std::int32_t>(groups.front().size());
                }
                add(std::move(part), std::move(of_part), groups);
            }
            return;
        }
        Groups groups;
        if (is_shared(channel)) {
            auto const ends = sampled_ends(channel, positions, order_);
            groups = groups_by_ends(ends.of, static_cast<std::size_t>(channel.ranks));
        }
        add(std::move(channel), std::move(positions), groups);
    }

    [[nodiscard]] bool is_one(CollectiveChannel const& channel, ChannelPositions const& positions) const {
        return groups_without_name(channel, positions, order_).size() == 1;
    }

    void add(CollectiveChannel channel, ChannelPositions positions, Groups const& groups) {
        if (groups.size() < 2) {
            result_.channels.push_back({std::move(channel), std::move(positions)});
            return;
        }
        for (auto const& group : groups) {
            CollectiveChannel part{channel.group, channel.ranks, channel.stated, channel.directed, {}};
            for (std::size_t const m : group) { part.members.push_back(std::move(channel.members[m])); }
            auto placed = positions_of(part, order_);
            result_.channels.push_back({std::move(part), std::move(placed)});
        }
    }

    void add_notes() {
        std::string sizes;
        for (auto const& [size, count] : of_size_) {
            if (size > 1) { sizes += (sizes.empty() ? "" : ", ") + std::to_string(size); }
        }
        if (!sizes.empty()) {
            result_.notes.push_back("no process groups stated: ranks sorted into groups of " + sizes +
                                    " by common ends of their collectives");
        }
        if (auto const alone = of_size_.find(1); alone != of_size_.end()) {
            result_.notes.push_back(
                "no process groups stated, and ends of collectives fit none: " + std::to_string(alone->second) +
                (alone->second == 1 ? " kernel has" : " kernels have") + " no partners");
        }
    }

    std::span<RankRuns const* const> order_;
    PlacedGroups result_;
    std::map<std::size_t, std::size_t> of_size_; ///< kernels by the size of their groups
};

} // namespace

PlacedGroups placed_channels(std::vector<CollectiveChannel> channels, std::span<RankRuns const* const> order) {
    return GroupPlacer{order}.place(std::move(channels));
}

} // namespace headroom::trace
