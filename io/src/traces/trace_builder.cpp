#include "traces/trace_builder.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace headroom::io {

using namespace headroom::trace;

namespace {

/// Times move so that the earliest is zero: sums of them stay small and exact.
void move_to_epoch(RankTrace& trace) {
    auto const& begins = trace.timeline.begin;
    trace.epoch_ns = begins.empty() ? 0 : *std::min_element(begins.begin(), begins.end());
    auto const move = [&](Ticks& time) {
        // A begin before 1677 and an end after 2262 have no difference in 64 bits: no clock says such times.
        if (__builtin_sub_overflow(time, trace.epoch_ns, &time)) { time = std::numeric_limits<Ticks>::max(); }
    };
    std::for_each(trace.timeline.begin.begin(), trace.timeline.begin.end(), move);
    std::for_each(trace.timeline.end.begin(), trace.timeline.end.end(), move);
}

std::string lane_words(TraceLane const& lane) {
    return (lane.device ? "stream " : "thread ") + std::to_string(lane.thread);
}

template <class Rows> void by_span(Rows& rows) {
    auto const earlier = [](auto const& left, auto const& right) { return left.span < right.span; };
    if (!std::is_sorted(rows.begin(), rows.end(), earlier)) { std::stable_sort(rows.begin(), rows.end(), earlier); }
}

void sort_steps(std::vector<TraceStep>& steps) {
    std::stable_sort(steps.begin(), steps.end(), [](auto const& left, auto const& right) {
        return std::pair(left.begin, left.number) < std::pair(right.begin, right.number);
    });
}

/// Steps are annotations of the host; their copies on the device have other times and do not count.
std::vector<TraceStep> annotated_steps(RankTrace const& trace) {
    auto const& line = trace.timeline;
    std::vector<std::optional<std::int64_t>> number(line.names.size());
    std::transform(line.names.begin(), line.names.end(), number.begin(),
                   [](auto const& name) { return step_number(name); });
    std::vector<TraceStep> steps;
    for (std::size_t span = 0; span < trace.size(); ++span) {
        if (auto const& step = number[line.name[span]]; step && !trace.lanes[line.lane[span]].device) {
            steps.push_back({*step, line.begin[span], line.end[span]});
        }
    }
    sort_steps(steps);
    return steps;
}

/// Steps from ranges that state their number: those of the host where no name says steps, and those of a device's lane.
void take_stated_steps(RankTrace& trace) {
    auto const& line = trace.timeline;
    bool const named = !trace.steps.empty();
    for (NumberedRange const& range : trace.step_ranges) {
        bool const device = trace.lanes[line.lane[range.span]].device;
        if (named && !device) { continue; }
        (device ? trace.device_steps : trace.steps)
            .push_back({range.number, line.begin[range.span], line.end[range.span]});
    }
    trace.step_ranges = {};
    sort_steps(trace.steps);
    sort_steps(trace.device_steps);
}

} // namespace

std::uint32_t Interner::operator()(std::string_view text) {
    if (auto const known = numbers_.find(text); known != numbers_.end()) { return known->second; }
    auto const number = static_cast<std::uint32_t>(texts_.size());
    texts_.push_back(&numbers_.emplace(text, number).first->first);
    return number;
}

std::vector<std::string> Interner::take() {
    std::vector<std::string> texts(texts_.size());
    std::transform(texts_.begin(), texts_.end(), texts.begin(), [](std::string const* text) { return *text; });
    numbers_.clear();
    texts_.clear();
    return texts;
}

TraceBuilder::TraceBuilder(std::string source, std::string format) {
    trace_.source = std::move(source);
    trace_.format = std::move(format);
}

std::uint32_t TraceBuilder::lane(TraceLane lane) {
    auto const next = static_cast<std::uint32_t>(lanes_.size());
    auto const [known, is_new] = lane_numbers_.try_emplace({lane.device, lane.process, lane.thread}, next);
    if (is_new) {
        lanes_.push_back(lane);
        lane_names_.emplace_back();
    }
    return known->second;
}

void TraceBuilder::name_lane(TraceLane of, std::string_view text) { lane_names_[lane(of)] = text; }

std::uint32_t TraceBuilder::span(SpanKind kind, std::uint32_t name, std::uint32_t lane, std::int64_t begin_ns,
                                 std::int64_t end_ns, std::uint32_t correlation) {
    auto& line = trace_.timeline;
    line.begin.push_back(begin_ns);
    line.end.push_back(std::max(begin_ns, end_ns));
    line.lane.push_back(lane);
    line.name.push_back(name);
    trace_.kind.push_back(kind);
    trace_.correlation.push_back(correlation);
    return static_cast<std::uint32_t>(line.size() - 1);
}

std::uint32_t TraceBuilder::group(TraceGroup group) {
    auto const known = std::find(trace_.groups.begin(), trace_.groups.end(), group);
    if (known != trace_.groups.end()) { return static_cast<std::uint32_t>(known - trace_.groups.begin()); }
    trace_.groups.push_back(std::move(group));
    return static_cast<std::uint32_t>(trace_.groups.size() - 1);
}

void TraceBuilder::shape(std::uint32_t span, std::string_view text) {
    trace_.shapes.push_back({span, shape_texts_(text)});
}

void TraceBuilder::issue(std::string_view kind, std::uint64_t at_byte, std::uint64_t count) {
    issue_at(kind, trace_.source + ": byte " + std::to_string(at_byte), count);
}

void TraceBuilder::issue_at(std::string_view kind, std::string first_at, std::uint64_t count) {
    count_issue(trace_.issues, kind, std::move(first_at), count);
}

RankTrace TraceBuilder::finish() {
    trace_.timeline.names = names_.take();
    trace_.collective_names = collective_names_.take();
    trace_.shape_texts = shape_texts_.take();
    for (std::size_t index = 0; index < lanes_.size(); ++index) {
        if (lane_names_[index].empty()) { lane_names_[index] = lane_words(lanes_[index]); }
    }
    trace_.timeline.lanes = std::move(lane_names_);
    trace_.lanes = std::move(lanes_);
    finish_trace(trace_);
    return std::move(trace_);
}

void finish_trace(RankTrace& trace) {
    move_to_epoch(trace);
    by_span(trace.collectives);
    by_span(trace.shapes);
    by_span(trace.copies);
    by_span(trace.counted);
    by_span(trace.waits);
    trace.steps = annotated_steps(trace);
    take_stated_steps(trace);
    auto const by_kind = [](auto const& left, auto const& right) { return left.kind < right.kind; };
    std::stable_sort(trace.issues.begin(), trace.issues.end(), by_kind);
}

} // namespace headroom::io
