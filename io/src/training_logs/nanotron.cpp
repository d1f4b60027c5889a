#include "training_logs/training_log_formats.hpp"

#include <cmath>

namespace headroom::io {
namespace {

/// The length of sequences by the tokens of a step, where its digits leave one: a power of two, or the only multiple of 256.
void take_length(PrintedNumber rate, PrintedNumber milliseconds, int sequences, TrainingLogBuilder& log) {
    if (sequences < 1) { return; }
    double const thousand = 1000.0 * sequences;
    double const least = (rate.value - rate.half_unit) * (milliseconds.value - milliseconds.half_unit) / thousand;
    double const most = (rate.value + rate.half_unit) * (milliseconds.value + milliseconds.half_unit) / thousand;
    constexpr double longest = 1e8, unit = 256.0;
    if (!(least >= 1.0) || !(most < longest)) { return; }
    double const power = std::exp2(std::floor(std::log2(most))), multiple = unit * std::floor(most / unit);
    double const length = power >= least ? power : multiple >= least && multiple - unit < least ? multiple : 0.0;
    if (length > 0.0) { log.count_fact("--sequence-length", std::to_string(static_cast<int>(length))); }
}

/// The accelerators by the tokens of all and of one, where their three digits leave one count, or one multiple of 8.
void take_workers(PrintedNumber rate, PrintedNumber one, TrainingLogBuilder& log) {
    constexpr double most = 1000.0, node = 8.0;
    if (!(one.value > one.half_unit) || !(rate.value < most * one.value)) { return; }
    double const low = (rate.value - rate.half_unit) / (one.value + one.half_unit);
    double const high = (rate.value + rate.half_unit) / (one.value - one.half_unit);
    double const whole = std::floor(high), nodes = node * std::floor(high / node);
    bool const only = whole >= low && whole - 1.0 < low, only_nodes = nodes >= low && nodes - node < low;
    double const workers = only ? whole : only_nodes ? nodes : 0.0;
    if (workers >= 1.0) { log.count_fact("--workers", std::to_string(static_cast<int>(workers))); }
}

} // namespace

void take_nanotron_line(std::string_view line, TrainingLogBuilder& log) {
    if (line.find("elapsed_time_per_iteration_ms:") == std::string_view::npos) { return; }
    auto const number = whole_after(line, "iteration:");
    auto const milliseconds = scaled_number_after(line, "elapsed_time_per_iteration_ms:");
    if (!number || !milliseconds) { return log.issue("step without a number or a time", line); }
    auto const rate = scaled_number_after(line, "tokens_per_sec:");
    auto const one = scaled_number_after(line, "tokens_per_sec_per_gpu:");
    if (rate && one && log.fact("--workers").empty()) { take_workers(*rate, *one, log); }
    if (auto const most = scaled_number_after(line, "cuda_max_memory_reserved:")) { log.memory(most->value); }
    auto const batch = scaled_number_after(line, "global_batch_size:");
    bool const exact = batch && batch->value < 1000.0; // "1.02K" may be any of ten
    if (rate && log.fact("--sequence-length").empty()) {
        int const sequences = exact ? static_cast<int>(batch->value) : log.question().global_batch;
        take_length(*rate, *milliseconds, sequences, log);
    }
    log.step({.number = *number,
              .value = {milliseconds->value * 1e-3, milliseconds->half_unit * 1e-3},
              .batch = exact ? static_cast<int>(batch->value) : 0,
              .rates = rates_after(line, {{training::LogRateKind::tokens, "tokens_per_sec:"},
                                          {training::LogRateKind::accelerator_tokens, "tokens_per_sec_per_gpu:"},
                                          {training::LogRateKind::accelerator_teraflops, "model_tflops_per_gpu:"}})});
}

} // namespace headroom::io
