#include "training_logs/training_log_formats.hpp"

namespace headroom::io {

void take_nanotron_line(std::string_view line, TrainingLogBuilder& log) {
    if (line.find("Saving checkpoint at") != std::string_view::npos) { return log.checkpoint(); }
    if (line.find("elapsed_time_per_iteration_ms:") == std::string_view::npos) { return; }
    auto const number = whole_after(line, "iteration:");
    auto const milliseconds = scaled_number_after(line, "elapsed_time_per_iteration_ms:");
    if (!number || !milliseconds) { return log.issue("step without a number or a time", line); }
    auto const rate = scaled_number_after(line, "tokens_per_sec:");
    auto const one = scaled_number_after(line, "tokens_per_sec_per_gpu:");
    if (rate && one && one->value > 0.0) { // both with three digits
        double const workers = rate->value / one->value;
        if (workers < 100.0) { log.count_fact("--workers", std::to_string(static_cast<int>(workers + 0.5))); }
    }
    if (auto const most = scaled_number_after(line, "cuda_max_memory_reserved:")) { log.memory(most->value); }
    auto const batch = scaled_number_after(line, "global_batch_size:");
    bool const exact = batch && batch->value < 1000.0; // "1.02K" may be any of ten
    log.step({.number = *number,
              .value = {milliseconds->value * 1e-3, milliseconds->half_unit * 1e-3},
              .batch = exact ? static_cast<int>(batch->value) : 0,
              .rates = rates_after(line, {{training::LogRateKind::tokens, "tokens_per_sec:"},
                                          {training::LogRateKind::accelerator_tokens, "tokens_per_sec_per_gpu:"},
                                          {training::LogRateKind::accelerator_teraflops, "model_tflops_per_gpu:"}})});
}

} // namespace headroom::io
