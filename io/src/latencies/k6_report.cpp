#include "latencies/json_report.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/report_lines.hpp"
#include "tables/cell_text.hpp"

namespace headroom::io {
namespace {

constexpr std::string_view metric = "http_req_duration";

/// "avg=117.55ms min=104ms med=115ms max=150ms p(90)=130ms"
void read_values(std::string_view text, std::uint64_t number, SampleBuilder& samples) {
    while (!text.empty()) {
        std::string_view const word = next_word(text);
        std::size_t const equals = word.find('=');
        if (equals == std::string_view::npos) { continue; }
        auto const seconds = printed_duration(word.substr(equals + 1));
        std::string_view const name = word.substr(0, equals);
        if (name == "avg") {
            samples.found().stated_mean = seconds.value_or(0.0);
        } else if (auto const share = share_of(name)) {
            state_quantile(samples, *share, seconds, number);
        }
    }
}

/// A name, dots, a colon and the rest: "http_reqs......: 60 1.9/s"; empty for another name.
std::optional<std::string_view> behind_dots(std::string_view line, std::string_view name) {
    auto rest = behind(line, name);
    if (!rest || !rest->starts_with('.')) { return std::nullopt; }
    rest->remove_prefix(std::min(rest->find_first_not_of('.'), rest->size()));
    if (!rest->starts_with(':')) { return std::nullopt; }
    return trimmed_line(rest->substr(1));
}

void read_text(std::string_view text, SampleBuilder& samples) {
    TextLines lines{text};
    for (std::string_view line; lines.next(line);) {
        std::size_t const name = std::min(line.find("http_req"), line.size()); // behind a mark of success
        line.remove_prefix(name);
        if (auto const values = behind_dots(line, metric)) {
            read_values(*values, lines.number(), samples);
        } else if (auto const requests = behind_dots(line, "http_reqs")) {
            samples.found().stated_count = leading_count(*requests).value_or(0);
        } else if (auto const failed = behind_dots(line, "http_req_failed")) {
            std::string_view rest = *failed;
            if (share_of(next_word(rest)).value_or(0.0) > 0.0) {
                samples.note("failed requests are among the times of the report");
            }
        }
    }
}

void read_json(std::string const& text, SampleBuilder& samples) {
    auto const report = parse_report(text, samples);
    if (!report.contains("metrics") || !report["metrics"].is_object()) { return; }
    auto const& metrics = report["metrics"];
    // Values stand in an object of their own, or beside what is said of the metric.
    auto const values_of = [&](std::string const& name) {
        auto const one = metrics.find(name);
        if (one == metrics.end() || !one->is_object()) { return nlohmann::json::object(); }
        return one->contains("values") ? (*one)["values"] : *one;
    };
    state_quantiles(values_of(std::string{metric}), "avg", samples);
    samples.found().stated_count = count_in(values_of("http_reqs"), "count").value_or(0);
    auto const failed = values_of("http_req_failed");
    if (number_in(failed, "rate").value_or(number_in(failed, "value").value_or(0.0)) > 0.0) {
        samples.note("failed requests are among the times of the report");
    }
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
    std::string_view const begin = text;
    if (begin.substr(std::min(begin.find_first_not_of(" \t\r\n"), begin.size())).starts_with('{')) {
        read_json(text, samples);
    } else {
        read_text(text, samples);
    }
}

} // namespace headroom::io
