#include "latencies/json_report.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/report_lines.hpp"
#include "tables/cell_text.hpp"

#include <cmath>
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

/// "Latencies [min, mean, 50, max]  1ms, 2ms, 3ms, 4ms": what is named between brackets, and its values.
struct NamedValues {
    std::vector<std::string_view> names, values;
};
std::optional<NamedValues> named_values(std::string_view line, std::string_view word) {
    auto const rest = behind(line, word);
    if (!rest || !rest->starts_with('[')) { return std::nullopt; }
    std::size_t const close = rest->find(']');
    if (close == std::string_view::npos) { return std::nullopt; }
    return NamedValues{parts_of(rest->substr(1, close - 1)), parts_of(rest->substr(close + 1))};
}

void read_latencies(NamedValues const& row, std::uint64_t number, SampleBuilder& samples) {
    for (std::size_t i = 0; i < row.names.size() && i < row.values.size(); ++i) {
        auto const seconds = printed_duration(row.values[i]);
        if (row.names[i] == "mean") {
            samples.found().stated_mean = seconds.value_or(0.0);
        } else if (auto const share = share_of(row.names[i])) {
            state_quantile(samples, *share, seconds, number);
        }
    }
}

/// Requests that failed, of a share of success; they are among the times.
void tell_failed(double success, SampleBuilder& samples) {
    if (success < 1.0 && success >= 0.0) {
        samples.note("failed requests are among the times of the report (vegeta encode writes them one by one)");
    }
}

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
    if (std::string_view const begin = text; begin.substr(begin.find_first_not_of(" \t\r\n")).starts_with('{')) {
        auto const report = parse_report(text, samples);
        if (report.contains("latencies")) { state_quantiles(report["latencies"], "mean", samples); }
        samples.found().stated_count = count_in(report, "requests").value_or(0);
        if (auto const rate = number_in(report, "rate"); rate && *rate > 0.0) {
            samples.found().expected_interval = 1.0 / *rate;
        }
        return tell_failed(number_in(report, "success").value_or(1.0), samples);
    }
    TextLines lines{text};
    for (std::string_view line; lines.next(line);) {
        if (auto const latencies = named_values(line, "Latencies")) {
            read_latencies(*latencies, lines.number(), samples);
        } else if (auto const requests = named_values(line, "Requests")) {
            samples.found().stated_count = leading_count(requests->values.front()).value_or(0);
            auto const rate = requests->values.size() > 1 ? decimal_number(requests->values[1]) : std::nullopt;
            if (rate && *rate > 0.0) { samples.found().expected_interval = 1.0 / *rate; }
        } else if (auto const success = named_values(line, "Success")) {
            tell_failed(share_of(success->values.front()).value_or(1.0), samples);
        }
    }
}

} // namespace headroom::io
