#include "collective_positions.hpp"

#include "wide_time.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace headroom::trace {
namespace {

struct Leftover {
    std::int64_t end = 0; ///< on the reference's clock
    std::size_t member = 0, run = 0;
    std::uint64_t call = 0;
};

/// Lead of a member's clock over the reference's, nanoseconds; empty with fewer than three common collectives.
std::optional<std::int64_t> ahead(std::vector<CollectiveTrack> const& tracks, ChannelPositions const& positions,
                                  std::size_t m) {
    std::vector<std::int64_t> differences;
    auto const& reference = tracks[positions.reference].end;
    for (std::size_t k = 0; k < positions.at[m].size(); ++k) {
        if (positions.at[m][k] == no_partner) { continue; }
        differences.push_back(
            wide_difference(tracks[m].end[k], reference[static_cast<std::size_t>(positions.at[m][k])]));
    }
    return differences.size() < 3 ? std::nullopt : std::optional(lower_median(differences));
}

std::vector<Leftover> leftovers(std::vector<CollectiveTrack> const& tracks, ChannelPositions const& positions) {
    std::vector<Leftover> result;
    for (std::size_t m = 0; m < tracks.size(); ++m) {
        if (std::ranges::find(positions.at[m], no_partner) == positions.at[m].end()) { continue; }
        auto const clock = ahead(tracks, positions, m);
        if (!clock) { continue; }
        for (std::size_t k = 0; k < positions.at[m].size(); ++k) {
            if (positions.at[m][k] != no_partner) { continue; }
            result.push_back({wide_difference(tracks[m].end[k], *clock), m, k, tracks[m].call[k]});
        }
    }
    std::ranges::sort(result, {}, [](Leftover const& one) { return std::tuple(one.end, one.member, one.run); });
    return result;
}

std::int64_t quarter_of_a_period(std::vector<Ticks> const& end) {
    std::vector<std::int64_t> gaps;
    for (std::size_t i = 1; i < end.size(); ++i) { gaps.push_back(wide_difference(end[i], end[i - 1])); }
    return gaps.empty() ? 0 : lower_median(gaps) / 4;
}

/// Gives positions to runs that the reference does not have but others do: those of equal calls whose ends, on the
/// reference's clock, are closer than a quarter of its usual time between ends. O(n log n) in the runs without a
/// position.
void join_leftovers(std::vector<CollectiveTrack> const& tracks, ChannelPositions& positions) {
    auto const open = leftovers(tracks, positions);
    if (open.empty()) { return; }
    std::int64_t const near = quarter_of_a_period(tracks[positions.reference].end);
    for (std::size_t i = 0; i < open.size();) {
        std::set<std::size_t> members;
        std::size_t j = i;
        while (j < open.size() && open[j].call == open[i].call && wide_difference(open[j].end, open[i].end) <= near &&
               members.insert(open[j].member).second) {
            ++j;
        }
        if (j - i > 1) {
            for (std::size_t k = i; k < j; ++k) {
                positions.at[open[k].member][open[k].run] = static_cast<std::int32_t>(positions.count);
            }
            ++positions.count;
        }
        i = j;
    }
}

CollectiveTrack track_of(ChannelMember const& member, RankRuns const& rank) {
    auto const& runs = rank.runs;
    std::vector<std::uint64_t> names;
    for (CollectiveLabel const& label : runs.labels) { names.push_back(call_name_hash(label)); }
    CollectiveTrack track;
    track.epoch = rank.epoch_ns;
    for (std::uint32_t const i : member.runs) {
        auto const& run = runs.runs[i];
        track.name.push_back(names[run.label]);
        track.call.push_back(call_hash(runs.label_of(run), names[run.label], run.bytes));
        track.end.push_back(run.end);
        track.step.push_back(run.step);
    }
    return track;
}

/// Numbers are of use where each run has one and few runs share one.
bool has_sequences(ChannelMember const& member, CollectiveRuns const& runs) {
    std::vector<std::int64_t> numbers;
    for (std::uint32_t const i : member.runs) { numbers.push_back(runs.runs[i].sequence); }
    if (std::ranges::any_of(numbers, [](std::int64_t number) { return number < 0; })) { return false; }
    std::ranges::sort(numbers);
    auto const distinct = std::unique(numbers.begin(), numbers.end()) - numbers.begin();
    return 2 * distinct > static_cast<std::ptrdiff_t>(member.runs.size());
}

using SequenceKey = std::pair<std::int64_t, std::int32_t>; ///< the number, and which of those that have it

std::vector<SequenceKey> keys_of(ChannelMember const& member, CollectiveRuns const& runs) {
    std::map<std::int64_t, std::int32_t> seen;
    std::vector<SequenceKey> result;
    // Where numbers only rise, which is the rule, nothing needs to be counted.
    bool const rising = std::ranges::adjacent_find(member.runs, std::ranges::greater_equal{}, [&](std::uint32_t i) {
                            return runs.runs[i].sequence;
                        }) == member.runs.end();
    for (std::uint32_t const i : member.runs) {
        auto const number = runs.runs[i].sequence;
        result.emplace_back(number, rising ? 0 : seen[number]++);
    }
    return result;
}

/// Whether all runs at each position have one name.
bool agree(std::vector<std::vector<std::uint64_t>> const& names, ChannelPositions const& positions) {
    std::vector<std::uint64_t> first(positions.count);
    for (std::size_t m = 0; m < names.size(); ++m) {
        for (std::size_t k = 0; k < names[m].size(); ++k) {
            auto& name = first[static_cast<std::size_t>(positions.at[m][k])];
            if (name == 0) { name = names[m][k]; }
            if (name != names[m][k]) { return false; }
        }
    }
    return true;
}

/// Runs that are called another name than most at their position leave it.
std::int64_t drop_disagreeing(std::vector<std::vector<std::uint64_t>> const& names, ChannelPositions& positions) {
    if (agree(names, positions)) { return 0; }
    std::vector<std::map<std::uint64_t, std::int32_t>> votes(positions.count);
    for (std::size_t m = 0; m < names.size(); ++m) {
        for (std::size_t k = 0; k < names[m].size(); ++k) {
            ++votes[static_cast<std::size_t>(positions.at[m][k])][names[m][k]];
        }
    }
    std::int64_t dropped = 0;
    for (std::size_t m = 0; m < names.size(); ++m) {
        for (std::size_t k = 0; k < names[m].size(); ++k) {
            auto const& here = votes[static_cast<std::size_t>(positions.at[m][k])];
            auto const most = std::ranges::max_element(here, {}, [](auto const& vote) { return vote.second; });
            if (names[m][k] == most->first) { continue; }
            positions.at[m][k] = no_partner;
            ++dropped;
        }
    }
    return dropped;
}

ChannelPositions by_sequence(CollectiveChannel const& channel, std::span<RankRuns const* const> order) {
    std::vector<std::vector<SequenceKey>> keys;
    std::vector<SequenceKey> all;
    for (ChannelMember const& member : channel.members) {
        keys.push_back(keys_of(member, order[member.rank]->runs));
        // Most members bring nothing new: what is known is merged, not sorted again.
        auto fresh = keys.back();
        std::ranges::sort(fresh);
        if (fresh == all) { continue; }
        std::vector<SequenceKey> merged;
        std::ranges::set_union(all, fresh, std::back_inserter(merged));
        all = std::move(merged);
    }
    ChannelPositions result{.count = all.size(), .by_sequence = true};
    for (auto const& of_member : keys) {
        auto& at = result.at.emplace_back();
        for (auto const& key : of_member) {
            at.push_back(static_cast<std::int32_t>(std::ranges::lower_bound(all, key) - all.begin()));
        }
    }
    std::vector<std::vector<std::uint64_t>> names;
    for (ChannelMember const& member : channel.members) { names.push_back(track_of(member, *order[member.rank]).name); }
    result.disagreeing = drop_disagreeing(names, result);
    return result;
}

/// Members by the length of their tracks, the longest first.
std::vector<std::size_t> by_length(std::vector<CollectiveTrack> const& tracks) {
    std::vector<std::size_t> result(tracks.size());
    std::iota(result.begin(), result.end(), std::size_t{0});
    std::ranges::stable_sort(result, std::ranges::greater{}, [&](std::size_t m) { return tracks[m].call.size(); });
    return result;
}

/// The member with the longest track that another has too, call by call; without such a one the longest.
std::size_t seconded(std::vector<CollectiveTrack> const& tracks, std::vector<std::size_t> const& order) {
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        auto const& track = tracks[order[i]].call;
        for (std::size_t j = i + 1; j < order.size() && tracks[order[j]].call.size() == track.size(); ++j) {
            if (tracks[order[j]].call == track) { return order[i]; }
        }
    }
    return order.front();
}

ChannelPositions laid_on(std::vector<CollectiveTrack> const& tracks, std::size_t reference) {
    ChannelPositions result{.reference = reference, .count = tracks[reference].call.size()};
    for (auto const& track : tracks) { result.at.push_back(partners_in(tracks[reference], track)); }
    return result;
}

std::size_t placed_in(ChannelPositions const& positions) {
    std::size_t result = 0;
    for (auto const& at : positions.at) {
        result += at.size() - static_cast<std::size_t>(std::ranges::count(at, no_partner));
    }
    return result;
}

/// The longest track has all that the others have, as a rule; where it is another program's the others decide.
ChannelPositions by_order(CollectiveChannel const& channel, std::span<RankRuns const* const> order) {
    std::vector<CollectiveTrack> tracks;
    std::size_t runs = 0;
    for (ChannelMember const& member : channel.members) {
        tracks.push_back(track_of(member, *order[member.rank]));
        runs += member.runs.size();
    }
    auto const longest = by_length(tracks);
    auto result = laid_on(tracks, longest.front());
    if (auto const other = seconded(tracks, longest); 2 * placed_in(result) < runs && other != longest.front()) {
        if (auto second = laid_on(tracks, other); placed_in(second) > placed_in(result)) { result = std::move(second); }
    }
    join_leftovers(tracks, result);
    return result;
}

} // namespace

ChannelPositions positions_of(CollectiveChannel const& channel, std::span<RankRuns const* const> order) {
    bool const numbered = !channel.directed && std::ranges::all_of(channel.members, [&](ChannelMember const& member) {
        return has_sequences(member, order[member.rank]->runs);
    });
    return numbered ? by_sequence(channel, order) : by_order(channel, order);
}

} // namespace headroom::trace
