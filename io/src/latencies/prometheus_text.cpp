#include "latencies/bucketed_samples.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/report_lines.hpp"
#include "records/record.hpp"
#include "tables/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

namespace headroom::io {
namespace {

/// "name{label="cell",...} value"
struct MetricLine {
    std::string name;
    std::map<std::string, std::string> labels;
    double value = 0.0;
};

std::optional<MetricLine> metric_line(std::string_view line) {
    MetricLine found;
    auto const end = line.find_first_of("{ \t");
    if (end == std::string_view::npos || end == 0) { return std::nullopt; }
    found.name = line.substr(0, end);
    line.remove_prefix(end);
    if (line.starts_with('{')) {
        line.remove_prefix(1);
        while (!line.empty() && line[0] != '}') {
            auto const equals = line.find("=\"");
            if (equals == std::string_view::npos) { return std::nullopt; }
            std::string const label{trimmed_line(line.substr(0, equals))};
            std::size_t close = equals + 2;
            while (close < line.size() && line[close] != '"') { close += line[close] == '\\' ? 2 : 1; }
            if (close >= line.size()) { return std::nullopt; }
            found.labels[label] = line.substr(equals + 2, close - equals - 2);
            line.remove_prefix(close + 1);
            while (line.starts_with(',') || line.starts_with(' ')) { line.remove_prefix(1); }
        }
        if (line.empty()) { return std::nullopt; }
        line.remove_prefix(1);
    }
    CellValue const value = cell_value(next_word(line), CellMeasure::nothing); // a time may follow
    if (!value.is_number()) { return std::nullopt; }
    found.value = value.value;
    return found;
}

/// One distribution: a name and the labels that are no bounds.
struct Series {
    std::string name;
    std::map<std::string, std::string> labels;
    struct Point {
        double at = 0.0, value = 0.0;
        std::uint64_t line = 0;
    };
    std::vector<Point> buckets, quantiles;
    std::optional<double> sum, count;
};

class ExpositionReader {
public:
    explicit ExpositionReader(SampleBuilder& samples) : samples_{samples} {}

    void read(std::string_view text) {
        TextLines lines{text};
        std::string_view line;
        while (lines.next(line)) {
            if (line.empty() || line.starts_with('#')) { continue; }
            auto found = metric_line(line);
            if (!found || !take(*found, lines.number())) {
                samples_.leave_out(SampleIssue::unused_line, lines.number(), 1, line);
            }
        }
        std::erase_if(series_, [&](Series const& one) { return !is_wanted(one); });
        if (series_.size() != 1) { refuse(); }
        state(series_.front());
    }

private:
    /// False for what belongs to no distribution.
    bool take(MetricLine& line, std::uint64_t number) {
        for (std::string_view const bound : {"le", "quantile"}) {
            auto const label = line.labels.find(std::string{bound});
            if (label == line.labels.end()) { continue; }
            CellValue const at = cell_value(label->second, CellMeasure::nothing);
            bool const infinite = at.kind == CellValue::Kind::infinite;
            if (!at.is_number() && !infinite) { return false; }
            line.labels.erase(label);
            bool const bucket = bound == "le";
            if (bucket != line.name.ends_with("_bucket")) { return false; }
            Series& one = series(bucket ? line.name.substr(0, line.name.size() - 7) : line.name, line.labels);
            (bucket ? one.buckets : one.quantiles).push_back({infinite ? INFINITY : at.value, line.value, number});
            return true;
        }
        for (std::string_view const suffix : {"_sum", "_count"}) {
            if (!line.name.ends_with(suffix)) { continue; }
            Series& one = series(line.name.substr(0, line.name.size() - suffix.size()), line.labels);
            auto& figure = suffix == "_sum" ? one.sum : one.count;
            bool const first = !figure;
            figure = line.value;
            return first;
        }
        return false;
    }

    Series& series(std::string const& name, std::map<std::string, std::string> const& labels) {
        auto const same = [&](Series const& one) { return one.name == name && one.labels == labels; };
        auto const at = std::ranges::find_if(series_, same);
        if (at != series_.end()) { return *at; }
        constexpr std::size_t most = 10'000;
        if (series_.size() == most) { unreadable_error(samples_.where(), "more than 10,000 series"); }
        series_.push_back({.name = name, .labels = labels, .buckets = {}, .quantiles = {}, .sum = {}, .count = {}});
        return series_.back();
    }

    [[nodiscard]] bool is_wanted(Series const& one) const {
        if (one.buckets.empty() && one.quantiles.empty()) { return false; }
        std::string const& asked = samples_.question().column;
        bool const named = asked.empty() || one.name == asked;
        return named && std::ranges::all_of(samples_.question().where, [&](auto const& condition) {
                   auto const label = one.labels.find(condition.first);
                   return label != one.labels.end() && label->second == condition.second;
               });
    }

    [[noreturn]] void refuse() const {
        std::vector<std::string> names, labels;
        for (Series const& one : series_) {
            if (std::ranges::find(names, one.name) == names.end()) { names.push_back(one.name); }
            for (auto const& [label, cell] : one.labels) { labels.push_back(label + "=" + cell); }
        }
        std::string const hint = names.size() > 1 ? "name one: --column NAME" : "choose one: --where LABEL=CELL";
        headroom::refuse(samples_.where(), fmt::format("{} distributions in this file", series_.size()),
                         names.empty() ? "none has the name and labels that were asked for"
                                       : one_of(names.size() > 1 ? names : labels),
                         hint);
    }

    void state(Series& one) {
        samples_.found().column = one.name;
        auto const unit = match_head(one.name, {.names = "", .measure = CellMeasure::time}).unit;
        if (!unit && samples_.question().unit.empty()) { refuse_other_unit(one.name, samples_.where()); }
        samples_.set_unit(unit.value_or(*time_unit("s")), unit ? "header" : "format");
        for (Series::Point const& point : one.quantiles) {
            bool const share = point.at >= 0.0 && point.at <= 1.0;
            bool const is_new =
                !share || state_quantile(samples_, point.at, samples_.unit().base(point.value), point.line);
            if (!is_new) { samples_.leave_out(SampleIssue::repeated_line, point.line); }
            if (!share) { samples_.leave_out(SampleIssue::text, point.line); }
        }
        if (one.sum && one.count && *one.count > 0.0) {
            samples_.found().stated_mean = samples_.unit().base(*one.sum / *one.count);
        }
        if (one.count && *one.count >= 0.0) { samples_.found().stated_count = static_cast<std::uint64_t>(*one.count); }
        if (!one.buckets.empty()) { take_buckets(one); }
        samples_.note(one.buckets.empty() ? "a summary of Prometheus: quantiles without their samples"
                                          : "a histogram of Prometheus: samples of a bucket are spread over it evenly");
    }

    void take_buckets(Series& one) {
        std::ranges::stable_sort(one.buckets, {}, &Series::Point::at);
        BucketedSamples buckets;
        double start = 0.0, total = 0.0;
        for (Series::Point const& point : one.buckets) {
            double const more = point.value - total;
            if (!(more >= 0.0) || point.value > 1e18) {
                samples_.leave_out(SampleIssue::negative, point.line);
                continue;
            }
            total = point.value;
            double const end = samples_.unit().base(point.at);
            if (std::isinf(point.at)) {
                buckets.add_beyond(static_cast<std::uint64_t>(more));
            } else if (!buckets.add(start, end, static_cast<std::uint64_t>(more))) {
                samples_.leave_out(SampleIssue::text, point.line);
            }
            if (point.at > 0.0 && end == start) { samples_.leave_out(SampleIssue::repeated_line, point.line); }
            if (!std::isinf(point.at)) { start = std::max(end, 0.0); }
        }
        if (one.count && *one.count != total) {
            count_issue(samples_.found().issues,
                        Issue{.kind = "sample by which the buckets differ from their stated count",
                              .count = static_cast<std::uint64_t>(std::abs(*one.count - total)),
                              .kept = true});
        }
        buckets.finish(samples_);
    }

    SampleBuilder& samples_;
    std::vector<Series> series_;
};

} // namespace

bool looks_like_prometheus(std::string_view head) {
    TextLines lines{whole_lines(head)};
    std::string_view line;
    while (lines.next(line)) {
        if (line.empty() || line.starts_with('#')) { continue; }
        auto const found = metric_line(line);
        if (!found) { return false; }
        if (found->labels.contains("le") || found->labels.contains("quantile")) { return true; }
    }
    return false;
}

void read_prometheus(HeadSource& source, SampleBuilder& samples) {
    ExpositionReader{samples}.read(whole_report(source, samples));
}

} // namespace headroom::io
