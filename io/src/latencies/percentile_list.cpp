#include "latencies/csv_layout.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/report_lines.hpp"
#include "records/record.hpp"
#include "tables/columns.hpp"

#include "headroom/error.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace headroom::io {
namespace {

/// "p50: 20.1ms", "| 99% | 64.9 ms |", "P95 latency (ms) = 45.3"
struct ListLine {
    std::string_view label;
    CellUnit unit; ///< in brackets behind the label
    bool has_unit = false;
    std::string_view value;
};

constexpr std::string_view between = " \t:=,;|";

std::optional<ListLine> list_line(std::string_view line) {
    auto const begin = line.find_first_not_of(between), last = line.find_last_not_of(between);
    if (begin == std::string_view::npos) { return std::nullopt; }
    line = line.substr(begin, last - begin + 1);
    ListLine found{.label = line.substr(0, line.find_first_of(between)), .unit = {}, .value = {}};
    line.remove_prefix(found.label.size());
    std::size_t at = 0; // words behind the label
    while (at < line.size() && !is_decimal_digit(line[at]) && line[at] != '-' && line[at] != '.') { ++at; }
    bool const word = at > 0 && between.find(line[at - 1]) == std::string_view::npos;
    if (at == line.size() || word) { return std::nullopt; }
    std::string_view const words = line.substr(0, at);
    if (auto const open = words.find('('), close = words.find(')'); open < close && close < words.size()) {
        auto const unit = time_unit(trimmed_line(words.substr(open + 1, close - open - 1)));
        found.has_unit = unit.has_value();
        found.unit = unit.value_or(CellUnit{});
    }
    found.value = line.substr(at);
    return found;
}

/// A label that can only be a percentile: "p50", "99.9%", "95th".
bool is_marked(std::string_view label) {
    bool const p = label.size() > 1 && lowered(label[0]) == 'p' && (is_decimal_digit(label[1]) || label[1] == '(');
    return (p || label.ends_with('%') || label.ends_with("th")) && share_of(label).has_value();
}

bool is_figure(ListLine const& line) {
    return share_of(line.label).has_value() || is_word_of("mean avg average count samples requests", line.label);
}

/// The unit that a head ends in: "percentile, latency (ms)".
std::optional<CellUnit> unit_of_head(std::string_view line) {
    line = trimmed_line(line.substr(0, line.find_last_not_of(between) + 1));
    std::string_view const cell = line.substr(line.find_last_of("\t,;|") + 1);
    return match_head(cell, {.names = "", .measure = CellMeasure::time}).unit;
}

/// The unit in the last line of a series that pandas describes: "Name: latency_ms, dtype: float64".
std::optional<CellUnit> unit_of_series(std::string_view line) {
    auto const name = behind(line, "Name: ");
    if (!name || name->find(", dtype: ") == std::string_view::npos) { return std::nullopt; }
    return match_head(name->substr(0, name->find(", dtype: ")), {.names = "", .measure = CellMeasure::time}).unit;
}

class ListReader {
public:
    explicit ListReader(SampleBuilder& samples) : samples_{samples} {}

    void read(std::string_view text) {
        TextLines lines{text};
        std::string_view line;
        while (lines.next(line)) {
            if (is_no_row(line, {.delimiter = '|'})) { continue; }
            auto const found = list_line(line);
            bool const figure = found && is_figure(*found);
            if (figure) {
                figures_.push_back({*found, lines.number()});
            } else if (auto const unit = figures_.empty() ? unit_of_head(line) : unit_of_series(line)) {
                samples_.set_unit(*unit, "header");
            } else {
                if (words_.empty()) { words_ = trimmed_line(line); }
                if (!figures_.empty() || found) {
                    samples_.leave_out(SampleIssue::unused_line, lines.number(), 1, line);
                }
            }
        }
        if (samples_.found().unit_from.empty()) { assume(bare_numbers()); }
        for (Figure const& one : figures_) { take(one); }
    }

private:
    struct Figure {
        ListLine text;
        std::uint64_t line;
    };

    [[nodiscard]] std::vector<double> bare_numbers() const {
        std::vector<double> numbers;
        for (Figure const& one : figures_) {
            CellValue const value = cell_value(one.text.value, CellMeasure::time);
            if (value.kind == CellValue::Kind::bare && !one.text.has_unit && share_of(one.text.label)) {
                numbers.push_back(value.value);
            }
        }
        return numbers;
    }

    /// Errors: InputError{usage} where words of the file may name another quantity or unit.
    void assume(std::vector<double> numbers) {
        if (!numbers.empty() && !words_.empty()) {
            refuse(samples_.where(), "percentiles without a unit",
                   "whether they are times is not clear from " + headroom::quoted(std::string{words_}),
                   "say what they are in: --unit ms");
        }
        assume_unit(std::move(numbers), samples_);
    }

    void take(Figure const& one) {
        std::string_view const label = one.text.label;
        CellValue const value = cell_value(one.text.value, CellMeasure::time);
        if (!value.is_number()) { return samples_.leave_out(SampleIssue::text, one.line, 1, one.text.value); }
        if (is_word_of("count samples requests", label)) {
            auto const count = leading_count(one.text.value);
            bool const whole = value.kind == CellValue::Kind::bare && count;
            if (!whole) { return samples_.leave_out(SampleIssue::text, one.line, 1, one.text.value); }
            return set(static_cast<double>(*count), counted_, one.line,
                       [&] { samples_.found().stated_count = *count; });
        }
        CellUnit const& unit = one.text.has_unit ? one.text.unit : samples_.unit();
        double const seconds = value.kind == CellValue::Kind::bare ? unit.base(value.value) : value.value;
        if (auto const share = share_of(label)) {
            bool const is_new = state_quantile(samples_, *share, seconds, one.line);
            if (!is_new) { samples_.leave_out(SampleIssue::repeated_line, one.line); }
            return;
        }
        set(seconds, mean_, one.line, [&] { samples_.found().stated_mean = seconds; });
    }

    /// A figure that is stated once; another one is counted.
    template <class Store> void set(double value, std::optional<double>& known, std::uint64_t line, Store store) {
        if (known) {
            return samples_.leave_out(*known == value ? SampleIssue::repeated_line : SampleIssue::unused_line, line);
        }
        known = value;
        store();
    }

    SampleBuilder& samples_;
    std::vector<Figure> figures_;
    std::string_view words_; ///< the first line that is no figure
    std::optional<double> mean_, counted_;
};

} // namespace

bool looks_like_percentile_list(std::string_view head) {
    TextLines lines{whole_lines(head)};
    std::string_view line;
    std::size_t figures = 0, marked = 0, others = 0;
    constexpr std::size_t most = 200;
    while (lines.next(line) && lines.number() <= most) {
        if (is_no_row(line, {.delimiter = '|'})) { continue; }
        auto const found = list_line(line);
        bool const figure = found && is_figure(*found);
        figures += figure ? 1 : 0;
        marked += figure && is_marked(found->label) ? 1 : 0;
        others += figure ? 0 : 1;
    }
    return marked >= 2 && figures > others;
}

void read_percentile_list(HeadSource& source, SampleBuilder& samples) {
    if (!samples.question().column.empty()) {
        refuse(samples.where(), "a list of percentiles has no column " + headroom::quoted(samples.question().column),
               "its lines are all of one latency", "leave out --column, or give the lines of one metric alone");
    }
    ListReader{samples}.read(whole_report(source, samples));
    samples.note("a list of percentiles: quantiles without their samples");
}

} // namespace headroom::io
