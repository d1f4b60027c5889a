#include "training_logs/training_log_formats.hpp"

namespace headroom::io {

void take_modded_nanogpt_line(std::string_view line, TrainingLogBuilder& log) {
    auto const at = line.find("train_time:");
    if (at == std::string_view::npos) { return; }
    auto const number = whole_after(line, "step:");
    auto const milliseconds = number_after(line, "train_time:"); // since the begin, without validation
    bool const unit = line.find("ms", at) != std::string_view::npos;
    if (!number || !milliseconds || !unit) { return; }
    log.clock(0, *number, milliseconds->value * 1e-3, milliseconds->half_unit * 1e-3);
}

} // namespace headroom::io
