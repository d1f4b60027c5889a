#include "headroom/trace_path.hpp"

namespace headroom {

StepGraph step_graph(RankTrace const& trace, TraceStep const& step) {
    return step_graph(trace, step, collective_runs(trace));
}

} // namespace headroom
