#pragma once

// Any bytes as a trace of one format: timelines that hold together, or one InputError of one line.

#include "traces/trace_formats.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace headroom::test {

template <class Rows> bool stands(Rows const& rows, std::size_t spans) {
    auto const earlier = [](auto const& left, auto const& right) { return left.span < right.span; };
    return std::is_sorted(rows.begin(), rows.end(), earlier) &&
           std::all_of(rows.begin(), rows.end(), [&](auto const& row) { return row.span < spans; });
}

inline bool holds_together(trace::RankTrace const& trace) {
    auto const& line = trace.timeline;
    std::size_t const spans = trace.size();
    bool sound = line.end.size() == spans && line.lane.size() == spans && line.name.size() == spans &&
                 trace.kind.size() == spans && trace.correlation.size() == spans &&
                 trace.lanes.size() == line.lanes.size() && stands(trace.collectives, spans) &&
                 stands(trace.shapes, spans) && stands(trace.copies, spans) && stands(trace.counted, spans) &&
                 stands(trace.waits, spans);
    for (std::size_t i = 0; sound && i < spans; ++i) {
        sound = line.begin[i] >= 0 && line.end[i] >= line.begin[i] && line.lane[i] < line.lanes.size() &&
                line.name[i] < line.names.size();
    }
    for (auto const& call : trace.collectives) {
        sound = sound && call.what < trace.collective_names.size() && call.group < trace.groups.size();
    }
    for (auto const& shape : trace.shapes) { sound = sound && shape.text < trace.shape_texts.size(); }
    for (auto const& wait : trace.waits) { sound = sound && wait.lane < line.lanes.size(); }
    for (auto const& issue : trace.issues) { sound = sound && issue.count > 0; }
    return sound;
}

using ReadTrace = std::vector<trace::RankTrace> (*)(io::ByteSource&, std::string const&, io::TraceReading const&);

inline int fuzz_trace(ReadTrace read, std::uint8_t const* data, std::size_t size) {
    std::string_view const bytes{reinterpret_cast<char const*>(data), size};
    try {
        io::TraceReading const reading;
        auto const source = io::open_source(bytes, "trace", {reading.text_limit, reading.ratio_limit});
        auto const traces = read(*source, "trace", reading);
        if (traces.empty() || !std::all_of(traces.begin(), traces.end(), holds_together)) { std::abort(); }
    } catch (InputError const& error) {
        std::string_view const line{error.what()};
        if (line.find('\n') != std::string_view::npos || !line.starts_with("trace")) { std::abort(); }
        if (error.fault() == Fault::usage) { std::abort(); }
    }
    return 0;
}

} // namespace headroom::test
