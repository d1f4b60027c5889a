#include "collective_leftovers.hpp"

#include "wide_time.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

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

} // namespace

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

} // namespace headroom::trace
