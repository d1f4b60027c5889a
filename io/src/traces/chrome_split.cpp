#include "traces/chrome_split.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace headroom::io {

using namespace headroom::trace;

namespace {

constexpr std::uint32_t gone = ~0U;

/// Rows of intervals that stay, with their new numbers.
template <class Row> void renumber(std::vector<Row>& rows, std::vector<std::uint32_t> const& numbers) {
    std::erase_if(rows, [&](Row const& row) { return numbers[row.span] == gone; });
    for (Row& row : rows) { row.span = numbers[row.span]; }
}

template <class Value> void compact(std::vector<Value>& column, std::vector<std::uint32_t> const& numbers) {
    std::size_t kept = 0;
    for (std::size_t span = 0; span < column.size(); ++span) {
        if (numbers[span] != gone) { column[kept++] = column[span]; }
    }
    column.resize(kept);
}

/// Keeps the intervals for which `stays(span)` holds.
template <class Stays> void keep_spans(RankTrace& trace, Stays const& stays) {
    std::vector<std::uint32_t> numbers(trace.size(), gone);
    std::uint32_t kept = 0;
    for (std::uint32_t span = 0; span < trace.size(); ++span) {
        if (stays(span)) { numbers[span] = kept++; }
    }
    compact(trace.timeline.begin, numbers);
    compact(trace.timeline.end, numbers);
    compact(trace.timeline.lane, numbers);
    compact(trace.timeline.name, numbers);
    compact(trace.kind, numbers);
    compact(trace.correlation, numbers);
    renumber(trace.collectives, numbers);
    renumber(trace.shapes, numbers);
    renumber(trace.copies, numbers);
    renumber(trace.waits, numbers);
}

/// The rank of each interval; by process where it is not stated, the first where no interval of the process states it.
std::vector<std::int64_t> rank_of_spans(RankTrace const& trace, std::vector<ChromePart::RankRow> const& rows,
                                        std::int64_t otherwise) {
    std::map<std::pair<bool, std::int64_t>, std::int64_t> by_process;
    auto const process = [&](std::uint32_t span) {
        auto const& lane = trace.lanes[trace.timeline.lane[span]];
        return std::pair(lane.device, lane.process);
    };
    for (auto const& row : rows) { by_process.emplace(process(row.span), row.rank); }
    std::vector<std::int64_t> ranks(trace.size());
    for (std::uint32_t span = 0; span < trace.size(); ++span) {
        auto const known = by_process.find(process(span));
        ranks[span] = known == by_process.end() ? otherwise : known->second;
    }
    for (auto const& row : rows) { ranks[row.span] = row.rank; }
    return ranks;
}

} // namespace

std::vector<RankTrace> split_ranks(RankTrace&& trace, std::vector<bool> const& left_out,
                                   std::vector<ChromePart::RankRow> const& rows) {
    std::map<std::int64_t, std::uint32_t> stated;
    for (auto const& row : rows) { stated.emplace(row.rank, 0); }
    auto const stays = [&](std::uint32_t span) { return left_out.empty() || !left_out[span]; };
    std::vector<RankTrace> traces;
    if (stated.size() < 2) {
        if (!left_out.empty()) { keep_spans(trace, stays); }
        if (!trace.rank && !stated.empty()) {
            trace.rank = stated.begin()->first;
            trace.rank_from = "events";
        }
        traces.push_back(std::move(trace));
        return traces;
    }
    auto const ranks = rank_of_spans(trace, rows, stated.begin()->first);
    for (auto const& [rank, unused] : stated) {
        RankTrace one = trace;
        std::int64_t const number = rank;
        keep_spans(one, [&](std::uint32_t span) { return stays(span) && ranks[span] == number; });
        one.host_is_shared = true; // a process may drive the devices of several
        one.rank = number;
        one.rank_from = "events";
        if (!traces.empty()) { // of the file, counted once
            one.events = 0;
            one.issues.clear();
        }
        traces.push_back(std::move(one));
    }
    return traces;
}

} // namespace headroom::io
