#include "latencies/json_report.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/metric_choice.hpp"
#include "latencies/report_rows.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace headroom::io {
namespace {

using nlohmann::json;

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// ---- text -------------------------------------------------------------------------------------------------------------

/// "Mean TTFT (ms): 31846.42", and of SGLang "P99 E2E Latency (ms): 12.3".
struct MetricLine {
    Statistic statistic;
    std::string_view metric;
    double seconds = 0.0;
};
std::optional<MetricLine> metric_line(std::string_view line) {
    auto found = fits_shape(line, "%w %w (ms): %n");
    if (!found) { found = fits_shape(line, "%w %w Latency (ms): %n"); }
    if (!found) { return std::nullopt; }
    MetricLine read{.statistic = statistic_of(found->text[0]), .metric = found->text[1]};
    constexpr double milli = 1e-3;
    read.seconds = milli * found->number[2];
    return read.statistic.is_known() ? std::optional{read} : std::nullopt;
}

void take_metric(ReportReader& report, Captures const&) {
    SampleBuilder& samples = report.samples();
    auto const line = metric_line(report.line());
    if (!line) { return samples.leave_out(SampleIssue::unused_line, report.number(), 1, report.line()); }
    if (line->metric != samples.found().column) {
        return samples.leave_out(SampleIssue::other_metric, report.number(), 1, report.line());
    }
    if (line->statistic.is_mean) { report.mean(line->seconds); }
    if (line->statistic.share) { report.quantile(*line->statistic.share, line->seconds); }
}

constexpr ReportRow rows[] = {
    {.shape = "============ Serving Benchmark Result ============"},
    {.shape = "=================================================="},
    {.shape = "Backend: %*"},
    {.shape = "Traffic request rate: %*"},
    {.shape = "Max request concurrency: %*"},
    {.shape = "Successful requests: %c",
     .use = [](ReportReader& report, Captures const& line) { report.requests(line.number[0]); }},
    {.shape = "Failed requests: %c",
     .use = [](ReportReader& report, Captures const& line) { report.failed(line.number[0]); }},
    {.shape = "Maximum request concurrency: %c"},
    {.shape = "Request rate configured (RPS): %n"},
    {.shape = "Benchmark duration (s): %n"},
    {.shape = "Total input tokens: %c"},
    {.shape = "Total input text tokens: %c"},
    {.shape = "Total input vision tokens: %c"},
    {.shape = "Total generated tokens: %c"},
    {.shape = "Total generated tokens (retokenized): %c"},
    {.shape = "Request throughput (req/s): %n"},
    {.shape = "Request goodput (req/s): %n"},
    {.shape = "Input token throughput (tok/s): %n"},
    {.shape = "Output token throughput (tok/s): %n"},
    {.shape = "Peak output token throughput (tok/s): %n"},
    {.shape = "Peak concurrent requests: %n"},
    {.shape = "Total Token throughput (tok/s): %n"},
    {.shape = "Total token throughput (tok/s): %n"},
    {.shape = "Concurrency: %n"},
    {.shape = "Accept length: %n"},
    {.shape = "-----%*", .many = true},
    {.shape = "%w %w (ms): %n", .use = take_metric, .many = true},
    {.shape = "%w %w Latency (ms): %n", .use = take_metric, .many = true},
};

void read_text(std::string const& text, SampleBuilder& samples) {
    std::vector<std::string> metrics;
    TextLines lines{text};
    for (std::string_view line; lines.next(line);) {
        auto const found = metric_line(line);
        if (found && std::ranges::find(metrics, found->metric) == metrics.end()) {
            metrics.emplace_back(found->metric);
        }
    }
    samples.found().column = metrics.at(chosen_metric(metrics, samples));
    ReportReader{text, rows, samples}.read();
}

// ---- JSON -------------------------------------------------------------------------------------------------------------

/// "mean_ttft_ms", "p99_e2e_latency_ms".
struct MetricKey {
    Statistic statistic;
    std::string metric;
};
std::optional<MetricKey> metric_key(std::string_view key) {
    auto const first = key.find('_');
    if (!key.ends_with("_ms") || first + 3 >= key.size()) { return std::nullopt; }
    MetricKey found{.statistic = statistic_of(key.substr(0, first)),
                    .metric = std::string{key.substr(first + 1, key.size() - first - 4)}};
    return found.statistic.is_known() && !found.metric.empty() ? std::optional{found} : std::nullopt;
}

/// Seconds that --save-detailed writes for every request, or for every token of it; false where there are none.
bool take_samples(json const& whole, std::string const& metric, ReportKeys& report, SampleBuilder& samples) {
    json const& list = report.member(whole, metric + "s");
    if (!list.is_array() || list.empty()) { return false; }
    json const& errors = report.member(whole, "errors");
    auto const take = [&](json const& value) {
        if (value.is_number()) {
            samples.take(value.get<double>(), 0);
        } else {
            samples.leave_out(SampleIssue::text, 0, 1, value.dump());
        }
    };
    for (std::size_t i = 0; i < list.size(); ++i) {
        bool const failed = errors.is_array() && i < errors.size() && errors[i].is_string() && errors[i] != "";
        if (failed) { // it has a time of zero
            samples.leave_out(SampleIssue::failed, 0, 1, errors[i].get<std::string>());
        } else if (list[i].is_array()) {
            std::ranges::for_each(list[i], take);
        } else {
            take(list[i]);
        }
    }
    return true;
}

void state_metrics(json const& whole, std::string const& metric, ReportKeys& report, SampleBuilder& samples) {
    for (auto const& [key, value] : whole.items()) {
        auto const one = metric_key(key);
        if (!one || one->metric != metric) { continue; }
        if (one->statistic.is_mean) { report.mean(whole, key); }
        if (one->statistic.share) { report.quantile(whole, key, *one->statistic.share); }
        if (one->statistic.is_deviation) { report.known(whole, key); }
    }
    samples.found().stated_count = report.count(whole, "completed");
}

/// False where it holds quantiles alone.
bool read_json(std::string const& text, SampleBuilder& samples) {
    auto const whole = parse_report(text, samples);
    ReportKeys report{whole, samples};
    std::vector<std::string> metrics;
    std::uint64_t others = 0;
    for (auto const& [key, value] : whole.items()) {
        auto const one = metric_key(key);
        if (one && std::ranges::find(metrics, one->metric) == metrics.end()) { metrics.push_back(one->metric); }
    }
    std::string const metric = metrics.at(chosen_metric(metrics, samples));
    samples.found().column = metric;
    bool const all = take_samples(whole, metric, report, samples);
    state_metrics(whole, metric, report, samples);
    for (auto const& [key, value] : whole.items()) {
        auto const one = metric_key(key);
        if (!one) { continue; }
        others += one->metric != metric ? 1 : 0;
        report.known(whole, key);
    }
    if (others > 0) { samples.leave_out(SampleIssue::other_metric, 0, others); }
    auto const failed = report.count(whole, "failed");
    if (failed > 0 && !all) { samples.leave_out(SampleIssue::failed, 0, failed); }
    report.known(whole, "date backend endpoint_type label model_id tokenizer_id best_of use_beam_search num_prompts "
                        "request_rate burstiness max_concurrency duration completed total_input_tokens "
                        "total_output_tokens request_throughput request_goodput request_goodput: output_throughput "
                        "input_throughput total_throughput total_token_throughput max_output_tokens_per_s "
                        "max_concurrent_requests input_lens output_lens ttfts itls generated_texts errors concurrency "
                        "accept_length dataset_name total_output_tokens_retokenized random_input_len "
                        "random_output_len random_range_ratio sharegpt_output_len start_times");
    report.finish();
    return all;
}

} // namespace

bool looks_like_vllm(std::string_view head) {
    if (trimmed_line(head.substr(0, 8)).starts_with('{')) {
        return has(head, "\"completed\"") && has(head, "\"request_throughput\"") && has(head, "\"output_throughput\"");
    }
    return has(head, "Serving Benchmark Result") && has(head, "Successful requests:");
}

namespace {

/// Blanks out what the program prints on its way, where lines of the report stand, too; the lines are counted.
void leave_out_lines_before(std::string& text, SampleBuilder& samples) {
    std::size_t const title = text.rfind('\n', text.find("Serving Benchmark Result"));
    if (title == std::string::npos) { return; }
    std::uint64_t number = 0, first = 0, count = 0;
    std::string example;
    for (std::size_t begin = 0; begin < title;) {
        std::size_t const end = std::min(text.find('\n', begin), title);
        std::string const line{trimmed_line(std::string_view{text}.substr(begin, end - begin))};
        ++number;
        if (!line.empty() && count++ == 0) { first = number, example = line; }
        text.replace(begin, end - begin, end - begin, ' ');
        begin = end + 1;
    }
    if (count > 0) { samples.leave_out(SampleIssue::unused_line, first, count, example); }
}

} // namespace

void read_vllm(HeadSource& source, SampleBuilder& samples) {
    std::string text = whole_report(source, samples);
    samples.set_unit(*time_unit("ms"), "format");
    bool all = false;
    if (trimmed_line(std::string_view{text}.substr(0, 8)).starts_with('{')) {
        all = read_json(text, samples);
    } else {
        leave_out_lines_before(text, samples);
        read_text(text, samples);
    }
    samples.note(all ? "a report of a serving benchmark: times of its requests"
                     : "a report of a serving benchmark: quantiles without their samples (vllm bench serve "
                       "--save-result --save-detailed writes them)");
}

} // namespace headroom::io
