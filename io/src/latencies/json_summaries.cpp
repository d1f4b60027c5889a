#include "latencies/bucketed_samples.hpp"
#include "latencies/json_report.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/report_lines.hpp"
#include "latencies/stated_report.hpp"

#include <algorithm>
#include <set>

namespace headroom::io {

using namespace headroom::serving;

namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
bool is_object(std::string_view head) { return trimmed_line(head.substr(0, 8)).starts_with('{'); }

// ---- fortio -----------------------------------------------------------------------------------------------------------

/// Adds a bucket, whose samples fortio spreads evenly for its percentiles; false where it is none.
bool take_bucket(nlohmann::json const& bucket, BucketedSamples& values) {
    auto const start = number_in(bucket, "Start"), end = number_in(bucket, "End");
    auto const count = count_in(bucket, "Count");
    return start && end && count && values.add(*start, *end, *count);
}

} // namespace

void read_fortio_json(nlohmann::json const& whole, SampleBuilder& samples) {
    ReportKeys report{whole, samples};
    samples.set_unit(*time_unit("s"), "format");
    samples.found().column = "DurationHistogram";
    auto const& histogram = report.object(whole, "DurationHistogram");
    report.mean(histogram, "Avg");
    report.quantile(histogram, "Min", 0.0);
    report.quantile(histogram, "Max", 1.0);
    BucketedSamples values;
    for (auto const& [place, bucket] : report.members(report.member(histogram, "Data"))) {
        if (!take_bucket(bucket, values)) { samples.leave_out(SampleIssue::text, 0, 1, bucket.dump()); }
    }
    std::set<double> told;
    for (auto const& [place, row] : report.members(report.member(histogram, "Percentiles"))) {
        auto const percent = number_in(row, "Percentile"), value = number_in(row, "Value");
        if (percent && !told.insert(*percent).second) {
            samples.leave_out(SampleIssue::repeated_key, 0, 1, row.dump());
        } else if (percent && value) {
            state_quantile(samples, *percent / 100.0, *value, 0);
        }
    }
    LatencySamples& found = samples.found();
    found.stated_count = report.count(histogram, "Count");
    if (found.stated_count != values.count()) {
        count_issue(found.issues, Issue{.kind = "sample by which the buckets differ from their stated count",
                                        .count = std::max(found.stated_count, values.count()) -
                                                 std::min(found.stated_count, values.count()),
                                        .kept = true});
    }
    values.finish(samples);
    samples.note("fortio: samples of a bucket are spread over it evenly, as its percentiles have them");
    report.known(histogram, "Sum StdDev");
    auto const& statuses = report.member(whole, "RetCodes");
    for (auto const& [status, count] : report.members(statuses)) {
        count_status(samples, status, count_in(statuses, status).value_or(0));
    }
    report.known(whole, "RunType Labels StartTime RequestedQPS RequestedDuration ActualQPS ActualDuration NumThreads "
                        "Version Exactly Jitter Uniform NoCatchUp RunID AccessLoggerInfo ID ErrorsDurationHistogram "
                        "IPCountMap Sizes HeaderSizes URL SocketCount AbortOn NumConnections Sockets "
                        "ConnectionStats ConnReuseRange HTTPOptions");
    report.finish();
}

// ---- autocannon -------------------------------------------------------------------------------------------------------

void read_autocannon_json(nlohmann::json const& whole, SampleBuilder& samples) {
    ReportKeys report{whole, samples};
    samples.set_unit(*time_unit("ms"), "format");
    auto const& latency = report.object(whole, "latency");
    report.mean(latency, latency.contains("mean") ? "mean" : "average");
    report.quantiles(latency);
    report.known(latency, "average stddev");
    samples.found().stated_count = report.count(latency, "totalCount");
    if (auto const failed = report.count(whole, "errors"); failed > 0) {
        samples.leave_out(SampleIssue::failed, 0, failed);
    }
    count_failed_among(samples, report.count(whole, "4xx") + report.count(whole, "5xx"));
    report.known(whole, "title url connections sampleInt pipelining workers duration samples start finish timeouts "
                        "mismatches non2xx resets 1xx 2xx 3xx statusCodeStats requests throughput socketPath");
    report.finish();
}

// ---- bombardier -------------------------------------------------------------------------------------------------------

void read_bombardier_json(HeadSource& source, SampleBuilder& samples) {
    auto const whole = parse_report(whole_report(source, samples), samples);
    ReportKeys report{whole, samples};
    samples.set_unit(*time_unit("us"), "format");
    auto const& result = report.object(whole, "result");
    auto const& latency = report.object(result, "latency");
    report.mean(latency, "mean");
    report.quantile(latency, "max", 1.0);
    report.quantiles(report.object(latency, "percentiles"));
    report.known(latency, "stddev");
    for (char const* const status : {"req1xx", "req2xx", "req3xx", "req4xx", "req5xx"}) {
        samples.found().stated_count += report.count(result, status);
    }
    count_failed_among(samples, report.count(result, "req4xx") + report.count(result, "req5xx"));
    if (auto const failed = report.count(result, "others"); failed > 0) {
        samples.leave_out(SampleIssue::failed, 0, failed);
    }
    report.known(result, "bytesRead bytesWritten timeTakenSeconds rps errors");
    report.known(whole, "spec");
    report.finish();
    samples.note("a report of bombardier: quantiles without their samples");
}

// ---- JMeter -----------------------------------------------------------------------------------------------------------

bool looks_like_jmeter_statistics(std::string_view head) {
    return is_object(head) && has(head, "\"pct1ResTime\"") && has(head, "\"medianResTime\"");
}

/// statistics.json of JMeter's dashboard: an object for each sampler, and one of all. `where` chooses one.
void read_jmeter_statistics(HeadSource& source, SampleBuilder& samples) {
    auto const whole = parse_report(whole_report(source, samples), samples);
    ReportKeys report{whole, samples};
    samples.set_unit(*time_unit("ms"), "format");
    std::string chosen = "Total";
    for (auto const& [name, wanted] : samples.question().where) {
        if (name == "transaction") { chosen = wanted; }
    }
    auto const& total = report.object(whole, chosen);
    samples.found().column = chosen;
    report.mean(total, "meanResTime");
    report.quantile(total, "medianResTime", 0.5);
    report.quantile(total, "minResTime", 0.0);
    report.quantile(total, "maxResTime", 1.0);
    report.quantile(total, "pct1ResTime", 0.90);
    report.quantile(total, "pct2ResTime", 0.95);
    report.quantile(total, "pct3ResTime", 0.99);
    samples.found().stated_count = report.count(total, "sampleCount");
    if (report.count(total, "errorCount") > 0) { samples.note("failed requests are among the times of the report"); }
    report.known(total, "transaction errorPct throughput receivedKBytesPerSec sentKBytesPerSec");
    report.finish();
    samples.note(
        "JMeter: pct1, pct2 and pct3 are taken for p90, p95 and p99, which is their default; others are chosen "
        "with --where transaction=NAME");
}

} // namespace headroom::io
