#include "graph/graph_trace.hpp"

#include "headroom/document/chrome_trace.hpp"
#include "headroom/document/json.hpp"
#include "headroom/laws/graph_answer.hpp"

#include <array>
#include <cmath>

namespace headroom::cli {

using namespace headroom::document;

using namespace headroom::laws;

namespace {

/// Digits that tell ticks of down to a picosecond apart, and no exponent.
std::string time_text(Ticks ticks, double microseconds_per_tick) {
    if (microseconds_per_tick == 1.0) { return std::to_string(ticks); }
    return exact(std::round(static_cast<double>(ticks) * microseconds_per_tick * 1e6) / 1e6);
}

} // namespace

std::string graph_trace(Timeline const& timeline, TaskGraph const& graph) {
    bool const timed = graph.unit == "seconds";
    double const microseconds = timed ? 1e6 * graph.per_tick : 1.0;
    std::string const unit = graph.unit.empty() ? "the file's units" : graph.unit;
    ChromeTrace trace{timed ? "time" : "a microsecond is one of " + unit, timeline.size()};
    trace.name_process(0, graph.name);
    for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
        trace.name_thread(0, static_cast<int>(lane), timeline.lanes[lane]);
    }
    for (std::size_t i = 0; i < timeline.size(); ++i) {
        std::uint32_t const task = timeline.name[i];
        std::string_view const kind = graph.kinds.empty() ? "task" : kind_name(graph, task);
        std::array const arguments{TraceArgument{"task", std::int64_t{task}}};
        trace.add({.thread = static_cast<int>(timeline.lane[i]),
                   .name = graph.names.empty() ? kind : std::string_view{graph.names[task]},
                   .category = kind,
                   .begin = time_text(timeline.begin[i], microseconds),
                   .duration = time_text(timeline.end[i] - timeline.begin[i], microseconds)},
                  arguments);
    }
    return std::move(trace).text();
}

} // namespace headroom::cli
