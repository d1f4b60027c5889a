#include "tables/cell_text.hpp"
#include "training_logs/training_log_formats.hpp"

namespace headroom::io {
namespace {

/// Batch and sequence length from what was trained up to here: "Train time/batch: 3", "time/sample: 192", "time/token: 393216".
void take_counts(std::string_view text, TrainingLogBuilder& log) {
    if (!text.starts_with("Train time/")) { return; }
    auto& trained = log.trained;
    auto const of_all = [](std::int64_t all, std::int64_t each) {
        return each > 0 && all % each == 0 ? all / each : 0;
    };
    if (auto const batches = whole_after(text, "time/batch:")) { trained = {.batches = *batches}; }
    if (auto const samples = whole_after(text, "time/sample:")) {
        trained.samples = *samples;
        auto const batch = of_all(*samples, trained.batches);
        if (batch > 0 && log.fact("--global-batch").empty()) {
            log.count_fact("--global-batch", std::to_string(batch));
        }
    }
    if (auto const tokens = whole_after(text, "time/token:")) {
        auto const length = of_all(*tokens, trained.samples);
        if (length > 0 && log.fact("--sequence-length").empty()) {
            log.count_fact("--sequence-length", std::to_string(length));
        }
    }
}

} // namespace

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
    take_counts(text, log);
    if (auto const most = number_after(text, "memory/peak_reserved_mem:")) { log.memory(most->value * 1e9); }
    if (text.starts_with("Train throughput/batches_per_sec:")) {
        if (auto const rate = number_after(text, "throughput/batches_per_sec:")) {
            log.step({.number = *log.block, .figure = StepFigure::steps_per_second, .value = *rate});
        }
    }
}

} // namespace headroom::io
