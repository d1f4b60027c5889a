#include "headroom/trace/trace_path.hpp"

namespace headroom::trace {

StepGraph step_graph(RankTrace const& trace, TraceStep const& step) {
    return step_graph(trace, step, collective_runs(trace));
}

} // namespace headroom::trace
