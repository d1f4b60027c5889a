#include "training_logs/progress_bar.hpp"

#include "tables/cell_text.hpp"
#include "tables/numbers.hpp"
#include "tables/step_rate.hpp"
#include "training_logs/log_text.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace headroom::io {

namespace {

/// Whether loggers put a word in front of a title: a level, a date, a time.
bool is_of_logger(std::string_view word) {
    constexpr std::array<std::string_view, 5> levels{"INFO", "INFO:", "DEBUG", "WARNING", "-"};
    return is_decimal_digit(word.front()) || std::ranges::find(levels, word) != levels.end();
}

/// The title of "title:" behind what loggers put in front ("2025-03-04 10:00:00 | INFO |", "[INFO]"); empty behind that alone.
std::string_view title_of(std::string_view front) {
    if (front.ends_with('|') || front.ends_with(']') || front.ends_with(" -")) { return {}; }
    for (std::string_view const mark : {"| ", "] ", " - "}) {
        if (auto const at = front.rfind(mark); at != front.npos) {
            front = trimmed_line(front.substr(at + mark.size()));
        }
    }
    for (auto blank = front.find(' '); blank != front.npos && is_of_logger(front.substr(0, blank));
         blank = front.find(' ')) {
        front = trimmed_line(front.substr(blank));
    }
    while (front.ends_with(':') || front.ends_with(' ')) { front.remove_suffix(1); }
    return front;
}

} // namespace

namespace {

/// Whether a bar counts sequences or tokens, by the unit of its rate: "59:00, 17.78samples/s, loss=2.1]".
bool counts_data(std::string_view behind) {
    auto const comma = std::min(behind.find(','), behind.size());
    std::string_view rate = trimmed_line(behind.substr(std::min(comma + 1, behind.size())));
    rate = trimmed_line(rate.substr(number_length(rate)));
    rate = rate.substr(0, rate.find_first_of(",]"));
    std::string const unit = rate.starts_with("s/") ? std::string{rate.substr(2)} + "/s" : std::string{rate};
    auto const found = step_rate(unit);
    return found && found->figure != StepFigure::seconds && found->figure != StepFigure::steps_per_second;
}

} // namespace

BarTitle meaning_of(std::string_view title) {
    constexpr std::array<std::string_view, 4> of_steps{"steps", "step", "training steps", "train steps"};
    constexpr std::array<std::string_view, 2> of_training{"training", "train"};
    auto const is = [&](std::string_view one) { return same_caseless(title, one); };
    if (title.empty()) { return BarTitle::none; }
    if (std::ranges::any_of(of_steps, is)) { return BarTitle::steps; }
    bool const epoch = title.starts_with("Training Epoch: "); // llama-recipes: steps of an epoch
    return epoch || std::ranges::any_of(of_training, is) ? BarTitle::training : BarTitle::other;
}

std::optional<ProgressBar> progress_bar(std::string_view line) {
    auto const percent = line.find("%|");
    if (percent == std::string_view::npos) { return std::nullopt; }
    std::string_view title = trimmed_line(line.substr(0, percent));
    auto const digits = title.find_last_not_of("0123456789");
    if (digits + 1 == title.size()) { return std::nullopt; } // no percentage
    title = title_of(trimmed_line(title.substr(0, digits + 1)));
    auto const bar = line.find('|', percent + 2);
    auto const clock = bar == std::string_view::npos ? bar : line.find('[', bar);
    auto const until = clock == std::string_view::npos ? clock : line.find('<', clock);
    if (until == std::string_view::npos) { return std::nullopt; }
    std::string_view const counts = trimmed_line(line.substr(bar + 1, clock - bar - 1));
    auto const slash = counts.find('/');
    if (slash == std::string_view::npos) { return std::nullopt; }
    auto const done = printed_count(counts.substr(0, slash)), all = printed_count(counts.substr(slash + 1));
    auto const seconds = clock_duration(line.substr(clock + 1, until - clock - 1));
    bool const data = counts_data(line.substr(until + 1));
    if (!done || !all || !seconds || *done > *all || data) { return std::nullopt; }
    return ProgressBar{title, *done, *all, *seconds, line.substr(until + 1)};
}

} // namespace headroom::io
