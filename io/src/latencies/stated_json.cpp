// JSON of tools that are known by keys which they alone write.
#include "latencies/json_report.hpp"
#include "latencies/metric_choice.hpp"
#include "latencies/report_lines.hpp"
#include "latencies/stated_report.hpp"
#include "records/record.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace headroom::io {
namespace {

using nlohmann::json;

json const& at(json const& object, std::string const& key) {
    static json const none;
    auto const found = object.is_object() ? object.find(key) : object.end();
    return object.is_object() && found != object.end() ? *found : none;
}

void failed(SampleBuilder& samples, std::uint64_t count, std::string_view why = {}) {
    if (count > 0) { samples.leave_out(SampleIssue::failed, 0, count, why); }
}

/// Keys that end a report of which the figures are read.
void know_others(ReportKeys& report, json const& object) {
    for (auto const& [key, value] : object.items()) { static_cast<void>(report.member(object, key)); }
}

std::string text_in(json const& object, std::string const& key) {
    json const& value = at(object, key);
    return value.is_string() ? value.get<std::string>() : std::string{};
}

/// Takes a list of seconds, of which those with a mark of failure are left out.
void take_list(json const& list, json const& exit_codes, SampleBuilder& samples) {
    for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) {
        bool const bad = exit_codes.is_array() && i < exit_codes.size() && exit_codes[i] != 0;
        if (bad) {
            failed(samples, 1, "exit code " + exit_codes[i].dump());
        } else if (list[i].is_number()) {
            samples.take(samples.unit().base(list[i].get<double>()), 0);
        } else {
            samples.leave_out(SampleIssue::text, 0, 1, list[i].dump());
        }
    }
}

[[noreturn]] void refuse_report(SampleBuilder const& samples, std::string problem, std::string hint) {
    unreadable_error(samples.where(), std::move(problem), {}, std::move(hint));
}

/// The element of a list whose `name` is asked for, or the only one.
json const& chosen_element(json const& list, std::string const& name, SampleBuilder& samples) {
    if (!list.is_array()) { refuse_report(samples, "no list of runs in this report", {}); }
    std::vector<std::string> names;
    for (json const& one : list) { names.push_back(text_in(one, name)); }
    std::size_t const place = chosen_metric(names, samples);
    samples.found().column = names[place];
    if (list.size() > 1) { samples.leave_out(SampleIssue::other_metric, 0, list.size() - 1); }
    return list[place];
}

} // namespace

/// "results_ttft_s_quantiles_p50", "results_ttft_s_mean".
void read_llmperf_json(json const& whole, SampleBuilder& samples) {
    ReportKeys report{whole, samples};
    constexpr std::string_view start = "results_", end = "_quantiles_p50";
    std::vector<std::string> names;
    for (auto const& [key, value] : whole.items()) {
        if (!key.starts_with(start) || !key.ends_with(end)) { continue; }
        std::string const name = key.substr(start.size(), key.size() - start.size() - end.size());
        if (name.ends_with("_s") && !name.ends_with("_per_s")) { names.push_back(name); }
    }
    std::string const name = names.at(chosen_metric(names, samples));
    samples.set_unit(*time_unit("s"), "format");
    samples.found().column = name;
    std::string const head = std::string{start} + name + "_";
    for (auto const& [key, value] : whole.items()) {
        if (!key.starts_with(head)) { continue; }
        std::string_view const word = std::string_view{key}.substr(head.size());
        bool const quantile = word.starts_with("quantiles_");
        Statistic const statistic = statistic_of(quantile ? word.substr(10) : word);
        if (statistic.share) { report.quantile(whole, key, *statistic.share); }
        if (statistic.is_mean) { report.mean(whole, key); }
        if (!statistic.is_known()) { refuse_report(samples, "an unknown statistic " + headroom::quoted(key), {}); }
    }
    samples.found().stated_count = report.count(whole, "results_num_completed_requests");
    failed(samples, report.count(whole, "results_number_errors"));
    if (names.size() > 1) { samples.leave_out(SampleIssue::other_metric, 0, names.size() - 1); }
}

void read_guidellm_json(json const& whole, SampleBuilder& samples) {
    json const& benchmarks = at(whole, "benchmarks");
    if (!benchmarks.is_array() || benchmarks.size() != 1) {
        refuse_report(samples, fmt::format("{} benchmarks in this file", benchmarks.size()),
                      "give each in a file of its own");
    }
    json const& metrics = at(benchmarks[0], "metrics");
    std::vector<std::string> names;
    for (auto const& [key, value] : metrics.items()) {
        bool const time = key.ends_with("_ms") || key == "request_latency";
        if (time && at(at(value, "successful"), "percentiles").is_object()) { names.push_back(key); }
    }
    std::string const name = names.at(chosen_metric(names, samples));
    samples.set_unit(*time_unit(name.ends_with("_ms") ? "ms" : "s"), "format");
    samples.found().column = name;
    ReportKeys report{whole, samples};
    json const& times = at(metrics, name);
    json const& good = report.object(times, "successful");
    report.mean(good, "mean");
    report.quantile(good, "median", 0.5);
    report.quantile(good, "min", 0.0);
    report.quantile(good, "max", 1.0);
    json const& percentiles = at(good, "percentiles");
    for (auto const& [key, value] : percentiles.items()) { // "p05", "p999"
        auto const share = key.starts_with('p') ? decimal_number("0." + key.substr(1)) : std::nullopt;
        if (share && key.size() > 2) { report.quantile(percentiles, key, *share); }
    }
    samples.found().stated_count = report.count(good, "count");
    json const& latency = at(metrics, "request_latency");
    failed(samples, report.count(at(latency, "errored"), "count"), "errored");
    failed(samples, report.count(at(latency, "incomplete"), "count"), "incomplete");
    report.known(good, "mode variance std_dev total_sum percentiles pdf cumulative_distribution_function");
    report.known(whole, "metadata args benchmarks type_");
    if (names.size() > 1) { samples.leave_out(SampleIssue::other_metric, 0, names.size() - 1); }
    report.finish();
}

/// Seconds of each repetition, with their mean, which must be theirs.
void read_vllm_latency_json(json const& whole, SampleBuilder& samples) {
    json const &times = at(whole, "latencies"), &mean = at(whole, "avg_latency"), &shares = at(whole, "percentiles");
    bool known = whole.size() == 3 && times.is_array() && !times.empty() && mean.is_number() && shares.is_object();
    for (char const* const share : {"10", "25", "50", "75", "90", "99"}) { known = known && shares.contains(share); }
    double sum = 0.0;
    for (std::size_t i = 0; known && i < times.size(); ++i) {
        known = times[i].is_number();
        sum += known ? times[i].get<double>() : 0.0;
    }
    constexpr double rounding = 1e-6;
    double const stated = known ? mean.get<double>() * static_cast<double>(times.size()) : 0.0;
    if (!known || std::abs(stated - sum) > rounding * sum) {
        refuse_report(samples, "no report of vllm bench latency", "name the values: --format-of jsonl --column NAME");
    }
    samples.set_unit(*time_unit("s"), "format");
    samples.found().column = "latencies";
    take_list(times, {}, samples);
}

void read_artillery_json(json const& whole, SampleBuilder& samples) {
    constexpr char const* name = "http.response_time";
    samples.set_unit(*time_unit("ms"), "format");
    samples.found().column = name;
    ReportKeys report{whole, samples};
    json const& aggregate = report.object(whole, "aggregate");
    json const& times = report.object(at(aggregate, "summaries"), name);
    report.mean(times, "mean");
    report.quantiles(times);
    samples.found().stated_count = report.count(times, "count");
    json const& counters = at(aggregate, "counters");
    for (auto const& [key, value] : counters.items()) {
        constexpr std::string_view code = "http.codes.";
        std::uint64_t const count = count_in(counters, key).value_or(0);
        if (key.starts_with("errors.")) { failed(samples, count, key); }
        if (key.starts_with(code)) { count_status(samples, std::string_view{key}.substr(code.size()), count); }
    }
    know_others(report, aggregate);
    report.known(whole, "intermediate");
    report.finish();
}

/// stats.json and global_stats.json; the figures of requests that succeeded.
void read_gatling_json(json const& whole, SampleBuilder& samples) {
    json const& stats = at(whole, "stats").is_object() ? at(whole, "stats") : whole;
    samples.set_unit(*time_unit("ms"), "format");
    samples.found().column = text_in(stats, "name");
    ReportKeys report{whole, samples};
    auto const good = [&](char const* key) -> json const& { return report.object(stats, key); };
    report.mean(good("meanResponseTime"), "ok");
    report.quantile(good("minResponseTime"), "ok", 0.0);
    report.quantile(good("maxResponseTime"), "ok", 1.0);
    report.quantile(good("percentiles1"), "ok", 0.5);
    report.quantile(good("percentiles2"), "ok", 0.75);
    report.quantile(good("percentiles3"), "ok", 0.95);
    report.quantile(good("percentiles4"), "ok", 0.99);
    json const& requests = at(stats, "numberOfRequests");
    samples.found().stated_count = report.count(requests, "ok");
    failed(samples, report.count(requests, "ko"));
    samples.note("Gatling: percentiles1 to 4 are taken for p50, p75, p95 and p99, which is their default");
}

void read_hyperfine_json(json const& whole, SampleBuilder& samples) {
    json const& one = chosen_element(at(whole, "results"), "command", samples);
    samples.set_unit(*time_unit("s"), "format");
    take_list(at(one, "times"), at(one, "exit_codes"), samples);
}

void read_pytest_json(json const& whole, SampleBuilder& samples) {
    json const& one = chosen_element(at(whole, "benchmarks"), "name", samples);
    json const& stats = at(one, "stats");
    samples.set_unit(*time_unit("s"), "format");
    if (auto const calls = number_in(stats, "iterations"); calls && *calls > 1.0) {
        refuse_report(samples, fmt::format("each time is the mean of {:.0f} calls", *calls),
                      "measure single calls: benchmark.pedantic(..., iterations=1)");
    }
    if (at(stats, "data").is_array()) { return take_list(at(stats, "data"), {}, samples); }
    ReportKeys report{whole, samples};
    report.mean(stats, "mean");
    report.quantile(stats, "min", 0.0);
    report.quantile(stats, "q1", 0.25);
    report.quantile(stats, "median", 0.5);
    report.quantile(stats, "q3", 0.75);
    report.quantile(stats, "max", 1.0);
    samples.found().stated_count = report.count(stats, "rounds");
}

} // namespace headroom::io
