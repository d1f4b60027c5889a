#pragma once

#include "headroom/trace/rank_trace.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace headroom::test {

/// A trace that is put together by hand, an interval at a time.
class MadeTrace {
public:
    std::uint32_t span(trace::SpanKind kind, std::string_view name, trace::TraceLane lane, Ticks begin, Ticks end,
                       std::uint32_t correlation = 0) {
        auto& timeline = trace_.timeline;
        timeline.begin.push_back(begin);
        timeline.end.push_back(end);
        timeline.lane.push_back(number_of(lane));
        timeline.name.push_back(number_of(name));
        trace_.kind.push_back(kind);
        trace_.correlation.push_back(correlation);
        return static_cast<std::uint32_t>(timeline.size() - 1);
    }
    /// On a stream of the one device, or on a thread of the one process.
    std::uint32_t on_stream(trace::SpanKind kind, std::string_view name, int stream, Ticks begin, Ticks end,
                            std::uint32_t correlation = 0) {
        return span(kind, name, {true, 0, stream}, begin, end, correlation);
    }
    std::uint32_t on_thread(trace::SpanKind kind, std::string_view name, int thread, Ticks begin, Ticks end,
                            std::uint32_t correlation = 0) {
        return span(kind, name, {false, 1, thread}, begin, end, correlation);
    }
    void step(std::int64_t number, Ticks begin, Ticks end) { trace_.steps.push_back({number, begin, end}); }
    trace::RankTrace& trace() { return trace_; }

private:
    trace::RankTrace trace_;

    std::uint32_t number_of(std::string_view name) {
        auto& names = trace_.timeline.names;
        auto const at = std::find(names.begin(), names.end(), name);
        if (at != names.end()) { return static_cast<std::uint32_t>(at - names.begin()); }
        names.emplace_back(name);
        return static_cast<std::uint32_t>(names.size() - 1);
    }
    std::uint32_t number_of(trace::TraceLane lane) {
        auto const at = std::find(trace_.lanes.begin(), trace_.lanes.end(), lane);
        if (at != trace_.lanes.end()) { return static_cast<std::uint32_t>(at - trace_.lanes.begin()); }
        trace_.lanes.push_back(lane);
        trace_.timeline.lanes.push_back((lane.device ? "stream " : "thread ") + std::to_string(lane.thread));
        return static_cast<std::uint32_t>(trace_.lanes.size() - 1);
    }
};

} // namespace headroom::test
