#include "traces/chrome_lane_ranks.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace headroom::io {

using namespace headroom::trace;

namespace {

constexpr std::size_t most_shared = 32;     ///< devices of one process that a thread of all is shown on
constexpr std::int64_t most_devices = 4096; ///< numbers above are those of processes
constexpr std::int64_t every = ChromePart::every_rank;

/// Adds a rank to those of a call or a thread: several are all.
void join_rank(std::optional<std::int64_t>& known, std::int64_t rank) {
    known = known && *known != rank ? every : rank;
}

/// The rank of the one device that each thread of the host starts work on; of threads that start work on several, or
/// none, `every`. `ranks` has those of devices.
std::vector<std::int64_t> driven_ranks(ChromePart const& part, std::vector<std::int64_t> const& ranks) {
    std::unordered_map<std::uint32_t, std::optional<std::int64_t>> rank_of_call;
    for (std::size_t span = 0; span < part.size(); ++span) {
        auto const lane = part.lane[span];
        if (part.lanes[lane].device && part.correlation[span] != 0 && occupies_device(part.kind[span])) {
            join_rank(rank_of_call[part.correlation[span]], ranks[lane]);
        }
    }
    std::vector<std::optional<std::int64_t>> driven(part.lanes.size());
    std::vector<bool> marks(part.lanes.size());
    for (std::size_t span = 0; span < part.size(); ++span) {
        auto const lane = part.lane[span];
        if (part.lanes[lane].device) { continue; }
        marks[lane] = marks[lane] || part.kind[span] == SpanKind::annotation;
        auto const call = part.correlation[span] == 0 ? rank_of_call.end() : rank_of_call.find(part.correlation[span]);
        if (call != rank_of_call.end()) { join_rank(driven[lane], *call->second); }
    }
    // The steps of one thread are those of all devices, even where others start the work of all but one.
    std::set<std::int64_t> marked;
    for (std::size_t lane = 0; lane < marks.size(); ++lane) {
        if (marks[lane] && driven[lane].value_or(every) != every) { marked.insert(*driven[lane]); }
    }
    std::vector<std::int64_t> result(part.lanes.size(), every);
    for (std::size_t lane = 0; lane < result.size(); ++lane) {
        bool const shared = marks[lane] && marked.size() < 2;
        if (!shared) { result[lane] = driven[lane].value_or(every); }
    }
    return result;
}

} // namespace

std::vector<std::int64_t> ranks_of_lanes(ChromePart const& part,
                                         std::map<ChromePart::Place, std::int64_t> const& devices, bool named) {
    std::int64_t first = devices.begin()->second;
    for (auto const& [process, rank] : devices) { first = std::min(first, rank); }
    std::vector<std::int64_t> ranks(part.lanes.size(), every);
    for (std::size_t lane = 0; lane < ranks.size(); ++lane) {
        bool const device = part.lanes[lane].device;
        auto const known = named || device ? devices.find(part.lanes[lane].process) : devices.end();
        if (known != devices.end()) {
            ranks[lane] = known->second;
        } else if (device) {
            ranks[lane] = first;
        }
    }
    auto const driven = driven_ranks(part, ranks);
    bool const many = devices.size() > most_shared;
    for (std::size_t lane = 0; lane < ranks.size(); ++lane) {
        if (ranks[lane] == every) { ranks[lane] = driven[lane]; }
        if (ranks[lane] == every && many) { ranks[lane] = first; }
    }
    return ranks;
}

std::size_t number_devices_of_process(ChromePart& part, bool split) {
    constexpr std::int64_t share_that_counts = 100; // one in so many
    if (!part.ranks.empty() || !part.lane_ranks.empty()) { return 0; }
    std::map<ChromePart::Place, std::int64_t> work;
    std::int64_t most = 0;
    for (std::size_t span = 0; span < part.size(); ++span) {
        auto const& lane = part.lanes[part.lane[span]];
        if (!lane.device || part.kind[span] != SpanKind::compute || ChromePart::is_word(lane.process)) { continue; }
        std::int64_t& sum = work[lane.process];
        std::int64_t length = 0;
        bool const far = __builtin_sub_overflow(part.end[span], part.begin[span], &length) ||
                         __builtin_add_overflow(sum, length, &sum);
        if (far) { return 0; } // no clock says such times
        most = std::max(most, sum);
    }
    std::erase_if(work, [&](auto const& device) { return device.second < most / share_that_counts; });
    if (work.size() < 2 || !split) { return work.size(); }
    bool const numbers = work.begin()->first >= 0 && work.rbegin()->first < most_devices;
    std::int64_t next = 0;
    for (auto& [process, rank] : work) {
        rank = numbers ? process : next;
        ++next;
    }
    part.lane_ranks = ranks_of_lanes(part, work, false);
    return work.size();
}

void settle_step_ranges(ChromePart& part) {
    auto& ranges = part.step_ranges;
    auto const lane_of = [&](NumberedRange const& range) { return part.lane[range.span]; };
    std::sort(ranges.begin(), ranges.end(), [&](NumberedRange const& left, NumberedRange const& right) {
        return std::tuple(lane_of(left), part.begin[left.span], part.end[right.span], left.span) <
               std::tuple(lane_of(right), part.begin[right.span], part.end[left.span], right.span);
    });
    std::vector<NumberedRange> steps;
    for (std::size_t first = 0, next = 0; first < ranges.size(); first = next) {
        auto const lane = lane_of(ranges[first]);
        auto const before = steps.size();
        std::set<std::int64_t> numbers;
        bool parts = false;
        for (; next < ranges.size() && lane_of(ranges[next]) == lane; ++next) {
            bool const inside = steps.size() > before && part.begin[ranges[next].span] < part.end[steps.back().span];
            if (inside) { continue; }
            parts = !numbers.insert(ranges[next].number).second || parts;
            steps.push_back(ranges[next]);
        }
        if (parts) { steps.resize(before); }
    }
    for (auto const& step : steps) {
        SpanKind& kind = part.kind[step.span];
        if (kind == SpanKind::host) { kind = SpanKind::annotation; }
    }
    std::sort(steps.begin(), steps.end(), [](auto const& left, auto const& right) { return left.span < right.span; });
    ranges = std::move(steps);
}

} // namespace headroom::io
