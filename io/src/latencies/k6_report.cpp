#include "latencies/json_report.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/report_rows.hpp"

namespace headroom::io {
namespace {

constexpr std::string_view metric = "http_req_duration";

/// "http_reqs......................: 60 1.9/s": the name, and the text behind the dots and the colon.
struct DottedLine {
    std::string_view name, values;
};
std::optional<DottedLine> dotted(std::string_view line) {
    std::size_t const dots = line.find('.'), colon = line.find(':', std::min(dots, line.size()));
    if (dots == std::string_view::npos || colon == std::string_view::npos) { return std::nullopt; }
    if (line.substr(dots, colon - dots).find_first_not_of('.') != std::string_view::npos) { return std::nullopt; }
    std::string_view name = trimmed_line(line.substr(0, dots));
    std::size_t const blank = name.rfind(' '); // behind a mark of success
    if (!name.starts_with('{') && blank != std::string_view::npos) { name.remove_prefix(blank + 1); }
    return DottedLine{name, trimmed_line(line.substr(colon + 1))};
}

/// "avg=117.55ms min=104ms med=115ms max=150ms p(90)=130ms"
void take_duration(ReportReader& report, std::string_view text) {
    while (!text.empty()) {
        std::string_view const word = next_word(text);
        std::size_t const equals = std::min(word.find('='), word.size());
        auto const seconds = printed_duration(word.substr(std::min(equals + 1, word.size())));
        std::string_view const name = word.substr(0, equals);
        if (name == "count") { continue; }
        auto const share = share_of(name);
        if (seconds && name == "avg") {
            report.mean(*seconds);
        } else if (seconds && share) {
            report.quantile(*share, *seconds);
        } else {
            report.samples().leave_out(SampleIssue::text, report.number(), 1, word);
        }
    }
}

/// Metrics of k6 that are no latency of a request, or parts of one.
constexpr std::string_view other_metrics =
    "data_received data_sent checks checks_total checks_succeeded checks_failed dropped_iterations group_duration "
    "http_req_blocked http_req_connecting http_req_looking_up http_req_receiving http_req_sending "
    "http_req_tls_handshaking http_req_waiting iteration_duration iterations vus vus_max";

bool is_other(std::string_view name) {
    for (std::string_view names = other_metrics; !names.empty();) {
        if (next_word(names) == name) { return true; }
    }
    return false;
}

void take_metric(ReportReader& report, Captures const&) {
    auto const line = dotted(report.line());
    SampleBuilder& samples = report.samples();
    if (line && line->name == metric) {
        take_duration(report, line->values);
    } else if (line && line->name == "http_reqs") {
        auto const counts = fits_shape(line->values, "%c %n/s");
        if (!counts) { return samples.leave_out(SampleIssue::text, report.number(), 1, report.line()); }
        report.requests(counts->number[0]);
    } else if (line && line->name == "http_req_failed") {
        auto share = fits_shape(line->values, "%p \xE2\x9C\x93 %c \xE2\x9C\x97 %c"); // a tick and a cross
        if (!share) { share = fits_shape(line->values, "%p %c out of %c"); }
        if (!share) { return samples.leave_out(SampleIssue::text, report.number(), 1, report.line()); }
        if (share->number[0] > 0.0) { samples.note("failed requests are among the times of the report"); }
    } else if (!line || !is_other(line->name)) { // "{ expected_response:true }", thresholds, one's own metrics
        samples.leave_out(SampleIssue::unused_line, report.number(), 1, report.line());
    }
}

/// The metrics themselves are identified by their names.
constexpr ReportRow rows[] = {
    {.shape = "http_req_duration.%*", .use = take_metric}, {.shape = "http_reqs.%*", .use = take_metric},
    {.shape = "http_req_failed.%*", .use = take_metric},   {.shape = "%w http_req_duration.%*", .use = take_metric},
    {.shape = "%w http_reqs.%*", .use = take_metric},      {.shape = "%w http_req_failed.%*", .use = take_metric},
    {.shape = "%*", .use = take_metric, .many = true},
};

void read_json(std::string const& text, SampleBuilder& samples) {
    auto const whole = parse_report(text, samples);
    ReportKeys report{whole, samples};
    auto const& metrics = report.object(whole, "metrics");
    // Values stand in an object of their own, or next to the metric's type.
    auto const values_of = [&](std::string const& name) -> nlohmann::json const& {
        auto const& one = report.object(metrics, name);
        report.known(one, "type contains thresholds");
        return one.is_object() && one.contains("values") ? report.object(one, "values") : one;
    };
    auto const& duration = values_of(std::string{metric});
    report.mean(duration, "avg");
    report.quantiles(duration);
    auto const& requests = values_of("http_reqs");
    samples.found().stated_count = report.count(requests, "count");
    report.known(requests, "rate");
    auto const& failed = values_of("http_req_failed");
    double const rate = report.number(failed, "rate").value_or(report.number(failed, "value").value_or(0.0));
    if (rate > 0.0) { samples.note("failed requests are among the times of the report"); }
    report.known(failed, "passes fails rate value");
    report.known(metrics, other_metrics);
    report.known(whole, "root_group options state setup_data");
    report.finish();
}

} // namespace

bool looks_like_k6_report(std::string_view head) {
    if (head.find(metric) == std::string_view::npos) { return false; }
    bool const json = trimmed_line(head.substr(0, 8)).starts_with('{');
    if (!json) { return head.find("http_req_duration...") != std::string_view::npos; }
    return head.find("\"metrics\"") != std::string_view::npos && head.find("\"Point\"") == std::string_view::npos &&
           head.find("\"Metric\"") == std::string_view::npos;
}

void read_k6_report(HeadSource& source, SampleBuilder& samples) {
    std::string const text = whole_report(source, samples);
    samples.set_unit(*time_unit("ms"), "format");
    samples.found().column = metric;
    samples.note("a summary of k6: quantiles without their samples (k6 run --out json writes them)");
    if (trimmed_line(std::string_view{text}.substr(0, 4096)).starts_with('{')) {
        read_json(text, samples);
    } else {
        ReportReader{text, rows, samples}.read();
    }
}

} // namespace headroom::io
