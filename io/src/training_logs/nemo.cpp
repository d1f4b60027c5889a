#include "training_logs/training_log_formats.hpp"

namespace headroom::io {

void take_nemo_line(std::string_view line, TrainingLogBuilder& log) {
    bool const validates = line.find("Validation: iteration") != std::string_view::npos ||
                           line.find("Validation DataLoader") != std::string_view::npos;
    if (validates) { return log.evaluation(); }
    if (line.find("train_step_timing in s") == std::string_view::npos) { return; }
    auto number = whole_after(line, "global_step");
    if (!number) { number = whole_after(line, "iteration "); }
    auto const seconds = number_after(line, "train_step_timing in s");
    for (char const* const label : {"max_memory_allocated:", "peak_memory_usage:"}) {
        if (auto const most = number_after(line, label)) { log.memory(most->value); }
    }
    if (!number || !seconds) { return log.issue("step without a number or a time", line); }
    log.step({.number = *number, .value = *seconds, .batch = count_after(line, "global_batch_size:")});
}

} // namespace headroom::io
