#include "latencies/metric_report.hpp"

#include "latencies/csv_layout.hpp"
#include "latencies/metric_choice.hpp"
#include "latencies/report_lines.hpp"
#include "records/record.hpp"
#include "tables/cell_text.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace headroom::io {
namespace {

/// Words of a label in lower case: of "p99_ttft_ms", "99thPercentileLatency(us)", "results.ttft_s"; "%" stays at its number.
std::vector<std::string> label_words(std::string_view label) {
    std::vector<std::string> words;
    char before = ' ';
    for (std::size_t i = 0; i < label.size(); ++i) {
        char const c = label[i];
        bool const letter = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '%';
        bool const point =
            c == '.' && is_decimal_digit(before) && i + 1 < label.size() && is_decimal_digit(label[i + 1]);
        bool const camel =
            std::isupper(static_cast<unsigned char>(c)) != 0 && std::islower(static_cast<unsigned char>(before)) != 0;
        bool const goes_on = std::isalnum(static_cast<unsigned char>(before)) != 0 || before == '.';
        if (letter && (!goes_on || camel || words.empty())) { words.emplace_back(); }
        if (letter || point) { words.back() += lowered(c); }
        before = letter || point ? c : ' ';
    }
    for (std::size_t i = 1; i < words.size(); ++i) { // "p99_9"
        bool const percentile = words[i - 1].size() == 3 && words[i - 1][0] == 'p' && is_decimal_digit(words[i - 1][1]);
        if (!percentile || words[i].find_first_not_of('9') != std::string::npos) { continue; }
        words[i - 1] += "." + words[i];
        words.erase(words.begin() + static_cast<std::ptrdiff_t>(i--));
    }
    return words;
}

/// "p99", "p999" (99.9), "99th", "99.9%".
std::optional<double> marked_share(std::string_view word) {
    bool const p =
        word.size() > 1 && word[0] == 'p' && word.find_first_not_of("0123456789.", 1) == std::string_view::npos;
    if (p && word.size() > 3 && word != "p100" && word.find('.') == std::string_view::npos) {
        return share_of(std::string{word.substr(0, 3)} + "." + std::string{word.substr(3)});
    }
    return p || word.ends_with('%') || word.ends_with("th") ? share_of(word) : std::nullopt;
}

/// The share that a word names, for itself or next to "percentile"; `used` is the last word that is part of it.
std::optional<double> share_in(std::vector<std::string> const& words, std::size_t& used) {
    std::string const& word = words[used];
    auto const bare = [&](std::size_t at) {
        bool const number = at < words.size() && words[at].find_first_not_of("0123456789.") == std::string::npos;
        return number ? share_of(words[at]) : std::nullopt;
    };
    if (word == "percentile" && bare(used + 1)) { return bare(++used); }
    bool const before = used + 1 < words.size() && words[used + 1] == "percentile";
    if (before && bare(used)) { return bare(used++); }
    if (is_word_of("min minimum lowest fastest", word)) { return 0.0; }
    if (is_word_of("max maximum highest slowest longest", word)) { return 1.0; }
    if (is_word_of("med median", word)) { return 0.5; }
    return marked_share(word);
}

constexpr std::string_view rates = "throughput goodput rate rps qps iops bw bandwidth concurrency";
constexpr std::string_view deviations = "std stddev stdev deviation variance var sum total mode mdev ad ci";
constexpr std::string_view fillers =
    "percentile percentiles quantile quantiles results result stats statistics summary "
    "observation observations target is of the by successful";
constexpr std::string_view units = "ns us ms s sec secs second seconds usec usecs msec nsec microseconds milliseconds "
                                   "nanoseconds";
constexpr std::string_view amounts = "token tokens bytes length size";

/// "request latency" of "request_latency_ms", "Request Latency (ms)".
std::string plain_metric(std::string_view name) { return figure_name(name).metric; }

std::string last_part(std::string_view name) { return plain_metric(name.substr(name.rfind('.') + 1)); }

} // namespace

FigureName figure_name(std::string_view label) {
    FigureName found;
    std::vector<std::string> const words = label_words(label);
    bool amount = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string const& word = words[i];
        std::size_t last = i;
        auto const share = share_in(words, last);
        bool const number = word.find_first_not_of("0123456789.") == std::string::npos;
        bool const in_seconds = word == "per" && i + 1 < words.size() && is_word_of(units, words[i + 1]);
        amount = amount || is_word_of(amounts, word);
        if (share) {
            found.is_other = found.is_other || found.share; // two statistics
            found.share = share;
            i = last;
        } else if (number) { // another figure, or a part of the name: "over 5 runs"
            found.is_other = true;
        } else if (is_word_of("mean avg average", word) && !found.is_mean) {
            found.is_mean = true;
        } else if (is_word_of(deviations, word)) {
            found.is_other = true;
        } else if (is_word_of(rates, word) || in_seconds) {
            found.is_rate = true;
            found.metric += (found.metric.empty() ? "" : " ") + word;
        } else if (is_word_of(units, word) && (i + 1 == words.size() || i > 0)) {
            found.unit = time_unit(word);
        } else if (!is_word_of(fillers, word)) {
            found.metric += (found.metric.empty() ? "" : " ") + word;
        }
    }
    bool const time = found.unit || found.metric.find("time") != std::string::npos ||
                      found.metric.find("latency") != std::string::npos;
    found.is_rate = found.is_rate || (amount && !time);
    bool const counted = !words.empty() && is_word_of("count samples requests", words.back());
    found.is_count = !found.share && !found.is_mean && counted;
    return found;
}

bool ReportMetric::is_distribution() const {
    auto const inner =
        std::ranges::count_if(figures, [](Figure const& one) { return one.share > 0.0 && one.share < 1.0; });
    auto const outer = static_cast<std::ptrdiff_t>(figures.size()) - inner + (mean ? 1 : 0);
    return inner >= 2 || (inner == 1 && outer >= 2);
}

ReportMetric& MetricReport::metric(std::string_view name) {
    auto const at = by_name_.find(name);
    if (at != by_name_.end()) { return *at->second; }
    metrics_.push_back({.name = std::string{name}, .unit = {}, .figures = {}, .mean = {}, .samples = {}});
    by_name_.emplace(name, &metrics_.back());
    return metrics_.back();
}

void MetricReport::assume(CellUnit const& unit) {
    for (ReportMetric& one : metrics_) {
        if (!one.unit) { one.unit = unit; }
    }
}

void MetricReport::add(ReportMetric& metric, FigureName const& name, ReportMetric::Figure figure) {
    if (name.share) {
        figure.share = *name.share;
        metric.figures.push_back(figure);
    } else if (name.is_mean) {
        if (!metric.mean) { metric.mean = figure; }
    } else if (figure.value >= 0.0 && figure.value < 1e18) {
        metric.count = static_cast<std::uint64_t>(figure.value);
        count_ = std::max(count_, metric.count);
    }
}

std::size_t MetricReport::distributions() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        metrics_, [](ReportMetric const& one) { return one.is_distribution() || one.samples.size() >= 2; }));
}

ReportMetric& MetricReport::chosen(SampleBuilder& samples) {
    by_name_.clear();
    std::erase_if(metrics_, [](ReportMetric const& one) { return !one.is_distribution() && one.samples.size() < 2; });
    std::string const& asked = samples.question().column;
    std::vector<ReportMetric*> fit;
    for (bool const whole : {true, false}) {
        for (ReportMetric& one : metrics_) {
            bool const named = plain_metric(asked) == (whole ? plain_metric(one.name) : last_part(one.name));
            if (asked.empty() ? whole && !one.samples.empty() : named && fit.size() < 2) { fit.push_back(&one); }
        }
        if (fit.size() == 1 || !fit.empty()) { break; }
    }
    if (fit.size() == 1) { return *fit.front(); }
    std::vector<std::string> names;
    for (ReportMetric const& one : metrics_) { names.push_back(one.name.empty() ? "latency" : one.name); }
    return metrics_.at(chosen_metric(names, samples));
}

void MetricReport::finish(SampleBuilder& samples) {
    ReportMetric& one = chosen(samples);
    if (one.lists > 1) {
        unreadable_error(samples.where(), fmt::format("{} lists of '{}'", one.lists, one.name),
                         "they are of several runs", "give each run in a file of its own");
    }
    samples.found().column = one.name;
    if (one.unit) {
        samples.set_unit(*one.unit, "header");
    } else {
        std::vector<double> numbers = one.samples;
        for (auto const& figure : one.figures) {
            if (!figure.in_seconds && one.samples.empty()) { numbers.push_back(figure.value); }
        }
        assume_unit(std::move(numbers), samples, one.name);
    }
    auto const seconds = [&](ReportMetric::Figure const& figure) {
        return figure.in_seconds ? figure.value : samples.unit().base(figure.value);
    };
    if (one.samples.empty()) {
        for (auto const& figure : one.figures) {
            bool const is_new = state_quantile(samples, figure.share, seconds(figure), figure.line);
            if (!is_new) { samples.leave_out(SampleIssue::repeated_line, figure.line); }
        }
        if (one.mean) { samples.found().stated_mean = seconds(*one.mean); }
        bool const alone = metrics_.size() == 1;
        samples.found().stated_count = one.count > 0 || !alone ? one.count : count_;
    }
    for (double const value : one.samples) { samples.take(samples.unit().base(value), 0); }
    if (metrics_.size() > 1) { samples.leave_out(SampleIssue::other_metric, 0, metrics_.size() - 1); }
}

} // namespace headroom::io
