#include "latencies/json_report.hpp"
#include "latencies/latency_formats.hpp"
#include "tables/cell_text.hpp"

#include <fmt/format.h>

#include <set>

namespace headroom::io {
namespace {

using nlohmann::json;

std::string text_in(json const& object, std::string const& key) {
    auto const at = object.find(key);
    return at != object.end() && at->is_string() ? at->get<std::string>() : std::string{};
}

bool is_wanted(json const& run, LatencyQuestion const& question) {
    for (auto const& [key, wanted] : question.where) {
        auto const at = run.find(key);
        if (at == run.end()) { return false; }
        if ((at->is_string() ? at->get<std::string>() : at->dump()) != wanted) { return false; }
    }
    return true;
}

} // namespace

bool looks_like_google_benchmark(std::string_view head) {
    return trimmed_line(head.substr(0, 8)).starts_with('{') && head.find("\"context\"") != std::string_view::npos &&
           head.find("\"benchmarks\"") != std::string_view::npos;
}

void read_google_benchmark(HeadSource& source, SampleBuilder& samples) {
    std::string const text = whole_report(source, samples);
    json const report = parse_report(text, samples);
    LatencyQuestion const& question = samples.question();
    std::string const column = question.column.empty() ? "real_time" : question.column;
    samples.found().column = column;
    std::set<std::string> names;
    std::uint64_t number = 0;
    auto const runs = report.find("benchmarks");
    if (runs == report.end() || !runs->is_array()) { return; }
    for (json const& run : *runs) {
        ++number;
        if (!run.is_object() || text_in(run, "run_type") == "aggregate" || !is_wanted(run, question)) { continue; }
        if (run.contains("error_occurred") && run["error_occurred"] == true) {
            samples.leave_out(SampleIssue::failed, number);
            continue;
        }
        auto const unit = time_unit(text_in(run, "time_unit"));
        samples.set_unit(unit.value_or(*time_unit("ns")), "format");
        auto const value = number_in(run, column);
        if (!value) {
            samples.leave_out(SampleIssue::no_column, number);
            continue;
        }
        names.insert(text_in(run, "name"));
        samples.take(samples.unit().base(*value), number);
    }
    samples.found().rows = number;
    samples.note("Google Benchmark: a sample is the mean of the iterations of a repetition; rows are its runs");
    if (names.size() > 1) {
        samples.note(fmt::format("{} benchmarks are taken together (--where name=NAME)", names.size()));
    }
}

} // namespace headroom::io
