#include "traces/chrome_part.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <vector>

namespace headroom::io {

using namespace headroom::laws;
using namespace headroom::trace;

namespace {

/// Asks the system for large pages there: memory that is written once from end to end costs a fault for each 2 MB then,
/// not for each 4 KB. Nothing happens where it has none to give, and where less than a page of them lies within.
void prefer_large_pages([[maybe_unused]] void* from, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
    constexpr std::uintptr_t large = std::uintptr_t{2} << 20; // where a system's are larger, it says no
    auto const begin = reinterpret_cast<std::uintptr_t>(from);
    std::uintptr_t const first = (begin + large - 1) / large * large, last = (begin + bytes) / large * large;
    if (from != nullptr && first < last) {
        static_cast<void>(::madvise(static_cast<char*>(from) + (first - begin), last - first, MADV_HUGEPAGE)); // advice
    }
#endif
}

/// Room for so many, on large pages if there are any.
template <class Row> void reserve_large(std::vector<Row>& column, std::size_t rows) {
    column.reserve(rows);
    prefer_large_pages(column.data(), column.capacity() * sizeof(Row));
}

/// Numbers of one table in another: `numbers[old]`. Strings that are new come in the order in which they came there.
std::vector<std::uint32_t> join_names(ChromeNames& names, ChromeNames const& next) {
    std::vector<std::uint32_t> numbers(next.size());
    for (std::uint32_t at = 0; at < next.size(); ++at) { numbers[at] = names.plain(next[at]); }
    return numbers;
}

template <class Row, class Renumber>
void join_column(std::vector<Row>& column, std::vector<Row>& next, Renumber const& renumber) {
    column.reserve(column.size() + next.size());
    std::transform(next.begin(), next.end(), std::back_inserter(column), renumber);
    next = {};
}

} // namespace

void ChromePart::reserve(std::size_t spans) {
    reserve_large(begin, spans);
    reserve_large(end, spans);
    reserve_large(lane, spans);
    reserve_large(name, spans);
    reserve_large(correlation, spans);
    reserve_large(kind, spans);
}

ChromePart::Place ChromePart::joined(ChromePart const& next, Place place) {
    return is_word(place) ? word_base + words.plain(next.words[static_cast<std::uint32_t>(place - word_base)]) : place;
}

ChromePart::Lane ChromePart::joined(ChromePart const& next, Lane const& of) {
    Place const process = joined(next, of.process); // first: words are numbered in the order of reading
    return {of.device, process, joined(next, of.thread)};
}

TracedCollective ChromePart::joined(ChromePart const& next, TracedCollective call, std::uint32_t spans) {
    call.span += spans;
    call.group = group_texts.plain(next.group_texts[call.group]);
    call.what = collective_names.plain(next.collective_names[call.what]);
    return call;
}

void ChromePart::append(ChromePart&& next) {
    auto const spans = static_cast<std::uint32_t>(size());
    join_names(words, next.words);
    join_names(group_texts, next.group_texts);
    join_names(collective_names, next.collective_names);
    auto const named = join_names(names, next.names);
    std::vector<std::uint32_t> placed(next.lanes.size());
    std::transform(next.lanes.begin(), next.lanes.end(), placed.begin(),
                   [&](Lane const& of) { return lane_number(joined(next, of)); });
    auto const same = [](auto const& value) { return value; };
    join_column(begin, next.begin, same);
    join_column(end, next.end, same);
    join_column(lane, next.lane, [&](std::uint32_t number) { return placed[number]; });
    join_column(name, next.name, [&](std::uint32_t number) { return named[number]; });
    join_column(correlation, next.correlation, same);
    join_column(kind, next.kind, same);
    join_sides(next, spans);
    faults.add(next.faults);
    events += next.events;
    is_kineto = is_kineto || next.is_kineto;
}

void ChromePart::join_sides(ChromePart& next, std::uint32_t spans) {
    auto const shaped = join_names(shape_texts, next.shape_texts);
    std::vector<std::uint32_t> threaded(next.threads.size());
    std::transform(next.threads.begin(), next.threads.end(), threaded.begin(),
                   [&](Lane const& of) { return thread_number(joined(next, of)); });
    auto const tie = [&](Tie row) {
        row.call = joined(next, row.call, spans);
        return row;
    };
    join_column(collectives, next.collectives, [&](TracedCollective const& row) { return joined(next, row, spans); });
    join_column(calls, next.calls, tie);
    join_column(bare, next.bare, [&](Tie row) {
        row.call.span += spans;
        return row;
    });
    join_column(shapes, next.shapes, [&](RecordedShape row) {
        return RecordedShape{row.span + spans, shaped[row.text]};
    });
    join_column(copies, next.copies, [&](CopyBytes row) { return CopyBytes{row.span + spans, row.bytes}; });
    join_column(awaits, next.awaits, [&](Await const& row) {
        return Await{row.span + spans, joined(next, row.stream), row.record};
    });
    join_column(ranks, next.ranks, [&](RankRow row) { return RankRow{row.span + spans, row.rank}; });
    join_column(step_ranges, next.step_ranges, [&](NumberedRange row) {
        return NumberedRange{row.span + spans, row.number};
    });
    join_column(edges, next.edges, [&](Edge row) {
        return Edge{row.span == no_span ? no_span : row.span + spans, threaded[row.thread], row.time, row.at};
    });
    auto const named = [&](LaneName const& row) {
        Place const process = joined(next, row.process);
        return LaneName{process, joined(next, row.thread), words.plain(next.words[row.text])};
    };
    join_column(lane_names, next.lane_names, named);
    join_column(process_names, next.process_names, named);
}

} // namespace headroom::io
