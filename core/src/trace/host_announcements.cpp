#include "host_announcements.hpp"

#include "headroom/trace/trace_collectives.hpp"

#include <algorithm>
#include <unordered_map>

namespace headroom::trace {

using namespace headroom::network;

namespace {

bool announces(std::string_view name) {
    return name.starts_with("nccl:") || name.starts_with("rccl:") || name.starts_with("xccl:");
}

/// Indices into `spans` of those that nothing tells, by their correlation.
std::unordered_multimap<std::uint32_t, std::size_t> untold(RankTrace const& trace,
                                                           std::vector<std::uint32_t> const& spans) {
    std::vector<signed char> tells(trace.timeline.names.size(), -1);
    std::unordered_multimap<std::uint32_t, std::size_t> result;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        auto const name = trace.timeline.name[spans[i]];
        if (tells[name] < 0) {
            tells[name] = static_cast<signed char>(collective_of_kernel(trace.timeline.names[name]).has_value());
        }
        if (tells[name] > 0 || trace.correlation[spans[i]] == 0) { continue; }
        auto const stated = std::ranges::lower_bound(trace.collectives, spans[i], {}, &TracedCollective::span);
        bool const has = stated != trace.collectives.end() && stated->span == spans[i] &&
                         stated->what < trace.collective_names.size();
        auto const collective = has ? traced_collective(trace.collective_names[stated->what]) : std::nullopt;
        // Two ranks alone are identified by their numbers, which stand in the range of the host.
        if (collective && *collective != Collective::point_to_point) { continue; }
        result.emplace(trace.correlation[spans[i]], i);
    }
    return result;
}

struct Launch {
    std::uint32_t lane;
    Ticks at;
    std::size_t of; ///< into `spans`
};

/// For ranges of one thread by begin: the last that holds a moment. Ranges that nest are few and shallow.
std::uint32_t range_at(Timeline const& time, std::vector<std::uint32_t> const& ranges, Ticks at) {
    constexpr int look_back = 8;
    auto next = std::ranges::upper_bound(ranges, at, {}, [&](std::uint32_t span) { return time.begin[span]; });
    for (int i = 0; i < look_back && next != ranges.begin(); ++i) {
        --next;
        if (time.end[*next] >= at) { return time.name[*next]; }
    }
    return unannounced;
}

} // namespace

std::vector<std::uint32_t> host_announcements(RankTrace const& trace, std::vector<std::uint32_t> const& spans) {
    std::vector<std::uint32_t> result(spans.size(), unannounced);
    auto const asked = untold(trace, spans);
    if (asked.empty()) { return result; }

    std::vector<char> is_range(trace.timeline.names.size());
    for (std::size_t n = 0; n < is_range.size(); ++n) {
        is_range[n] = static_cast<char>(announces(trace.timeline.names[n]));
    }
    std::vector<std::vector<std::uint32_t>> ranges(trace.lanes.size());
    std::vector<Launch> launches;
    auto const& time = trace.timeline;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        if (trace.lanes[time.lane[i]].device) { continue; }
        if (is_range[time.name[i]] != 0) { ranges[time.lane[i]].push_back(i); }
        if (trace.kind[i] != SpanKind::launch || trace.correlation[i] == 0) { continue; }
        auto const [from, to] = asked.equal_range(trace.correlation[i]);
        for (auto at = from; at != to; ++at) { launches.push_back({time.lane[i], time.begin[i], at->second}); }
    }
    for (auto& lane : ranges) {
        std::ranges::stable_sort(lane, {}, [&](std::uint32_t span) { return time.begin[span]; });
    }
    for (Launch const& launch : launches) {
        if (result[launch.of] == unannounced) { result[launch.of] = range_at(time, ranges[launch.lane], launch.at); }
    }
    return result;
}

} // namespace headroom::trace
