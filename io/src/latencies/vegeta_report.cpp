#include "latencies/json_report.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/report_rows.hpp"

#include <vector>

namespace headroom::io {
namespace {

/// Parts between commas.
std::vector<std::string_view> parts_of(std::string_view text) {
    std::vector<std::string_view> parts;
    while (true) {
        std::size_t const comma = text.find(',');
        parts.push_back(trimmed_line(text.substr(0, comma)));
        if (comma == std::string_view::npos) { return parts; }
        text.remove_prefix(comma + 1);
    }
}

/// "Latencies [min, mean, 50, max]  1ms, 2ms, 3ms, 4ms": the names between brackets, and their values.
struct NamedValues {
    std::vector<std::string_view> names, values;
    /// Value of a name; empty where it is missing.
    [[nodiscard]] std::string_view of(std::string_view name) const {
        for (std::size_t i = 0; i < names.size() && i < values.size(); ++i) {
            if (names[i] == name) { return values[i]; }
        }
        return {};
    }
};

/// Names and values of a line that has as many of one as of the other; other lines are counted.
std::optional<NamedValues> named_values(ReportReader& report) {
    std::string_view const line = report.line();
    std::size_t const open = line.find('['), close = line.find(']');
    if (close != std::string_view::npos && open < close) {
        NamedValues found{parts_of(line.substr(open + 1, close - open - 1)), parts_of(line.substr(close + 1))};
        if (found.names.size() == found.values.size()) { return found; }
    }
    report.samples().leave_out(SampleIssue::unused_line, report.number(), 1, line);
    return std::nullopt;
}

void take_latencies(ReportReader& report, Captures const&) {
    auto const row = named_values(report);
    for (std::size_t i = 0; row && i < row->names.size(); ++i) {
        auto const seconds = printed_duration(row->values[i]);
        auto const share = share_of(row->names[i]);
        if (seconds && row->names[i] == "mean") {
            report.mean(*seconds);
        } else if (seconds && share) {
            report.quantile(*share, *seconds);
        } else {
            report.samples().leave_out(SampleIssue::text, report.number(), 1, row->values[i]);
        }
    }
}

void take_requests(ReportReader& report, Captures const&) {
    auto const row = named_values(report);
    if (!row) { return; }
    auto const count = decimal_number(row->of("total"));
    if (!count || *count < 0.0 || *count > 1e18) {
        return report.samples().leave_out(SampleIssue::text, report.number(), 1, report.line());
    }
    report.requests(*count);
    if (row->of("rate").empty()) { return; }
    auto const rate = decimal_number(row->of("rate"));
    if (!rate) { return report.samples().leave_out(SampleIssue::text, report.number(), 1, report.line()); }
    if (*rate > 0.0) { report.samples().found().expected_interval = 1.0 / *rate; }
}

/// Requests that failed, of a share of success; they are among the times.
void tell_failed(double success, SampleBuilder& samples) {
    if (success < 1.0 && success >= 0.0) {
        samples.note("failed requests are among the times of the report (vegeta encode writes them one by one)");
    }
}

void take_success(ReportReader& report, Captures const& line) { tell_failed(line.number[0], report.samples()); }

enum Part { anywhere, errors };

constexpr ReportRow rows[] = {
    {.shape = "%w %w Vegeta is attacking %*"},
    {.shape = "%w %w Done!"},
    {.shape = "%w %w Writing results to %*"},
    {.shape = "Requests [%*", .use = take_requests},
    {.shape = "Duration [total] %t"},
    {.shape = "Duration [total, attack, wait] %t, %t, %t"},
    {.shape = "Latencies [%*", .use = take_latencies},
    {.shape = "Bytes In [total, mean] %c, %n"},
    {.shape = "Bytes Out [total, mean] %c, %n"},
    {.shape = "Success [ratio] %p", .use = take_success},
    {.shape = "Status Codes [code:count] %*"},
    {.shape = "Error Set:", .opens = errors},
    {.shape = "%*", .part = errors, .many = true}, // the errors themselves, without a count
};

} // namespace

bool looks_like_vegeta_report(std::string_view head) {
    bool const text = head.find("Latencies ") != std::string_view::npos &&
                      head.find("Success ") != std::string_view::npos && head.find("[ratio]") != std::string_view::npos;
    bool const json = trimmed_line(head.substr(0, 8)).starts_with('{') &&
                      head.find("\"latencies\"") != std::string_view::npos &&
                      head.find("\"99th\"") != std::string_view::npos;
    return text || json;
}

void read_vegeta_report(HeadSource& source, SampleBuilder& samples) {
    std::string const text = whole_report(source, samples);
    samples.set_unit(*time_unit("ns"), "format");
    samples.note("a report of vegeta: quantiles without their samples (vegeta encode writes them)");
    if (!trimmed_line(std::string_view{text}.substr(0, 4096)).starts_with('{')) {
        return ReportReader{text, rows, samples}.read();
    }
    auto const whole = parse_report(text, samples);
    ReportKeys report{whole, samples};
    auto const& latencies = report.object(whole, "latencies");
    report.mean(latencies, "mean");
    report.quantiles(latencies);
    report.known(latencies, "total");
    samples.found().stated_count = report.count(whole, "requests");
    if (auto const rate = report.number(whole, "rate"); rate && *rate > 0.0) {
        samples.found().expected_interval = 1.0 / *rate;
    }
    tell_failed(report.number(whole, "success").value_or(1.0), samples);
    report.known(whole, "buckets bytes_in bytes_out earliest latest end duration wait throughput status_codes errors");
    report.finish();
}

} // namespace headroom::io
