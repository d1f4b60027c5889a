#include "training_logs/training_log_formats.hpp"

#include <charconv>
#include <cmath>

namespace headroom::io {

namespace {

int workers_of(TrainingLogBuilder const& log) { return printed_count(log.fact("--workers")).value_or(0); }

} // namespace

void take_maxtext_line(std::string_view line, TrainingLogBuilder& log) {
    if (line.find("ompleted eval") != std::string_view::npos || line.find("eval metrics after step") != line.npos) {
        return log.evaluation();
    }
    if (line.starts_with("Num_devices:")) { return log.count_fact("--workers", word_after(line, "Num_devices:")); }
    if (int const each = count_after(line, "Config param per_device_batch_size:"), all = workers_of(log);
        each > 0 && all > 0 && each < 1'000'000'000 / all) {
        log.fact("--global-batch", std::to_string(each * all)); // of the loader; micro-batches are cut from it
    }
    auto const number = whole_after(line, "completed step:");
    if (!number) { return; }
    auto const seconds = number_after(line, "seconds:");
    if (!seconds) { return log.issue("step without a number or a time", line); }
    auto const rate = number_after(line, "Tokens/s/device:");
    auto const tokens = whole_after(line, "total_weights:"); // of a step, all devices; fewer where sequences are padded
    if (rate && tokens && rate->value > 0.0 && seconds->value > 0.0 && log.fact("--workers").empty()) {
        double const workers = static_cast<double>(*tokens) / (rate->value * seconds->value);
        bool const whole = workers < 1e6 && std::abs(workers / std::round(workers) - 1.0) < 0.002 && workers > 0.9;
        if (whole) { log.fact("--workers", std::to_string(static_cast<int>(std::round(workers)))); }
    }
    int batch = 0, length = 0;
    std::string_view const stated = log.fact("--sequence-length");
    std::from_chars(stated.data(), stated.data() + stated.size(), length);
    if (length == 0) { length = log.question().sequence_length; }
    if (tokens && length > 0 && *tokens % length == 0) {
        batch = static_cast<int>(std::min<std::int64_t>(*tokens / length, 1'000'000'000));
    }
    log.step({.number = *number,
              .value = *seconds,
              .batch = batch,
              .rates = rates_after(line, {{training::LogRateKind::accelerator_teraflops, "TFLOP/s/device:"},
                                          {training::LogRateKind::accelerator_tokens, "Tokens/s/device:"}})});
}

} // namespace headroom::io
