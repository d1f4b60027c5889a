#include "graph/chrome_trace.hpp"

#include "document/json.hpp"

#include <cmath>

namespace headroom::cli {
namespace {

std::string_view kind_of(TaskGraph const& graph, std::uint32_t task) {
    if (graph.kinds.empty()) { return "task"; }
    return graph.kinds[graph.kind_of.empty() ? 0 : graph.kind_of[task]];
}

/// Digits that tell ticks of down to a picosecond apart, and no exponent.
void add_time(std::string& out, Ticks ticks, double microseconds_per_tick) {
    if (microseconds_per_tick == 1.0) {
        out += std::to_string(ticks);
    } else {
        out += exact(std::round(static_cast<double>(ticks) * microseconds_per_tick * 1e6) / 1e6);
    }
}

void add_lane(std::string& out, std::size_t lane, std::string const& name) {
    out += R"({"ph":"M","name":"thread_name","pid":0,"tid":)" + std::to_string(lane) + R"(,"args":{"name":)";
    append_json_string(out, name);
    out += "}},\n";
}

} // namespace

std::string chrome_trace(Timeline const& timeline, TaskGraph const& graph) {
    bool const timed = graph.unit == "seconds";
    double const microseconds = timed ? 1e6 * graph.per_tick : 1.0;
    std::string out;
    out.reserve(128 * (timeline.size() + timeline.lanes.size()) + 256);
    out += "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"tick\":";
    append_json_string(
        out, timed ? "time" : "a microsecond is one of " + (graph.unit.empty() ? "the file's units" : graph.unit));
    out += "},\"traceEvents\":[\n";
    for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) { add_lane(out, lane, timeline.lanes[lane]); }
    for (std::size_t i = 0; i < timeline.size(); ++i) {
        std::uint32_t const task = timeline.name[i];
        std::string_view const kind = kind_of(graph, task);
        out += "{\"ph\":\"X\",\"name\":";
        append_json_string(out, graph.names.empty() ? kind : std::string_view{graph.names[task]});
        out += ",\"cat\":";
        append_json_string(out, kind);
        out += ",\"pid\":0,\"tid\":" + std::to_string(timeline.lane[i]) + ",\"ts\":";
        add_time(out, timeline.begin[i], microseconds);
        out += ",\"dur\":";
        add_time(out, timeline.end[i] - timeline.begin[i], microseconds);
        out += ",\"args\":{\"task\":" + std::to_string(task) + "}},\n";
    }
    out += R"({"ph":"M","name":"process_name","pid":0,"args":{"name":)";
    append_json_string(out, graph.name);
    return out + "}}\n]}\n";
}

} // namespace headroom::cli
