#include "collective_groups.hpp"
#include "wide_time.hpp"

#include "headroom/network/comparison.hpp"
#include "headroom/trace/trace_collectives.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace headroom::trace {

using namespace headroom::network;

namespace {

/// A run that no other rank has a partner of.
struct LoneRun {
    std::uint32_t rank = 0; ///< index into the ranks
    std::uint32_t run = 0;
    std::int32_t ranks = 0; ///< of its group
};

using namespace headroom::network;

std::string summary_name(std::optional<Collective> const& collective, std::string const& what,
                         std::string const& kernel) {
    if (collective) { return std::string(name_of(*collective)); }
    return what.empty() ? kernel : what;
}

struct SummaryKey {
    std::string name;
    std::int32_t ranks = 0;
    std::int64_t bytes = 0;
    auto operator<=>(SummaryKey const&) const = default;
};

struct SummaryParts {
    std::optional<Collective> collective;
    std::int64_t count = 0;
    Ticks sum = 0, transfer = 0;
    std::vector<double> durations, transfers;
};

/// Median of bytes over time; a median of times has the same place, however many are zero.
std::optional<double> bandwidth(SummaryKey const& key, SummaryParts const& parts, std::vector<double> times) {
    if (!parts.collective || key.bytes <= 0 || key.ranks < 2 || times.empty()) { return {}; }
    double const factor = bus_bandwidth_factor(*parts.collective, Ranks{key.ranks});
    auto const middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    double median = *middle;
    if (times.size() % 2 == 0) { median = (median + *std::max_element(times.begin(), middle)) / 2.0; }
    if (!(median > 0.0) || factor <= 0.0) { return {}; }
    return factor * static_cast<double>(key.bytes) / (median * 1e-9);
}

using Parts = std::map<SummaryKey, SummaryParts>;

void add_matched(MatchedCollective const& one, SummaryParts& parts) {
    parts.collective = one.collective;
    ++parts.count;
    parts.transfer = wide_sum(parts.transfer, one.transfer);
    parts.transfers.push_back(static_cast<double>(one.transfer));
    for (std::size_t m = 0; m < one.members.size(); ++m) {
        Ticks const duration = wide_difference(one.end[m], one.begin[m]);
        parts.sum = wide_sum(parts.sum, duration);
        parts.durations.push_back(static_cast<double>(duration));
    }
}

Parts parts_of(std::vector<MatchedCollective> const& matched, std::vector<LoneRun> const& lone,
               std::span<RankRuns const* const> order) {
    Parts result;
    for (auto const& one : matched) {
        add_matched(one, result[{summary_name(one.collective, one.what, one.name), one.ranks, one.bytes}]);
    }
    for (LoneRun const& one : lone) {
        CollectiveRuns const& runs = order[one.rank]->runs;
        CollectiveRun const& run = runs.runs[one.run];
        CollectiveLabel const& label = runs.label_of(run);
        auto& parts = result[{summary_name(label.collective, label.what, label.name), one.ranks, run.bytes}];
        Ticks const duration = wide_difference(run.end, run.begin);
        parts.collective = label.collective;
        ++parts.count;
        parts.sum = wide_sum(parts.sum, duration);
        parts.durations.push_back(static_cast<double>(duration));
    }
    return result;
}

RankWaiting& waiting_rank(std::vector<RankWaiting>& ranks, std::int64_t rank) {
    return *std::ranges::lower_bound(ranks, rank, {}, &RankWaiting::rank);
}

using Moments = std::vector<std::pair<Ticks, Ticks>>;

/// Length of the union of intervals: collectives of several streams or threads may wait for a rank at once.
Ticks length_of(Moments intervals) {
    std::ranges::sort(intervals);
    Ticks length = 0, until = std::numeric_limits<Ticks>::min();
    for (auto const& [begin, end] : intervals) {
        if (end > until) { length = wide_sum(length, wide_difference(end, std::max(begin, until))); }
        until = std::max(until, end);
    }
    return length;
}

/// Adds the rank whose begin is last (of equal ones the lowest), and how long the others waited: until then, or until
/// they were done. The root of a broadcast does not wait for ranks that come after it has left.
void add_waiting(MatchedCollective const& one, std::vector<RankWaiting>& ranks, std::map<std::int64_t, Moments>& kept) {
    Ticks const last = *std::ranges::max_element(one.begin);
    Ticks before_last = std::numeric_limits<Ticks>::min(), longest = 0;
    for (std::size_t m = 0; m < one.members.size(); ++m) {
        auto& rank = waiting_rank(ranks, one.members[m]);
        Ticks const waited = wide_difference(std::clamp(one.end[m], one.begin[m], last), one.begin[m]);
        rank.waited = wide_sum(rank.waited, waited);
        longest = std::max(longest, waited);
        if (one.members[m] != one.last_arriver) { before_last = std::max(before_last, one.begin[m]); }
    }
    ++waiting_rank(ranks, one.last_arriver).last;
    kept[one.last_arriver].emplace_back(before_last, std::min(last, wide_sum(before_last, longest)));
}

/// Collectives of one name, size and group size together, the longest first; equal ones by name, ranks,
/// size. Runs without a partner count, with their durations as they are.
std::vector<CollectiveSummary> summaries_of(std::vector<MatchedCollective> const& matched,
                                            std::vector<LoneRun> const& lone, std::span<RankRuns const* const> order) {
    std::vector<CollectiveSummary> result;
    for (auto& [key, parts] : parts_of(matched, lone, order)) {
        result.push_back({.name = key.name,
                          .collective = parts.collective,
                          .ranks = key.ranks,
                          .bytes = key.bytes,
                          .count = parts.count,
                          .seconds_of_ranks = parts.sum,
                          .transfer = parts.transfer,
                          .bus_bandwidth = bandwidth(key, parts, std::move(parts.durations)),
                          .transfer_bandwidth = bandwidth(key, parts, std::move(parts.transfers))});
    }
    std::ranges::stable_sort(result, std::ranges::greater{}, &CollectiveSummary::seconds_of_ranks);
    return result;
}

/// Times that each rank waited and that others waited for it.
std::vector<RankWaiting> waiting_of(std::vector<MatchedCollective> const& matched,
                                    std::span<RankRuns const* const> order) {
    std::vector<RankWaiting> result;
    for (RankRuns const* const rank : order) {
        if (result.empty() || result.back().rank != rank->rank) { result.push_back({.rank = rank->rank}); }
    }
    std::map<std::int64_t, Moments> kept;
    for (auto const& one : matched) { add_waiting(one, result, kept); }
    for (auto& [rank, moments] : kept) { waiting_rank(result, rank).kept_waiting = length_of(std::move(moments)); }
    return result;
}

/// Ranks by number; what tells two of one number apart is their own, so that the order of the input does not matter.
std::vector<RankRuns const*> sorted(std::vector<RankRuns> const& ranks) {
    std::vector<RankRuns const*> order;
    for (RankRuns const& rank : ranks) { order.push_back(&rank); }
    std::ranges::stable_sort(order, {}, [](RankRuns const* rank) {
        return std::tuple(rank->rank, rank->epoch_ns, std::string_view(rank->host_name), rank->runs.size());
    });
    return order;
}

/// A moment of one rank on the common clock.
std::int64_t to_common(RankRuns const& rank, ClockOffset const& clock, Ticks moment) {
    std::int64_t const own = wide_sum(rank.epoch_ns, moment);
    if (!clock.corrected) { return own; }
    return wide_difference(own, offset_near(clock, wide_difference(own, clock.offset)));
}

/// Skews, durations and the straggler of a collective whose members are all there.
void measure(MatchedCollective& one) {
    auto const [first, last] = std::ranges::minmax_element(one.begin);
    auto const [first_end, last_end] = std::ranges::minmax(one.end);
    one.last_arriver = one.members[static_cast<std::size_t>(std::ranges::max_element(one.begin) - one.begin.begin())];
    one.start_skew = wide_difference(*last, *first);
    one.end_skew = wide_difference(last_end, first_end);
    one.transfer = wide_difference(last_end, *last);
    one.shortest = std::numeric_limits<Ticks>::max();
    for (std::size_t m = 0; m < one.members.size(); ++m) {
        Ticks const duration = wide_difference(one.end[m], one.begin[m]);
        one.shortest = std::min(one.shortest, duration);
        one.longest = std::max(one.longest, duration);
    }
}

/// By the first begin, of equal ones by group, then as they came.
std::vector<MatchedCollective> by_begin(std::vector<MatchedCollective> matched) {
    struct Place {
        Ticks begin;
        std::size_t at;
    };
    std::vector<Place> order;
    order.reserve(matched.size());
    for (auto const& one : matched) { order.push_back({std::ranges::min(one.begin), order.size()}); }
    std::ranges::sort(order, [&](Place const& one, Place const& other) {
        if (one.begin != other.begin) { return one.begin < other.begin; }
        int const groups = matched[one.at].group.compare(matched[other.at].group);
        return groups != 0 ? groups < 0 : one.at < other.at;
    });
    std::vector<MatchedCollective> result;
    result.reserve(matched.size());
    for (Place const& place : order) { result.push_back(std::move(matched[place.at])); }
    return result;
}

class Matcher {
public:
    explicit Matcher(std::vector<RankRuns> const& ranks) : order_(sorted(ranks)) {}

    CollectiveAnswer answer() {
        auto channels = channels_of(order_);
        auto groups = placed_channels(std::move(channels.channels), order_);
        placed_ = std::move(groups.channels);
        channels.groups_by_order -= groups.sorted;
        CollectiveAnswer result;
        result.clocks = clocks_of(placed_, order_);
        clocks_ = result.clocks;
        for (PlacedChannel const& placed : placed_) { build(placed); }
        result.matched = by_begin(std::move(matched_));
        result.summaries = summaries_of(result.matched, lone_, order_);
        result.waiting = waiting_of(result.matched, order_);
        add_skews(result);
        result.unmatched = static_cast<std::int64_t>(lone_.size()) + channels.without_peer;
        add_notes(result, channels);
        std::ranges::move(groups.notes, std::back_inserter(result.notes));
        return result;
    }

private:
    /// Number of members at each position.
    static std::vector<std::int32_t> members_at(PlacedChannel const& placed) {
        std::vector<std::int32_t> result(placed.positions.count);
        for (auto const& of_member : placed.positions.at) {
            for (auto const at : of_member) {
                if (at != no_partner) { ++result[static_cast<std::size_t>(at)]; }
            }
        }
        return result;
    }

    void begin_one(MatchedCollective& one, PlacedChannel const& placed, CollectiveLabel const& label,
                   std::int32_t members) const {
        one.name = label.name;
        one.what = label.what;
        one.group = placed.channel.group;
        one.collective = label.collective;
        one.ranks = placed.channel.ranks;
        auto const size = static_cast<std::size_t>(members);
        one.members.reserve(size);
        one.runs.reserve(size);
        one.begin.reserve(size);
        one.end.reserve(size);
    }

    void build(PlacedChannel const& placed) {
        auto const members = members_at(placed);
        std::vector<std::int64_t> number(placed.positions.count, -1);
        for (std::size_t m = 0; m < placed.channel.members.size(); ++m) {
            auto const& member = placed.channel.members[m];
            for (std::size_t k = 0; k < member.runs.size(); ++k) {
                auto const at = placed.positions.at[m][k];
                if (at == no_partner || members[static_cast<std::size_t>(at)] < 2) {
                    lone_.push_back({member.rank, member.runs[k], placed.channel.ranks});
                    continue;
                }
                add(placed, member.rank, member.runs[k], members[static_cast<std::size_t>(at)],
                    number[static_cast<std::size_t>(at)]);
            }
        }
        for (auto const at : number) {
            if (at >= 0) { measure(matched_[static_cast<std::size_t>(at)]); }
        }
    }

    void add(PlacedChannel const& placed, std::uint32_t r, std::uint32_t i, std::int32_t members,
             std::int64_t& number) {
        CollectiveRun const& run = order_[r]->runs.runs[i];
        if (number < 0) {
            number = static_cast<std::int64_t>(matched_.size());
            begin_one(matched_.emplace_back(), placed, order_[r]->runs.label_of(run), members);
        }
        auto& one = matched_[static_cast<std::size_t>(number)];
        one.members.push_back(order_[r]->rank);
        one.runs.push_back(i);
        one.begin.push_back(to_common(*order_[r], clocks_[r], run.begin));
        one.end.push_back(to_common(*order_[r], clocks_[r], run.end));
        one.bytes = std::max(one.bytes, run.bytes);
    }

    static void add_skews(CollectiveAnswer& result) {
        std::vector<Ticks> starts, ends;
        for (auto const& one : result.matched) {
            starts.push_back(one.start_skew);
            ends.push_back(one.end_skew);
        }
        result.start_skew_ns = percentiles_of(std::move(starts));
        result.end_skew_ns = percentiles_of(std::move(ends));
    }

    void add_notes(CollectiveAnswer& result, CollectiveChannels const& channels) const {
        auto const corrected = std::ranges::count_if(result.clocks, &ClockOffset::corrected);
        if (corrected > 0) {
            result.notes.push_back("clocks of " + std::to_string(corrected) + " of " +
                                   std::to_string(result.clocks.size()) + " ranks aligned by ends of collectives");
        }
        if (channels.groups_by_order > 0 && order_.size() > 1) {
            result.notes.push_back("no process groups stated for " + std::to_string(channels.groups_by_order) +
                                   (channels.groups_by_order == 1 ? " stream" : " streams") +
                                   ": all ranks taken as one group each, matched by order");
        }
        if (channels.without_peer > 0) {
            result.notes.push_back(std::to_string(channels.without_peer) + " sends and receives name no peer");
        }
        std::int64_t disagreeing = 0, never = 0;
        for (auto const& placed : placed_) { disagreeing += placed.positions.disagreeing; }
        if (disagreeing > 0) {
            result.notes.push_back(std::to_string(disagreeing) +
                                   " runs have another name than the others of their number");
        }
        for (auto const& one : result.matched) { never += static_cast<std::int64_t>(one.transfer < 0 || apart(one)); }
        if (never > 0) {
            result.notes.push_back(std::to_string(never) + " of " + std::to_string(result.matched.size()) +
                                   " collectives end on one rank before they begin on another");
        }
    }

    static bool apart(MatchedCollective const& one) {
        bool const may = one.collective == Collective::broadcast || one.collective == Collective::reduce ||
                         one.collective == Collective::scatter || one.collective == Collective::gather ||
                         one.collective == Collective::point_to_point;
        return !may && std::ranges::min(one.end) < std::ranges::max(one.begin);
    }

    std::vector<RankRuns const*> order_;
    std::vector<ClockOffset> clocks_; ///< by rank
    std::vector<PlacedChannel> placed_;
    std::vector<MatchedCollective> matched_;
    std::vector<LoneRun> lone_;
};

} // namespace

Percentiles percentiles_of(std::vector<Ticks> values) {
    if (values.empty()) { return {}; }
    std::ranges::sort(values);
    auto const at = [&](double share) {
        double const position = share * static_cast<double>(values.size() - 1);
        auto const below = static_cast<std::size_t>(position);
        auto const low = static_cast<double>(values[below]);
        auto const high = static_cast<double>(values[std::min(below + 1, values.size() - 1)]);
        return low + (high - low) * (position - static_cast<double>(below));
    };
    return {at(0.5), at(0.9), at(0.95), at(0.99), static_cast<double>(values.back())};
}

CollectiveAnswer match_collectives(std::vector<RankRuns> const& ranks) { return Matcher(ranks).answer(); }

} // namespace headroom::trace
