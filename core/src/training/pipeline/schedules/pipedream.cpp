#include "schedules.hpp"

namespace headroom::training::schedules {

PipelineOrder pipedream_order(PipelineShape const& shape) { return one_f_one_b_order(shape); }

double pipedream_held(PipelineShape const& shape, int stage) { return one_f_one_b_held(shape, stage); }

int pipedream_versions(PipelineShape const& shape, int stage) { return shape.stages - stage; }

int pipedream_staleness(PipelineShape const& shape, int stage) { return shape.stages - 1 - stage; }

} // namespace headroom::training::schedules
