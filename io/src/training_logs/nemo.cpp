#include "training_logs/progress_bar.hpp"
#include "training_logs/training_log_formats.hpp"

#include <utility>

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
    int batch = count_after(line, "global_batch_size:");
    if (auto const samples = whole_after(line, "consumed_samples"); samples && batch == 0) {
        auto const before = std::exchange(log.trained, {.batches = *number, .samples = *samples});
        std::int64_t const steps = *number - before.batches, added = *samples - before.samples;
        bool const whole =
            before.samples > 0 && steps > 0 && added > 0 && added % steps == 0 && added / steps < 1'000'000'000;
        if (whole) { batch = static_cast<int>(added / steps); }
    }
    auto const bar = progress_bar(line);
    std::int64_t const counted = bar ? bar->done : whole_after(line, "iteration ").value_or(0);
    bool const batches = counted >= 2 + *number + *number / 2; // as accumulate_grad_batches makes of a step
    log.step({.number = *number,
              .value = *seconds,
              .batch = batch,
              .micro = batches ? counted : -1,
              .rates = rates_after(line, {{training::LogRateKind::accelerator_teraflops, "TFLOPS_per_GPU:"},
                                          {training::LogRateKind::accelerator_teraflops, "tflops_per_sec_per_gpu:"}})});
}

} // namespace headroom::io
