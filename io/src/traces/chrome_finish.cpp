#include "traces/chrome_finish.hpp"

#include "traces/chrome_lane_ranks.hpp"
#include "traces/chrome_part.hpp"
#include "traces/trace_builder.hpp"

#include "headroom/trace/rank_trace.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headroom::io {

using namespace headroom::trace;

namespace {

using namespace headroom::trace;

constexpr Ticks rounding = 2000; ///< of clocks that count whole microseconds

bool runs_on_stream(RankTrace const& trace, std::uint32_t span) {
    return occupies_device(trace.kind[span]) && trace.lanes[trace.timeline.lane[span]].device;
}

/// Time in which anything of a lane runs, modulo 2^64 (times may be anything); `order` is by begin.
std::uint64_t busy_time(Timeline const& line, std::vector<std::uint32_t> const& order) {
    std::uint64_t busy = 0;
    Ticks until = std::numeric_limits<Ticks>::min();
    for (auto const span : order) {
        if (line.end[span] <= until) { continue; }
        busy +=
            static_cast<std::uint64_t>(line.end[span]) - static_cast<std::uint64_t>(std::max(line.begin[span], until));
        until = line.end[span];
    }
    return busy;
}

/// Ends kernels and copies where the next one of their stream begins, and counts those that this shortens: a stream runs
/// one after the other, so a longer duration is a fault of the recording. Of a kernel around others the rest is lost: how
/// much is stated. Work of one launch (a graph) may overlap, as may what overlaps by less than clocks round. O(n log n).
void clip_overlaps(RankTrace& trace) {
    auto& line = trace.timeline;
    std::string first;
    std::uint64_t count = 0, lost = 0;
    std::vector<std::vector<std::uint32_t>> spans(trace.lanes.size());
    for (std::uint32_t span = 0; span < trace.size(); ++span) {
        bool const lasts = runs_on_stream(trace, span) && line.end[span] > line.begin[span];
        if (lasts) { spans[line.lane[span]].push_back(span); }
    }
    for (std::size_t lane = 0; lane < spans.size(); ++lane) {
        auto& order = spans[lane];
        std::ranges::stable_sort(order, {}, [&](std::uint32_t span) { return line.begin[span]; });
        auto const before = busy_time(line, order);
        for (std::size_t i = 0; i < order.size(); ++i) {
            auto const span = order[i];
            auto const same_launch = [&](std::uint32_t other) {
                return trace.correlation[span] != 0 && trace.correlation[other] == trace.correlation[span];
            };
            std::size_t next = i + 1;
            while (next < order.size() && (same_launch(order[next]) || line.begin[order[next]] == line.begin[span])) {
                ++next;
            }
            if (next == order.size() || line.end[span] <= line.begin[order[next]] + rounding) { continue; }
            line.end[span] = line.begin[order[next]];
            if (count++ == 0) {
                first = trace.source + ": " + line.names[line.name[span]].substr(0, 80) + " on " + line.lanes[lane];
            }
        }
        lost += before - busy_time(line, order);
    }
    if (count == 0) { return; }
    if (lost > 0) { first += "; " + std::to_string(lost) + " ns of kernels around others are not counted"; }
    count_issue(trace.issues, "kernels overlap on one stream", first, count);
}

using namespace headroom::trace;

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
    column.shrink_to_fit(); // one rank of many may keep little
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
    renumber(trace.step_ranges, numbers);
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

std::vector<std::int64_t> by_lane(RankTrace const& trace, std::vector<std::int64_t> const& lane_ranks) {
    std::vector<std::int64_t> ranks(trace.size());
    std::transform(trace.timeline.lane.begin(), trace.timeline.lane.end(), ranks.begin(),
                   [&](std::uint32_t lane) { return lane_ranks[lane]; });
    return ranks;
}

/// Takes intervals out (`left_out`; empty: none), and makes a trace a rank where events state several: what says no rank
/// goes with its process, and with the first rank where that has none. `lane_ranks` (empty: none), the rank of each
/// lane, goes before what events state. Times stay as they are.
std::vector<RankTrace> split_ranks(RankTrace&& trace, std::vector<bool> const& left_out,
                                   std::vector<ChromePart::RankRow> const& rows,
                                   std::vector<std::int64_t> const& lane_ranks) {
    std::set<std::int64_t> stated(lane_ranks.begin(), lane_ranks.end());
    stated.erase(ChromePart::every_rank);
    if (lane_ranks.empty()) {
        for (auto const& row : rows) { stated.insert(row.rank); }
    }
    auto const stays = [&](std::uint32_t span) { return left_out.empty() || !left_out[span]; };
    std::vector<RankTrace> traces;
    if (stated.size() < 2) {
        if (!left_out.empty()) { keep_spans(trace, stays); }
        if (!trace.rank && !stated.empty()) {
            trace.rank = *stated.begin();
            trace.rank_from = "events";
        }
        traces.push_back(std::move(trace));
        return traces;
    }
    auto const ranks = lane_ranks.empty() ? rank_of_spans(trace, rows, *stated.begin()) : by_lane(trace, lane_ranks);
    for (std::int64_t const number : stated) {
        RankTrace one = trace;
        keep_spans(one, [&](std::uint32_t span) {
            return stays(span) && (ranks[span] == number || ranks[span] == ChromePart::every_rank);
        });
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

/// Microseconds since 1970 in the year 2001, as nanoseconds: clocks that show more count from then.
constexpr std::int64_t absolute_from = 1'000'000'000'000'000'000;

/// Ends of ranges that were written as two events: by thread, in the order of time, the last that began first.
void pair_edges(ChromePart& part, std::vector<bool>& left_out) {
    auto& edges = part.edges;
    auto const earlier = [](auto const& left, auto const& right) { return left.time < right.time; };
    if (!std::is_sorted(edges.begin(), edges.end(), earlier)) { std::stable_sort(edges.begin(), edges.end(), earlier); }
    std::vector<std::vector<ChromePart::Edge>> open(part.threads.size());
    for (auto const& edge : edges) {
        auto& stack = open[edge.thread];
        if (edge.span != ChromePart::no_span) {
            stack.push_back(edge);
        } else if (stack.empty()) {
            part.faults.count(ChromeFault::end_alone, edge.at);
        } else {
            part.end[stack.back().span] = edge.time;
            stack.pop_back();
        }
    }
    for (auto const& stack : open) {
        for (auto const& edge : stack) {
            part.faults.count(ChromeFault::begin_alone, edge.at);
            left_out.resize(part.size());
            left_out[edge.span] = true;
        }
    }
    edges = {};
}

/// Device work that takes time, by begin, of equal ones the earlier in the input first.
std::vector<std::uint32_t> lasting_work(ChromePart const& part) {
    struct Work {
        std::int64_t begin;
        std::uint32_t span;
    };
    std::vector<Work> work;
    for (std::uint32_t span = 0; span < part.size(); ++span) {
        if (occupies_device(part.kind[span]) && part.end[span] > part.begin[span]) {
            work.push_back({part.begin[span], span});
        }
    }
    auto const before = [](Work const& left, Work const& right) { return left.begin < right.begin; };
    if (!std::is_sorted(work.begin(), work.end(), before)) { std::stable_sort(work.begin(), work.end(), before); }
    std::vector<std::uint32_t> spans(work.size());
    std::transform(work.begin(), work.end(), spans.begin(), [](Work const& one) { return one.span; });
    return spans;
}

/// Device work that stands in the input twice, launch and all. Work without a length may well be the same twice.
void find_twins(ChromePart& part, std::vector<std::uint32_t> work, std::vector<bool>& left_out) {
    auto const key = [&](std::uint32_t span) {
        return std::tuple(part.begin[span], part.end[span], part.correlation[span], part.lane[span], part.name[span]);
    };
    for (std::size_t first = 0, next = 0; first < work.size(); first = next) {
        next = first + 1;
        while (next < work.size() && part.begin[work[next]] == part.begin[work[first]]) { ++next; }
        if (next - first < 2) { continue; }
        auto const from = work.begin() + static_cast<std::ptrdiff_t>(first);
        auto const to = work.begin() + static_cast<std::ptrdiff_t>(next);
        std::sort(from, to,
                  [&](auto left, auto right) { return std::pair(key(left), left) < std::pair(key(right), right); });
        for (auto one = from + 1; one < to; ++one) {
            if (part.correlation[*one] == 0 || key(*one) != key(*(one - 1))) { continue; }
            left_out.resize(part.size());
            left_out[*one] = true;
            part.faults.count(ChromeFault::duplicate_event, ChromeFaults::no_place);
        }
    }
}

/// Whether something begins on a lane before what the lane did before has ended. `work` is by begin.
bool some_overlap(ChromePart const& part, std::vector<std::uint32_t> const& work) {
    std::vector<std::int64_t> until(part.lanes.size(), std::numeric_limits<std::int64_t>::min());
    bool overlap = false;
    for (auto const span : work) {
        auto& busy = until[part.lane[span]];
        overlap = overlap || part.begin[span] < busy;
        busy = std::max(busy, part.end[span]);
    }
    return overlap;
}

/// Communication that says nothing of itself, but whose call on the host does.
void tie_calls(ChromePart& part, bool device_work) {
    if (!device_work) {
        for (auto const& tie : part.calls) { part.collectives.push_back(tie.call); }
        return;
    }
    std::unordered_map<std::int64_t, TracedCollective const*> by_external;
    for (auto const& tie : part.calls) {
        if (tie.external > 0) { by_external.emplace(tie.external, &tie.call); }
    }
    for (auto const& tie : part.bare) {
        auto const call = by_external.find(tie.external);
        if (call == by_external.end()) { continue; }
        part.collectives.push_back(*call->second);
        part.collectives.back().span = tie.call.span;
    }
}

TraceLane plain_lane(ChromePart::Lane const& lane) {
    auto const number = [](ChromePart::Place place) {
        return ChromePart::is_word(place) ? -1 - (place - ChromePart::word_base) : place;
    };
    return {lane.device, number(lane.process), number(lane.thread)};
}

/// "stream 7", "thread 1102 (python)".
std::vector<std::string> lane_words(ChromePart const& part) {
    std::map<std::pair<ChromePart::Place, ChromePart::Place>, std::uint32_t> stated;
    for (auto const& name : part.lane_names) { stated[{name.process, name.thread}] = name.text; }
    std::vector<std::string> words;
    for (auto const& lane : part.lanes) {
        // A number may be as large as what stands for a word: then there is no such word.
        auto const of_words =
            static_cast<std::uint64_t>(lane.thread) - static_cast<std::uint64_t>(ChromePart::word_base);
        bool const word = ChromePart::is_word(lane.thread) && of_words < part.words.size();
        std::string text(lane.device ? "stream " : "thread ");
        text += word ? std::string(part.words[static_cast<std::uint32_t>(lane.thread - ChromePart::word_base)])
                     : std::to_string(lane.thread);
        auto const name = stated.find({lane.process, lane.thread});
        if (!lane.device && name != stated.end()) { text += " (" + std::string(part.words[name->second]) + ")"; }
        words.push_back(std::move(text));
    }
    return words;
}

/// The device that most of the trace's lanes are of, as the metadata describe it; the first where none is.
TraceDevice device_of(ChromePart const& part, ChromeMetadata const& metadata) {
    if (metadata.devices.empty()) { return {}; }
    std::map<std::int64_t, std::size_t> lanes;
    for (auto const& lane : part.lanes) { lanes[lane.process] += lane.device ? 1 : 0; }
    auto const most =
        std::max_element(metadata.devices.begin(), metadata.devices.end(),
                         [&](auto const& left, auto const& right) { return lanes[left.id] < lanes[right.id]; });
    return most->device;
}

/// Ranks that are devices of one process: each has its own description, and the process is none of several.
void describe_devices(std::vector<RankTrace>& traces, ChromeMetadata const& metadata) {
    for (RankTrace& one : traces) {
        one.world_size.reset();
        auto const known = std::find_if(metadata.devices.begin(), metadata.devices.end(),
                                        [&](auto const& device) { return device.id == one.rank; });
        if (known != metadata.devices.end()) { one.device = known->device; }
    }
}

/// "[[64, 1024], [1024, 4096]] float": dimensions without breaks of lines, and each type once.
std::string shape_words(std::string_view text) {
    auto const zero = text.find('\0');
    std::string words;
    for (char const byte : text.substr(0, zero)) {
        bool const white = byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
        if (!white) { words += byte; }
        if (byte == ',') { words += ' '; }
    }
    std::vector<std::string> types;
    std::string type;
    for (char const byte : text.substr(std::min(zero, text.size() - 1) + 1)) {
        if (byte != '"' && byte != '[' && byte != ']' && byte != ',' && byte != '\n') {
            type += type.empty() && byte == ' ' ? "" : std::string(1, byte);
            continue;
        }
        bool const is_new = !type.empty() && std::find(types.begin(), types.end(), type) == types.end();
        if (is_new) { types.push_back(type); }
        type.clear();
    }
    for (std::size_t at = 0; at < types.size(); ++at) { words += (at == 0 ? " " : ", ") + types[at]; }
    return words;
}

/// Waits for streams that the trace has; where nothing ran there is nothing to wait for.
std::vector<TracedWait> waits_of(ChromePart const& part) {
    std::map<ChromePart::Lane, std::uint32_t> numbers;
    for (std::uint32_t lane = 0; lane < part.lanes.size(); ++lane) { numbers.emplace(part.lanes[lane], lane); }
    std::vector<TracedWait> waits;
    for (auto const& row : part.awaits) {
        auto const known = numbers.find(row.stream);
        if (known != numbers.end()) { waits.push_back({row.span, known->second, row.record}); }
    }
    return waits;
}

std::vector<TraceGroup> groups_of(ChromePart const& part, ChromeMetadata const& metadata) {
    std::vector<TraceGroup> groups;
    for (std::uint32_t at = 0; at < part.group_texts.size(); ++at) {
        TraceGroup group = chrome_group(part.group_texts[at]);
        auto const stated = std::find_if(metadata.groups.begin(), metadata.groups.end(),
                                         [&](TraceGroup const& known) { return known.name == group.name; });
        bool const short_of_ranks = group.ranks.empty() && !group.name.empty();
        if (short_of_ranks && stated != metadata.groups.end()) { group.ranks = stated->ranks; }
        groups.push_back(std::move(group));
    }
    return groups;
}

void move_columns(ChromePart& part, RankTrace& trace) {
    auto& line = trace.timeline;
    line.begin = std::move(part.begin);
    line.end = std::move(part.end);
    line.lane = std::move(part.lane);
    line.name = std::move(part.name);
    line.lanes = lane_words(part);
    trace.kind = std::move(part.kind);
    trace.correlation = std::move(part.correlation);
    std::transform(part.lanes.begin(), part.lanes.end(), std::back_inserter(trace.lanes), plain_lane);
    trace.waits = waits_of(part);
    trace.collectives = std::move(part.collectives);
    trace.shapes = std::move(part.shapes);
    trace.copies = std::move(part.copies);
    trace.step_ranges = std::move(part.step_ranges);
    line.names = part.names.take();
    trace.collective_names = part.collective_names.take();
    for (auto const& text : part.shape_texts.take()) { trace.shape_texts.push_back(shape_words(text)); }
}

void move_faults(ChromeFaults const& faults, RankTrace& trace) {
    for (std::size_t kind = 0; kind < chrome_fault_kinds; ++kind) {
        auto const fault = static_cast<ChromeFault>(kind);
        auto const& row = faults[fault];
        if (row.count == 0) { continue; }
        bool const placed = row.first != ChromeFaults::no_place;
        count_issue(trace.issues, name_of(fault),
                    placed ? trace.source + ": byte " + std::to_string(row.first) : trace.source, row.count);
    }
}

} // namespace

TraceGroup chrome_group(std::string_view text) {
    TraceGroup group;
    auto const name_end = text.find('\0');
    auto const description_end = text.find('\0', name_end + 1);
    group.name = text.substr(0, name_end);
    group.description = text.substr(name_end + 1, description_end - name_end - 1);
    std::int64_t number = -1;
    for (char const byte : text.substr(description_end + 1)) {
        bool const digit = byte >= '0' && byte <= '9';
        if (digit) { number = std::min<std::int64_t>(std::max<std::int64_t>(number, 0) * 10 + (byte - '0'), 1 << 30); }
        if (!digit && number >= 0) { group.ranks.push_back(static_cast<std::int32_t>(std::exchange(number, -1))); }
    }
    return group;
}

std::vector<RankTrace> finish_chrome(ChromePart&& part, ChromeMetadata const& metadata, std::string const& where) {
    std::vector<bool> left_out; // empty: nothing
    pair_edges(part, left_out);
    std::int64_t const first = leave_undated_out(part, left_out);
    auto work = lasting_work(part);
    bool const overlaps = some_overlap(part, work);
    find_twins(part, std::move(work), left_out);
    name_device_lanes(part);
    settle_step_ranges(part);
    bool const device_work =
        std::any_of(part.lanes.begin(), part.lanes.end(), [](ChromePart::Lane const& lane) { return lane.device; }) &&
        std::any_of(part.kind.begin(), part.kind.end(), occupies_device);
    tie_calls(part, device_work);
    bool const is_kineto = part.is_kineto || metadata.is_kineto;
    std::uint64_t const unseen = device_work ? 0 : name_host_communication(part, is_kineto);
    bool const one_process = metadata.world_size.value_or(metadata.rank ? 2 : 1) <= 1;
    std::size_t const devices = number_devices_of_process(part, one_process);
    RankTrace trace;
    trace.source = where;
    trace.format = is_kineto ? "kineto" : "chrome";
    trace.rank = metadata.rank;
    if (trace.rank) { trace.rank_from = "metadata"; }
    trace.world_size = metadata.world_size;
    trace.host_name = metadata.host_name;
    trace.device = device_of(part, metadata);
    trace.groups = groups_of(part, metadata);
    trace.events = part.events;
    auto const ranks = std::move(part.ranks);
    auto const lane_ranks = std::move(part.lane_ranks);
    move_faults(part.faults, trace);
    trace.work_missing = unseen > 0;
    if (unseen > 0) { count_issue(trace.issues, "transfers of a device that was not recorded", where, unseen); }
    if (devices > 1 && !one_process) {
        count_issue(trace.issues, "several devices in one rank, read as one", where, devices);
    }
    move_columns(part, trace);
    trace.clock_is_absolute = first >= absolute_from;
    bool const relative = metadata.base_ns && !trace.clock_is_absolute && *metadata.base_ns > 0;
    auto traces = split_ranks(std::move(trace), left_out, ranks, lane_ranks);
    if (devices > 1 && one_process) { describe_devices(traces, metadata); }
    for (auto& one : traces) {
        finish_trace(one);
        if (is_kineto && overlaps) { clip_overlaps(one); }
        one.clock_is_absolute = one.clock_is_absolute || relative;
        std::int64_t moved = 0;
        if (relative && !__builtin_add_overflow(one.epoch_ns, *metadata.base_ns, &moved)) { one.epoch_ns = moved; }
    }
    return traces;
}

} // namespace headroom::io
