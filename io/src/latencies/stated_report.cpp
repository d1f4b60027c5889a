#include "latencies/stated_report.hpp"

#include "latencies/json_report.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/metric_choice.hpp"
#include "latencies/report_rows.hpp"
#include "records/record.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace headroom::io {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
bool is_object(std::string_view head) { return trimmed_line(head.substr(0, 8)).starts_with('{'); }

/// A statistic of a metric, or a count, as a line states it.
struct Figure {
    std::string metric, meaning;
    double value = 0.0; ///< in seconds, of a statistic
    std::string_view text;
    std::uint64_t line = 0;
    [[nodiscard]] bool is_statistic() const { return statistic_of(meaning).is_known(); }
};

class StatedReader {
public:
    StatedReader(StatedReport const& report, SampleBuilder& samples) : report_{report}, samples_{samples} {}

    void read(std::string_view text);

private:
    void read_line(std::string_view line);
    void take(StatedLine const& known, Captures const& found);
    [[noreturn]] void refuse_line(std::string_view line, std::string problem, std::string why = {}) const {
        unreadable_error(fmt::format("{}:{}", samples_.where(), number_), std::move(problem),
                         why.empty() ? headroom::quoted(shortened(line)) : std::move(why),
                         "give one report of a tool, as it wrote it");
    }
    [[nodiscard]] std::string chosen_times() const;
    void state(std::string const& chosen);
    void state(Figure const& one);
    void check_mean() const;

    StatedReport const& report_;
    SampleBuilder& samples_;
    std::vector<Figure> figures_;
    std::string metric_ = "latency";
    int part_ = 0; ///< 0 before the report
    bool unfinished_ = false;
    std::uint64_t number_ = 0, sent_ = 0, failed_ = 0;
};

void StatedReader::read(std::string_view text) {
    TextLines lines{text};
    for (std::string_view line; lines.next(line);) {
        number_ = lines.number();
        unfinished_ = lines.unfinished();
        if (!line.empty()) { read_line(line); }
    }
    state(chosen_times());
}

void StatedReader::read_line(std::string_view line) {
    if (has(line, report_.begin)) {
        if (part_ != 0 && !report_.many) { refuse_line(line, "a second report in this file"); }
        part_ = 1;
    } else if (part_ == 0) {
        return samples_.leave_out(SampleIssue::unused_line, number_, 1, line);
    }
    for (StatedLine const& known : report_.lines) {
        if (known.part != 0 && known.part != part_) { continue; }
        auto const found = fits_shape(line, known.shape);
        if (!found) { continue; }
        if (known.opens != 0) { part_ = known.opens; }
        if (!known.metric.empty()) { metric_ = known.metric; }
        return take(known, *found);
    }
    if (has(line, report_.begin)) { return; }
    if (part_ == behind_report) { return samples_.leave_out(SampleIssue::unused_line, number_, 1, line); }
    refuse_line(line, fmt::format("a line that {} does not write", report_.tool));
}

void StatedReader::take(StatedLine const& known, Captures const& found) {
    std::string_view meanings = known.meanings;
    std::string name, status;
    std::size_t at = 0, letter = 0;
    for (; !meanings.empty() && at < found.count; ++at) {
        // "%%" is a sign of percent, "%_" captures nothing
        while (known.shape[letter] != '%' || known.shape[letter + 1] == '%' || known.shape[letter + 1] == '_') {
            letter += known.shape[letter] == '%' ? 2 : 1;
        }
        bool const bare = known.shape[letter + 1] != 't';
        letter += 2;
        std::string const meaning{next_word(meanings)};
        std::string_view const text = trimmed_line(found.text.at(at));
        if (meaning == "-") { continue; }
        if (unfinished_) { refuse_line(text, "the report may be cut off", "its last line has no end"); }
        std::string const label{text.substr(0, text.find_last_not_of(":= ") + 1)};
        if (meaning == "name" || meaning == "status") {
            (meaning == "name" ? name : status) = label;
            continue;
        }
        if (meaning == "metric") {
            metric_ = label;
            continue;
        }
        if (meaning == "unit") {
            auto const unit = time_unit(label);
            if (!unit) { refuse_line(text, "no unit of time"); }
            samples_.set_unit(*unit, "format");
            continue;
        }
        Figure one{.metric = metric_, .meaning = meaning == "value" ? name : meaning, .text = text, .line = number_};
        if (!status.empty()) { one.meaning += " " + status; }
        if (meaning == "value" && !one.is_statistic()) { refuse_line(name, "an unknown statistic"); }
        double const number = found.number.at(at);
        // "15.6k" is no time, and ".6" is a number without its beginning.
        bool const odd = text.starts_with('.') || (bare && std::string_view{"kMG"}.find(text.back()) < 3);
        if (one.is_statistic() && odd) { refuse_line(text, "a time that no tool writes"); }
        one.value = one.is_statistic() && bare ? samples_.unit().base(number) : number;
        figures_.push_back(std::move(one));
    }
}

/// The metric that is asked for, the usual or the only one.
std::string StatedReader::chosen_times() const {
    std::vector<std::string> names;
    for (Figure const& one : figures_) {
        bool const known = !one.is_statistic() || std::ranges::find(names, one.metric) != names.end();
        if (!known) { names.push_back(one.metric); }
    }
    for (auto const& [column, cell] : samples_.question().where) {
        if (column == report_.condition && std::ranges::find(names, cell) != names.end()) { return cell; }
        refuse("--where", fmt::format("no {}={} in a report of {}", column, cell, report_.tool), one_of(names),
               "choose with --column NAME");
    }
    bool const usual = !report_.usual.empty() && samples_.question().column.empty();
    if (!usual) { return names.at(chosen_metric(names, samples_)); }
    if (std::ranges::find(names, report_.usual) != names.end()) { return std::string{report_.usual}; }
    unreadable_error(samples_.where(), fmt::format("no {} in this report of {}", report_.usual, report_.tool));
}

void StatedReader::state(std::string const& chosen) {
    samples_.found().column = chosen;
    std::map<std::string, Figure const*> seen;
    for (Figure const& one : figures_) {
        if (one.metric != chosen && (one.is_statistic() || report_.many)) {
            if (one.is_statistic()) { samples_.leave_out(SampleIssue::other_metric, one.line, 1); }
            continue;
        }
        auto const [before, is_new] = seen.emplace(one.meaning, &one);
        if (is_new) {
            state(one);
        } else if (before->second->value != one.value) {
            number_ = one.line;
            refuse_line(one.text, "a second report in this file",
                        fmt::format("{} is {} here, and {} in line {}", one.meaning, one.text, before->second->text,
                                    before->second->line));
        }
    }
    check_mean();
    if (sent_ > 0) { samples_.found().stated_count = sent_ - std::min(sent_, failed_); }
}

/// A mean outside of the extremes is of other times.
void StatedReader::check_mean() const {
    constexpr double rounding = 1.02;
    auto const& found = samples_.found();
    if (found.stated.empty() || found.stated_mean == 0.0) { return; }
    auto const &least = found.stated.front(), &most = found.stated.back();
    bool const low = least.q == 0.0 && found.stated_mean * rounding < least.value;
    bool const high = most.q == 1.0 && found.stated_mean > most.value * rounding;
    if (low || high) { unreadable_error(samples_.where(), "the mean lies outside of the extremes"); }
}

void StatedReader::state(Figure const& one) {
    Statistic const statistic = statistic_of(one.meaning);
    auto const count = static_cast<std::uint64_t>(std::max(one.value, 0.0));
    if (statistic.share) {
        state_quantile(samples_, *statistic.share, one.value, one.line);
    } else if (statistic.is_mean) {
        samples_.found().stated_mean = one.value;
    } else if (one.meaning == "count") {
        samples_.found().stated_count = count;
    } else if (one.meaning == "sent") {
        sent_ = count;
    } else if (one.meaning.starts_with("failed") && count > 0) {
        failed_ += count;
        samples_.leave_out(SampleIssue::failed, one.line, count);
    } else if (one.meaning == "among") {
        count_failed_among(samples_, count, one.line);
    } else if (one.meaning.starts_with("answers ")) {
        count_status(samples_, std::string_view{one.meaning}.substr(8), count, one.line);
    } else if (one.meaning == "verdict" && one.text != "VALID") {
        samples_.note(fmt::format("the run is {} by the rules of {}", one.text, report_.tool));
    }
}

} // namespace

bool looks_like_stated(StatedReport const& report, std::string_view head) {
    auto const all = [&](auto const& texts, bool quoted) {
        return !texts[0].empty() && std::ranges::all_of(texts, [&](std::string_view text) {
            return has(head, quoted ? "\"" + std::string{text} + "\"" : std::string{text});
        });
    };
    return is_object(head) ? all(report.keys, true) : all(report.marks, false);
}

void read_stated(StatedReport const& report, HeadSource& source, SampleBuilder& samples) {
    std::string const text = whole_report(source, samples);
    bool const of_kind = is_object(text) ? report.read_json != nullptr : !report.lines.empty();
    if (!of_kind) { // --format names it
        unreadable_error(samples.where(), fmt::format("no report of {}", report.tool),
                         is_object(text) ? "it is a JSON object" : "it is no JSON object");
    }
    if (is_object(text)) {
        report.read_json(parse_report(text, samples), samples);
    } else {
        samples.set_unit(*time_unit(report.unit), "format");
        StatedReader{report, samples}.read(text);
    }
    std::string_view const kind =
        samples.found().stated.empty() ? "times of its runs" : "quantiles without their samples";
    samples.note(fmt::format("a report of {}: {}", report.tool, kind));
}

} // namespace headroom::io
