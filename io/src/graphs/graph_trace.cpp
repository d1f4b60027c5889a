#include "graphs/graph_formats.hpp"
#include "traces/trace_formats.hpp"

#include "headroom/io/trace.hpp"
#include "headroom/trace_breakdown.hpp"
#include "headroom/trace_path.hpp"

#include <algorithm>
#include <utility>

namespace headroom::io {
namespace {

/// The step in the middle: the first warm up, the last may be cut. Without steps the whole is one.
TraceStep middle_step(RankTrace const& trace) {
    auto const steps = detected_steps(trace);
    if (!steps.empty()) { return steps[steps.size() / 2]; }
    auto const& ends = trace.timeline.end;
    return {0, 0, ends.empty() ? 0 : *std::max_element(ends.begin(), ends.end())};
}

} // namespace

bool looks_like_trace_graph(std::string_view bytes) {
    constexpr std::size_t head = std::size_t{64} << 10;
    return looks_like_chrome(bytes.substr(0, head));
}

TaskGraph read_trace_graph(std::string_view bytes, std::string const& where) {
    auto traces = read_traces(bytes, where);
    auto const& trace = traces.front();
    auto const step = middle_step(trace);
    auto graph = task_graph_of({step_graph(trace, step)}, {}, {0});
    graph.notes.insert(graph.notes.begin(), "step " + std::to_string(step.number) + " of a profiler's trace");
    if (traces.size() > 1) { graph.notes.emplace_back("the file has several ranks: this is the first"); }
    return graph;
}

} // namespace headroom::io
