#include "training_logs/training_log_formats.hpp"

namespace headroom::io {
namespace {

/// The number before a unit: "512.30" of "| 512.30 ms |" and of "(512.30 ms,".
std::optional<PrintedNumber> number_before(std::string_view line, std::string_view unit) {
    for (std::size_t at = line.find(unit); at != std::string_view::npos; at = line.find(unit, at + 1)) {
        std::string_view const before = line.substr(0, at);
        auto const begin = before.find_last_not_of("0123456789.") + 1;
        if (auto const number = printed_number(before.substr(begin))) { return number; }
    }
    return std::nullopt;
}

/// "batch_size B=16 * seq_len T=1024 * num_processes=8 and total_batch_size=524288"
void take_sizes(std::string_view line, TrainingLogBuilder& log) {
    int const length = count_after(line, "seq_len T="), tokens = count_after(line, "total_batch_size=");
    if (length == 0 || tokens == 0) { return; }
    log.count_fact("--sequence-length", std::to_string(length));
    log.count_fact("--micro-batch", word_after(line, "batch_size B="));
    log.count_fact("--workers", word_after(line, "num_processes="));
    if (tokens % length == 0) { log.count_fact("--global-batch", std::to_string(tokens / length)); }
}

} // namespace

void take_llm_c_line(std::string_view line, TrainingLogBuilder& log) {
    if (line.find("total_batch_size=") != std::string_view::npos) { return take_sizes(line, log); }
    if (line.starts_with("val loss ")) { return log.evaluation(); }
    if (line.starts_with("Writing model to")) { return log.checkpoint(); }
    bool const ours = line.find("tok/s") != std::string_view::npos && line.find("loss ") != std::string_view::npos;
    if (!ours) { return; }
    auto const number = whole_after(line, "step ");
    auto const milliseconds = number_before(line, " ms");
    if (!number || !milliseconds) { return; }
    auto const rate = number_before(line, " tok/s"); // smoothed
    LineRates rates = {};
    if (rate) { rates[static_cast<std::size_t>(training::LogRateKind::tokens)] = rate->value; }
    log.step(
        {.number = *number, .value = {milliseconds->value * 1e-3, milliseconds->half_unit * 1e-3}, .rates = rates});
}

} // namespace headroom::io
