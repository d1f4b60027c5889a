#include "tables/cell_text.hpp"
#include "training_logs/training_log_formats.hpp"

namespace headroom::io {

void take_composer_line(std::string_view line, TrainingLogBuilder& log) {
    std::string_view const text = trimmed_line(line);
    auto const head = text.find("[batch=");
    if (head != std::string_view::npos && text.ends_with("]:")) {
        log.block = whole_after(text.substr(head), "[batch=");
        return;
    }
    if (text.starts_with("[Eval batch=") || text.starts_with("Eval metrics/") || text.starts_with("Eval eval")) {
        return log.evaluation();
    }
    if (!log.block || !text.starts_with("Train ")) { return; }
    if (auto const most = number_after(text, "memory/peak_reserved_mem:")) { log.memory(most->value * 1e9); }
    if (text.starts_with("Train throughput/batches_per_sec:")) {
        if (auto const rate = number_after(text, "throughput/batches_per_sec:")) {
            log.step({.number = *log.block, .figure = StepFigure::steps_per_second, .value = *rate});
        }
    }
}

} // namespace headroom::io
