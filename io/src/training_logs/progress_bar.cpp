#include "training_logs/progress_bar.hpp"

#include "tables/cell_text.hpp"
#include "tables/numbers.hpp"
#include "training_logs/log_text.hpp"

#include <algorithm>

namespace headroom::io {

std::optional<ProgressBar> progress_bar(std::string_view line) {
    auto const percent = line.find("%|");
    if (percent == std::string_view::npos) { return std::nullopt; }
    std::string_view title = trimmed_line(line.substr(0, percent));
    auto const digits = title.find_last_not_of("0123456789");
    if (digits + 1 == title.size()) { return std::nullopt; } // no percentage
    title = trimmed_line(title.substr(0, digits + 1));
    if (auto const mark = title.find(']'); title.starts_with('[') && mark != title.npos && rank_of(line) >= 0) {
        title = trimmed_line(title.substr(std::min(title.find_first_not_of("]: ", mark), title.size())));
    }
    while (title.ends_with(':') || title.ends_with(' ')) { title.remove_suffix(1); }
    auto const bar = line.find('|', percent + 2);
    auto const clock = bar == std::string_view::npos ? bar : line.find('[', bar);
    auto const until = clock == std::string_view::npos ? clock : line.find('<', clock);
    if (until == std::string_view::npos) { return std::nullopt; }
    std::string_view const counts = trimmed_line(line.substr(bar + 1, clock - bar - 1));
    auto const slash = counts.find('/');
    if (slash == std::string_view::npos) { return std::nullopt; }
    auto const done = printed_count(counts.substr(0, slash)), all = printed_count(counts.substr(slash + 1));
    auto const seconds = clock_duration(line.substr(clock + 1, until - clock - 1));
    if (!done || !all || !seconds || *done > *all) { return std::nullopt; }
    return ProgressBar{title, *done, *all, *seconds, line.substr(until + 1)};
}

} // namespace headroom::io
