#include "latencies/percentile_table.hpp"

#include "latencies/latency_formats.hpp"
#include "latencies/report_rows.hpp"
#include "records/record.hpp"
#include "tables/cell_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace headroom::io {

using namespace headroom::serving;

namespace {

constexpr std::string_view between = " \t,;\"\r";

/// Words of a line, whether blanks or commas part them, and without quotes.
std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    std::size_t at = line.find_first_not_of(between);
    while (at != std::string_view::npos) {
        std::size_t const end = std::min(line.find_first_of(between, at), line.size());
        words.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(between, end);
    }
    return words;
}

struct TableRow {
    double value = 0.0, percentile = 0.0;
    std::uint64_t total = 0;
};

std::optional<TableRow> table_row(std::string_view line) {
    auto const words = words_of(line);
    if (words.size() < 3 || words.size() > 4) { return std::nullopt; }
    auto const value = decimal_number(words[0]), percentile = decimal_number(words[1]),
               total = decimal_number(words[2]);
    constexpr double most = 1e18;
    if (!value || !percentile || !total || *total < 0.0 || *total > most || *total != std::floor(*total)) {
        return std::nullopt;
    }
    bool const odds = words.size() == 3 || decimal_number(words[3]) || find_caseless(words[3], "inf") <= 1;
    if (!odds || *percentile < 0.0 || *percentile > 1.0) { return std::nullopt; }
    return TableRow{*value, *percentile, static_cast<std::uint64_t>(*total)};
}

/// Whether a line was a row of the table before something happened to it.
bool is_broken_row(std::string_view line) {
    auto const words = words_of(line);
    if (words.size() < 2) { return false; }
    std::size_t numbers = 0;
    for (std::size_t i = 0; i < words.size() && i < 4; ++i) { numbers += decimal_number(words[i]) ? 1 : 0; }
    return numbers >= 2;
}

} // namespace

bool is_percentile_header(std::string_view line) {
    auto const words = words_of(line);
    return words.size() >= 3 && words[0].starts_with("Value") && words[1] == "Percentile" && words[2] == "TotalCount";
}

std::string_view unit_of_percentile_header(std::string_view line) {
    std::size_t const open = line.find("Value("), close = line.find(')');
    bool const there = open != std::string_view::npos && close != std::string_view::npos && close > open;
    return there ? line.substr(open + 6, close - open - 6) : std::string_view{};
}

namespace {

/// A row with its value in seconds.
struct Reached {
    double seconds = 0.0, share = 0.0;
    std::uint64_t total = 0;
};

/// Rows of a table, and the figures that its writer states below them.
class PercentileRows {
public:
    PercentileRows(TextLines& lines, SampleBuilder& samples) : lines_{lines}, samples_{samples} {}

    void read(std::string_view& rest);

private:
    void read_stated(std::string_view line);
    bool add(TableRow const& row);
    void add_stated();
    void record();

    TextLines& lines_;
    SampleBuilder& samples_;
    std::vector<Reached> rows_;
    TableRow before_;
    std::optional<double> mean_, count_, buckets_;
};

void PercentileRows::read_stated(std::string_view line) {
    auto const take = [&](double found, std::optional<double>& figure) {
        if (figure && *figure != found) {
            unreadable_error(fmt::format("{}:{}", samples_.where(), lines_.number()), "a second table in this file",
                             fmt::format("it says {} and {}", *figure, found), "give each table in a file of its own");
        }
        if (figure) { samples_.leave_out(SampleIssue::repeated_line, lines_.number(), 1, line); }
        figure = found;
    };
    if (auto const mean = fits_shape(line, "#[Mean = %n, StdDeviation = %n]")) {
        take(mean->number[0], mean_);
    } else if (auto const most = fits_shape(line, "#[Max = %n, Total count = %c]")) {
        take(most->number[1], count_);
    } else if (auto const buckets = fits_shape(line, "#[Buckets = %c, SubBuckets = %c]")) {
        take(buckets->number[1], buckets_);
    } else {
        samples_.leave_out(SampleIssue::unused_line, lines_.number(), 1, line);
    }
}

/// False for a row that is no continuation of those before.
bool PercentileRows::add(TableRow const& row) {
    double const seconds = samples_.unit().base(row.value);
    constexpr double most = 1e38;
    if (!(seconds >= 0.0 && seconds <= most) || row.total < before_.total || row.value < before_.value ||
        row.percentile < before_.percentile) {
        return false;
    }
    bool const again = !rows_.empty() && row.total == before_.total && row.value == before_.value &&
                       row.percentile == before_.percentile;
    if (again) { samples_.leave_out(SampleIssue::repeated_line, lines_.number()); }
    rows_.push_back({seconds, row.percentile, row.total});
    before_ = row;
    return true;
}

/// Quantiles that the report states apart are rows, too, where the table has none of them.
void PercentileRows::add_stated() {
    if (rows_.empty()) { return; }
    for (StatedQuantile const& one : samples_.found().stated) {
        auto const total = static_cast<std::uint64_t>(std::llround(one.q * static_cast<double>(before_.total)));
        auto const at = std::ranges::lower_bound(rows_, total, {}, &Reached::total);
        bool const outside = total == 0 || at == rows_.end() || at == rows_.begin() || at->total == total;
        if (outside) { continue; }
        if (one.value >= (at - 1)->seconds && one.value <= at->seconds) { rows_.insert(at, {one.value, one.q, total}); }
    }
}

void PercentileRows::record() {
    LatencyHistogram values;
    double coarsest = 0.0;
    Reached before;
    for (Reached const& row : rows_) {
        values.record(row.seconds, row.total - before.total);
        bool const wide = before.total > 0 && row.total > before.total && row.seconds > 0.0;
        if (wide) { coarsest = std::max(coarsest, (row.seconds - before.seconds) / row.seconds); }
        before = row;
    }
    LatencySamples& found = samples_.found();
    for (Reached const& row : rows_) { found.known.push_back({row.share, row.seconds}); }
    found.stated_count = before.total;
    found.histogram_error = coarsest;
    if (mean_) { found.stated_mean = samples_.unit().base(*mean_); }
    samples_.take(values);
}

void PercentileRows::read(std::string_view& rest) {
    std::string_view line;
    while (lines_.next(line)) {
        if (line.empty()) { continue; }
        if (line.starts_with("#[")) {
            read_stated(line);
            continue;
        }
        auto const row = table_row(line);
        if (!row && !is_broken_row(line)) {
            rest = line;
            break;
        }
        if (!row || !add(*row)) { samples_.leave_out(SampleIssue::unused_line, lines_.number(), 1, line); }
    }
    add_stated();
    record();
    samples_.note("a table of percentiles: samples between two rows are taken to be at the upper one");
    if (count_ && *count_ != static_cast<double>(before_.total)) {
        double const all = static_cast<double>(before_.total);
        count_issue(samples_.found().issues, Issue{.kind = "sample by which the table differs from its stated count",
                                                   .count = static_cast<std::uint64_t>(std::abs(all - *count_)),
                                                   .text = fmt::format("{:.0f} and {:.0f}", all, *count_),
                                                   .kept = true});
    }
}

} // namespace

void read_percentile_rows(TextLines& lines, SampleBuilder& samples, std::string_view& rest) {
    PercentileRows{lines, samples}.read(rest);
}

bool looks_like_percentiles(std::string_view head) {
    TextLines lines{whole_lines(head)};
    std::string_view line;
    constexpr int looked_at = 40;
    for (int i = 0; i < looked_at && lines.next(line); ++i) {
        if (is_percentile_header(line)) { return true; }
    }
    return false;
}

void read_percentiles(HeadSource& source, SampleBuilder& samples) {
    std::string const text = whole_report(source, samples);
    TextLines lines{text};
    std::string_view line;
    while (lines.next(line) && !is_percentile_header(line)) {
        if (!line.empty()) { samples.leave_out(SampleIssue::unused_line, lines.number(), 1, line); }
    }
    if (auto const unit = time_unit(unit_of_percentile_header(line))) {
        samples.set_unit(*unit, "header");
    } else {
        samples.set_unit(*time_unit("ms"), "assumed");
        if (samples.found().unit_from == "assumed") {
            samples.note("values are taken for milliseconds, as tables of percentiles have them by custom (--unit us)");
        }
    }
    samples.found().column = "Value";
    line = {};
    read_percentile_rows(lines, samples, line);
    for (; !line.empty() || lines.next(line); line = {}) {
        if (is_percentile_header(line)) {
            unreadable_error(fmt::format("{}:{}", samples.where(), lines.number()), "a second table in this file", {},
                             "give each table in a file of its own");
        }
        if (!line.empty()) { samples.leave_out(SampleIssue::unused_line, lines.number(), 1, line); }
    }
}

} // namespace headroom::io
