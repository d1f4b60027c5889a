#include "tables/cell_text.hpp"
#include "training_logs/training_log_formats.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::io {
namespace {

/// "100it", "1.25kit": a count with how far rounding may have moved it.
std::optional<PrintedNumber> count_of_bar(std::string_view word) {
    auto const end = word.find_first_not_of("0123456789.");
    if (end == std::string_view::npos) { return std::nullopt; }
    auto const number = printed_number(word.substr(0, end));
    std::string_view const unit = word.substr(end);
    double const scale = unit == "it" ? 1.0 : unit == "kit" ? 1e3 : unit == "Mit" ? 1e6 : 0.0;
    if (!number || scale == 0.0) { return std::nullopt; }
    return PrintedNumber{number->value * scale, scale == 1.0 ? 0.0 : number->half_unit * scale};
}

} // namespace

void take_levanter_line(std::string_view line, TrainingLogBuilder& log) {
    constexpr std::string_view mark = "Progress on:";
    auto const at = line.find(mark);
    if (at == std::string_view::npos) { return; }
    std::string_view const text = line.substr(at + mark.size());
    if (text.starts_with("eval")) { return log.evaluation(); }
    if (!text.starts_with("train ")) { return; }
    std::string_view const counts = trimmed_line(text.substr(6));
    auto const done = count_of_bar(counts.substr(0, counts.find('/')));
    auto const elapsed = clock_duration(word_after(text, "elapsed:"));
    constexpr double most = 1e15;
    if (!done || !elapsed || !(done->value >= 1.0) || done->value > most) { return; }
    double const rounding = *elapsed * done->half_unit / done->value; // of the count, as a time
    log.clock(0, static_cast<std::int64_t>(std::llround(done->value)), *elapsed, std::max(0.5, rounding));
}

} // namespace headroom::io
