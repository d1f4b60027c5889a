#include "graphs/graph_formats.hpp"
#include "traces/head_source.hpp"
#include "traces/trace_formats.hpp"

#include "headroom/io/trace.hpp"
#include "headroom/trace/rank_digest.hpp"
#include "headroom/trace/trace_path.hpp"

#include <string>

namespace headroom::io {

using namespace headroom::laws;
using namespace headroom::trace;

bool looks_like_trace_graph(std::string_view bytes) {
    constexpr std::size_t head = std::size_t{64} << 10;
    if (!bytes.starts_with("\x1f\x8b") && !bytes.starts_with("\x28\xb5\x2f\xfd")) {
        return looks_like_chrome(bytes.substr(0, head));
    }
    TraceReading const reading; // packed, as profilers write them
    return looks_like_chrome(
        HeadSource{open_source(bytes, "", {reading.text_limit, reading.ratio_limit}), head}.head());
}

TaskGraph read_trace_graph(std::string_view bytes, std::string const& where) {
    auto traces = read_traces(bytes, where);
    auto const& trace = traces.front();
    auto const step = middle_step(trace, breakdown_of(trace));
    auto graph = task_graph_of({step_graph(trace, step)}, {}, {0});
    graph.notes.insert(graph.notes.begin(), "step " + std::to_string(step.number) + " of a profiler's trace");
    for (auto const& issue : trace.issues) {
        graph.notes.push_back(issue.kind + ": " + std::to_string(issue.count) + ", first at " + issue.first_at);
    }
    if (traces.size() > 1) { graph.notes.emplace_back("the file has several ranks: this is the first"); }
    return graph;
}

} // namespace headroom::io
