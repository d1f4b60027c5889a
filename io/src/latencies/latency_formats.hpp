#pragma once

#include "latencies/line_feed.hpp"
#include "latencies/sample_builder.hpp"
#include "tables/rows.hpp"
#include "traces/head_source.hpp"

#include <string_view>

namespace headroom::io {

/// One row a format: whether a text begins as one, and how it is read.
struct LatencyFormat {
    std::string_view name;
    bool (*sniff)(std::string_view head);
    void (*read)(HeadSource& source, SampleBuilder& samples);
};

/// All of a report, which is short.
/// Errors: InputError{unreadable} beyond 16 MiB.
std::string whole_report(HeadSource& source, SampleBuilder& samples);
/// Counts the bytes that were read, and damage of the source as dirt behind the last line.
void tell_source(HeadSource const& source, LineFeed const& lines, SampleBuilder& samples);

bool looks_like_csv(std::string_view head);
/// A table of any delimiter, with a header or none: a column of values, and perhaps one of times. Tables of k6, JMeter,
/// hey, ApacheBench and vegeta are known by their columns. A quoted cell ends in its line.
void read_csv_samples(HeadSource& source, SampleBuilder& samples);

bool looks_like_json_lines(std::string_view head);
/// A number or an object a line. Objects of vegeta and k6 are known by their fields.
void read_json_lines(HeadSource& source, SampleBuilder& samples);

/// Whether a head is one JSON object with a list in it, alone in its line, or the begin of such a line.
bool is_json_document(std::string_view head);
bool looks_like_json_array(std::string_view head);
/// Numbers or objects as one JSON list, of at most 16 MiB, alone or as the only list of samples within objects.
/// Errors: InputError{usage} where several lists hold samples and --column names none of them, or where none does.
void read_json_array(HeadSource& source, SampleBuilder& samples);

bool looks_like_hdr_log(std::string_view head);
/// An interval log of HdrHistogram: a histogram a line, in base64. `where` chooses a tag.
/// Source: [Tene2013] HistogramLogWriter
void read_hdr_log(HeadSource& source, SampleBuilder& samples);

bool looks_like_ping(std::string_view head);
/// Probes of ping, each with its round trip; those without an answer count as failed.
void read_ping(HeadSource& source, SampleBuilder& samples);

bool looks_like_nginx(std::string_view head);
/// Access log of nginx with $request_time as rt=0.012 or request_time=0.012.
void read_nginx(HeadSource& source, SampleBuilder& samples);

bool looks_like_gatling_log(std::string_view head);
/// simulation.log of Gatling: a request a line, from its start to its end in milliseconds.
void read_gatling_log(HeadSource& source, SampleBuilder& samples);

bool looks_like_percentiles(std::string_view head);
/// A table of percentiles that HdrHistogram prints, and vegeta (report -type hdrplot).
void read_percentiles(HeadSource& source, SampleBuilder& samples);

bool looks_like_wrk(std::string_view head);
/// Reports of wrk and wrk2: the percentiles that they state (--latency), and of wrk2 its spectrum as samples.
void read_wrk(HeadSource& source, SampleBuilder& samples);

bool looks_like_hey(std::string_view head);
/// Reports of hey: the percentiles that they state.
void read_hey(HeadSource& source, SampleBuilder& samples);

bool looks_like_vegeta_report(std::string_view head);
/// vegeta report, as text or JSON: the percentiles that it states.
void read_vegeta_report(HeadSource& source, SampleBuilder& samples);

bool looks_like_k6_report(std::string_view head);
/// The summary of k6, as text or JSON: the percentiles that it states of http_req_duration.
void read_k6_report(HeadSource& source, SampleBuilder& samples);

bool looks_like_oha(std::string_view head);
/// Text and JSON of oha, which prints like hey, with a rate of success.
void read_oha(HeadSource& source, SampleBuilder& samples);

bool looks_like_ghz(std::string_view head);
/// Text and JSON of ghz, which prints like hey, with a count.
void read_ghz(HeadSource& source, SampleBuilder& samples);

bool looks_like_bombardier(std::string_view head);
/// Text and JSON of bombardier.
void read_bombardier(HeadSource& source, SampleBuilder& samples);
void read_bombardier_json(HeadSource& source, SampleBuilder& samples);

bool looks_like_ab(std::string_view head);
/// Text of ApacheBench.
void read_ab(HeadSource& source, SampleBuilder& samples);

bool looks_like_siege(std::string_view head);
/// Text and JSON of siege: the mean and the extremes.
void read_siege(HeadSource& source, SampleBuilder& samples);

bool looks_like_drill(std::string_view head);
void read_drill(HeadSource& source, SampleBuilder& samples);

bool looks_like_h2load(std::string_view head);
/// Text of h2load: the mean and the extremes.
void read_h2load(HeadSource& source, SampleBuilder& samples);

bool looks_like_jmeter_statistics(std::string_view head);
void read_jmeter_statistics(HeadSource& source, SampleBuilder& samples);

bool looks_like_percentile_columns(std::string_view head);
/// A table with a row for each endpoint and a column for each percentile, as locust (_stats.csv) and JMeter's aggregate
/// report have it: the row of all, the only one, or the one that `where` names.
void read_percentile_columns(HeadSource& source, SampleBuilder& samples);

bool looks_like_distribution(std::string_view head);
/// A table whose rows are percentiles, buckets of a histogram, or values with their counts.
void read_distribution(HeadSource& source, SampleBuilder& samples);

bool looks_like_percentile_list(std::string_view head);
/// Lines of a percentile and its value: "p50: 20.1ms", "| 99% | 64.9 ms |".
void read_percentile_list(HeadSource& source, SampleBuilder& samples);

bool looks_like_prometheus(std::string_view head);
/// A histogram or a summary in the text format of Prometheus; of several `column` and `where` choose one.
void read_prometheus(HeadSource& source, SampleBuilder& samples);

bool looks_like_fio(std::string_view head);
/// JSON of fio: percentiles of one job in one direction, or its histogram (json+). `where` chooses by jobname and
/// direction, `column` among clat_ns, lat_ns and slat_ns.
void read_fio(HeadSource& source, SampleBuilder& samples);

bool looks_like_vllm(std::string_view head);
/// Serving benchmark of vLLM and SGLang, text or JSON: percentiles of the metric that `column` names, or its samples.
void read_vllm(HeadSource& source, SampleBuilder& samples);

bool looks_like_genai_perf(std::string_view head);
/// JSON, CSV and text of genai-perf: percentiles of the metric that `column` names.
void read_genai_perf(HeadSource& source, SampleBuilder& samples);

bool looks_like_google_benchmark(std::string_view head);
/// Repetitions of Google Benchmark (--benchmark_format=json); aggregates are passed over.
void read_google_benchmark(HeadSource& source, SampleBuilder& samples);

} // namespace headroom::io
