#include "trace/trace_cut.hpp"

#include "trace/busy_intervals.hpp"
#include "trace/launches.hpp"
#include "trace/repetition.hpp"
#include "trace/wide_time.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace headroom::trace {
namespace {

struct Cut {
    Ticks from = 0, to = std::numeric_limits<Ticks>::max();
    [[nodiscard]] bool holds(Ticks begin, Ticks end) const { return begin < to && (end > from || begin >= from); }
};

[[noreturn]] void refuse_empty(RankTrace const& trace, std::string const& what, std::string const& why) {
    too_little(trace.source, what, why, "without this option the answer names steps and length");
}

/// Whether each interval stays.
std::vector<char> kept_spans(RankTrace const& trace, Cut const& cut) {
    std::vector<char> kept(trace.size());
    Launches const launches{trace};
    Launches::Walk launch_of(launches);
    auto const& timeline = trace.timeline;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        if (!cut.holds(timeline.begin[i], timeline.end[i])) { continue; }
        bool const inside = timeline.begin[i] >= cut.from && timeline.end[i] <= cut.to;
        bool const range = trace.kind[i] == SpanKind::annotation;
        kept[i] = inside || !range ? 1 : 0;
        if (!trace.lanes[timeline.lane[i]].device) { continue; }
        if (auto const call = launch_of[trace.correlation[i]]; call != none) { kept[call] = 1; }
    }
    return kept;
}

/// Keeps the entries of a table whose intervals stay, under their new numbers.
template <class Row> void keep_rows(std::vector<Row>& rows, std::vector<std::uint32_t> const& number) {
    std::erase_if(rows, [&](Row const& row) { return number[row.span] == none; });
    for (Row& row : rows) { row.span = number[row.span]; }
}

RankTrace part_of(RankTrace const& trace, Cut const& cut) {
    RankTrace part = trace;
    auto const kept = kept_spans(trace, cut);
    std::vector<std::uint32_t> number(trace.size(), none);
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
        if (kept[i] == 0) { continue; }
        auto& line = part.timeline;
        line.begin[next] = std::clamp(line.begin[i], cut.from, cut.to);
        line.end[next] = std::clamp(line.end[i], cut.from, cut.to);
        line.lane[next] = line.lane[i];
        line.name[next] = line.name[i];
        part.kind[next] = part.kind[i];
        part.correlation[next] = part.correlation[i];
        if (!part.calls.empty()) { part.calls[next] = part.calls[i]; }
        number[i] = next++;
    }
    if (next == 0) {
        refuse_empty(trace, "nothing runs between --from and --to", "the window is outside of the trace");
    }
    for (auto* column : {&part.timeline.begin, &part.timeline.end}) { column->resize(next); }
    for (auto* column : {&part.timeline.lane, &part.timeline.name, &part.correlation}) { column->resize(next); }
    part.kind.resize(next);
    if (!part.calls.empty()) { part.calls.resize(next); }
    keep_rows(part.collectives, number);
    keep_rows(part.shapes, number);
    keep_rows(part.copies, number);
    keep_rows(part.counted, number);
    keep_rows(part.waits, number);
    std::erase_if(part.steps, [&](TraceStep const& step) { return step.begin < cut.from || step.end > cut.to; });
    return part;
}

/// Counts times from a moment on.
void begin_at(RankTrace& trace, Ticks moment) {
    trace.epoch_ns = wide_sum(trace.epoch_ns, moment);
    for (auto* column : {&trace.timeline.begin, &trace.timeline.end}) {
        for (Ticks& time : *column) { time -= moment; }
    }
    for (TraceStep& step : trace.steps) { step.begin -= moment, step.end -= moment; }
}

/// Steps of the numbers that are asked for: annotated ones, else what repeats.
std::vector<TraceStep> asked_steps(RankTrace const& trace, DigestQuestion const& question) {
    auto steps = annotated_steps(trace, question.step_name);
    if (steps.empty() && question.step_name.empty()) { steps = repeated_steps(trace, busy_intervals(trace)); }
    std::erase_if(steps, [&](TraceStep const& step) {
        return step.number < question.window.first_step || step.number > question.window.last_step;
    });
    if (steps.empty()) {
        refuse_empty(trace,
                     "no step from " + std::to_string(question.window.first_step) + " to " +
                         std::to_string(question.window.last_step),
                     "--steps names others");
    }
    return steps;
}

} // namespace

RankTrace cut_trace(RankTrace const& trace, DigestQuestion const& question) {
    auto const& window = question.window;
    Cut cut{window.from, window.to};
    std::vector<TraceStep> steps;
    if (window.by_steps()) {
        steps = asked_steps(trace, question);
        Ticks end = steps.front().end;
        for (TraceStep const& step : steps) { end = std::max(end, step.end); }
        cut = {std::max(cut.from, steps.front().begin), std::min(cut.to, end)};
    }
    RankTrace part = part_of(trace, cut);
    if (window.by_steps()) {
        part.steps.clear();
        for (TraceStep const& step : steps) {
            if (step.begin >= cut.from && step.end <= cut.to) { part.steps.push_back(step); }
        }
    }
    begin_at(part, cut.from);
    return part;
}

} // namespace headroom::trace
