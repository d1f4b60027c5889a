#include "predict/prediction_report.hpp"

namespace headroom::cli {

using namespace headroom::training;

std::vector<Metric> metrics_of(PredictAnswer const* answer) {
    return metrics_of(field_table_of(answer), answer,
                      {{"step", "step_seconds"},
                       {"memory", "memory.total_bytes"},
                       {"exposed_communication", "breakdown.exposed_communication_seconds"},
                       {"time", "days"},
                       {"cost", "cost_dollars"},
                       {"goodput", "goodput.goodput"},
                       {"sample_efficiency", "statistics.sample_efficiency"},
                       {"time_to_target", "statistics.time_to_target_seconds"}});
}

std::vector<std::pair<std::string, Bytes>> parts_of(MemoryUse const& memory) {
    return {{"weights", memory.weights},         {"gradients", memory.gradients}, {"optimizer", memory.optimizer},
            {"activations", memory.activations}, {"logits", memory.logits},       {"temporaries", memory.temporaries},
            {"buffers", memory.buffers}};
}

} // namespace headroom::cli
