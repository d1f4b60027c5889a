#include "training_logs/training_log_formats.hpp"

namespace headroom::io {

void take_litgpt_line(std::string_view line, TrainingLogBuilder& log) {
    if (line.find("TrainArgs(") != std::string_view::npos) {
        log.count_fact("--global-batch", word_after(line, "global_batch_size="));
        log.count_fact("--micro-batch", word_after(line, "micro_batch_size="));
        return log.count_fact("--sequence-length", word_after(line, "max_seq_length="));
    }
    if (line.starts_with("Validating")) { return log.evaluation(); }
    if (line.starts_with("iter ") && line.find(": val loss ") != std::string_view::npos) { return log.evaluation(); }
    auto const time = line.find("iter time:");
    if (time == std::string_view::npos) { return; }
    auto const micro = whole_after(line, "iter "), number = whole_after(line, "step ");
    auto const milliseconds = number_after(line, "iter time:");
    bool const unit = line.find("ms", time) != std::string_view::npos;
    if (!micro || !number || !milliseconds || !unit) { return; }
    log.step(
        {.number = *number, .value = {milliseconds->value * 1e-3, milliseconds->half_unit * 1e-3}, .micro = *micro});
}

} // namespace headroom::io
