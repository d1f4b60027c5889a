#include "training_logs/training_log_formats.hpp"

namespace headroom::io {

using training::LogRateKind;

namespace {

/// "[Rank 0] (after 10 iterations) memory (MB) | allocated: 1.0 | max allocated: 2.0 | reserved: ... | max reserved: 3.0"
void take_memory(std::string_view line, TrainingLogBuilder& log) {
    if (line.find("memory (MB) |") == std::string_view::npos) { return; }
    constexpr double mebibyte = 1048576.0;
    if (auto const most = number_after(line, "max allocated:")) { log.memory(most->value * mebibyte); }
}

/// "using world size: 64, data-parallel size: 4, context-parallel size: 1, tensor-model-parallel size: 8, pipeline-..."
void take_sizes(std::string_view line, TrainingLogBuilder& log) {
    if (line.find("using world size:") == std::string_view::npos) { return; }
    log.begin_run();
    log.count_fact("--workers", word_after(line, "world size:"));
    log.count_fact("--tp", word_after(line, "tensor-model-parallel size:"));
    log.count_fact("--cp", word_after(line, "context-parallel size:"));
    log.count_fact("--pp", word_after(line, "pipeline-model-parallel size:"));
}

/// Rates of Megatron-LM, Megatron-DeepSpeed and their descendants.
LineRates rates_of(std::string_view line) {
    return rates_after(line, {{LogRateKind::accelerator_teraflops, "throughput per GPU (TFLOP/s/GPU):"},
                              {LogRateKind::accelerator_teraflops, "TFLOPs:"},
                              {LogRateKind::accelerator_tokens, "tokens per gpu per second (tgs):"},
                              {LogRateKind::accelerator_tokens, "tokens/s/GPU:"},
                              {LogRateKind::accelerator_tokens, "tokens/sec/GPU:"},
                              {LogRateKind::tokens, "tokens per second:"},
                              {LogRateKind::tokens, "tokens/s:"},
                              {LogRateKind::tokens, "tokens/sec:"},
                              {LogRateKind::samples, "samples per second:"}});
}

} // namespace

void take_megatron_line(std::string_view line, TrainingLogBuilder& log) {
    if (line.find("iteration") == std::string_view::npos && line.find("size:") == std::string_view::npos) { return; }
    take_memory(line, log);
    take_sizes(line, log);
    if (line.find("validation loss at") != std::string_view::npos) { log.evaluation(); }
    auto const number = whole_after(line, "iteration ");
    auto milliseconds = number_after(line, "elapsed time per iteration (ms):");
    if (auto const seconds = number_after(line, "elapsed time per iteration (s):"); seconds && !milliseconds) {
        milliseconds = PrintedNumber{seconds->value * 1e3, seconds->half_unit * 1e3};
    }
    if (!number || !milliseconds) { return; }
    if (auto const skipped = whole_after(line, "number of skipped iterations:"); skipped && *skipped > 0) {
        log.issue("step with iterations that were skipped", line);
        return;
    }
    log.step({.number = *number,
              .value = {milliseconds->value * 1e-3, milliseconds->half_unit * 1e-3},
              .batch = count_after(line, "global batch size:"),
              .rates = rates_of(line)});
}

} // namespace headroom::io
