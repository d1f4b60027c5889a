#include "training_logs/training_log_formats.hpp"

namespace headroom::io {

void take_nanogpt_line(std::string_view line, TrainingLogBuilder& log) {
    if (auto const tokens = whole_after(line, "tokens per iteration will be:")) { return log.tokens_of_step(*tokens); }
    if (int const length = count_after(line, "block_size ="); length > 0) {
        return log.count_fact("--sequence-length", std::to_string(length));
    }
    if (line.starts_with("step ") && line.find(": train loss ") != std::string_view::npos &&
        line.find("val loss") != std::string_view::npos) {
        return log.evaluation();
    }
    auto const time = line.find(", time ");
    if (time == std::string_view::npos || line.find(": loss ") == std::string_view::npos) { return; }
    auto const number = whole_after(line, "iter ");
    auto const milliseconds = number_after(line.substr(time), "time ");
    bool const unit = line.find("ms", time) != std::string_view::npos;
    if (!number || !milliseconds || !unit) { return; }
    log.step({.number = *number, .value = {milliseconds->value * 1e-3, milliseconds->half_unit * 1e-3}});
}

} // namespace headroom::io
