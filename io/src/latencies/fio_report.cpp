#include "latencies/bucketed_samples.hpp"
#include "latencies/json_report.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/report_lines.hpp"
#include "records/record.hpp"

#include "headroom/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

namespace headroom::io {
namespace {

using nlohmann::json;

/// Transfers of one job in one direction.
struct Transfers {
    std::string job, direction;
    json const* figures;
};

/// Times that fio states, in the order in which they are taken: completion, all, submission. Until 2.x in microseconds.
struct FioTime {
    std::string_view key, unit;
};
constexpr std::array fio_times{FioTime{"clat_ns", "ns"}, FioTime{"lat_ns", "ns"}, FioTime{"slat_ns", "ns"},
                               FioTime{"clat", "us"},    FioTime{"lat", "us"},    FioTime{"slat", "us"}};

std::uint64_t transfers_in(json const& figures) {
    for (FioTime const& time : fio_times) {
        auto const one = figures.find(std::string{time.key});
        auto const count = one != figures.end() ? count_in(*one, "N") : std::nullopt;
        if (count && *count > 0) { return *count; }
    }
    return count_in(figures, "total_ios").value_or(0);
}

std::vector<Transfers> all_transfers(ReportKeys& report, json const& whole) {
    std::vector<Transfers> all;
    for (char const* const list : {"jobs", "client_stats"}) {
        json const& jobs = report.member(whole, list);
        if (!jobs.is_array()) { continue; }
        for (json const& job : jobs) {
            auto const name = job.is_object() ? job.find("jobname") : job.end();
            for (char const* const direction : {"read", "write", "trim"}) {
                json const& figures = report.member(job, direction);
                bool const any = figures.is_object() && transfers_in(figures) > 0;
                bool const named = any && name != job.end() && name->is_string();
                if (any) { all.push_back({named ? name->get<std::string>() : "", direction, &figures}); }
            }
        }
    }
    return all;
}

bool is_wanted(Transfers const& one, SampleBuilder& samples) {
    return std::ranges::all_of(samples.question().where, [&](auto const& condition) {
        bool const job = condition.first == "jobname" || condition.first == "job";
        if (!job && condition.first != "direction") {
            refuse("--where", "no column " + headroom::quoted(condition.first) + " in a report of fio",
                   "jobname or direction", "write it like --where direction=read");
        }
        return condition.second == (job ? one.job : one.direction);
    });
}

/// The only transfers, or those that `where` chooses. The others are counted.
Transfers const& chosen_transfers(std::vector<Transfers> const& all, SampleBuilder& samples) {
    std::vector<Transfers const*> wanted;
    std::vector<std::string> names;
    for (Transfers const& one : all) {
        names.push_back(fmt::format("jobname={} direction={}", one.job, one.direction));
        if (is_wanted(one, samples)) { wanted.push_back(&one); }
    }
    if (all.empty()) { unreadable_error(samples.where(), "no transfers", "fio states no read, write or trim"); }
    if (wanted.size() != 1) {
        refuse(samples.where(), fmt::format("{} distributions in this file", wanted.size()), one_of(names),
               "choose one with --where, or run fio with --group_reporting");
    }
    if (all.size() > 1) { samples.leave_out(SampleIssue::other_metric, 0, all.size() - 1); }
    return *wanted.front();
}

/// The time that `--column` names, else the first with percentiles, else the first.
FioTime const& chosen_time(json const& figures, SampleBuilder& samples) {
    std::vector<FioTime const*> stated;
    for (FioTime const& time : fio_times) {
        auto const at = figures.find(std::string{time.key});
        if (at != figures.end() && at->is_object()) { stated.push_back(&time); }
    }
    std::string const& asked = samples.question().column;
    auto const named = std::ranges::find(stated, asked, [](FioTime const* time) { return time->key; });
    if (!asked.empty() && named != stated.end()) { return **named; }
    if (!asked.empty() || stated.empty()) {
        refuse(samples.where(),
               asked.empty() ? "no latencies in this report of fio" : "no column " + headroom::quoted(asked),
               "a report of fio has clat_ns, lat_ns and slat_ns", "write it like --column clat_ns");
    }
    auto const spread = std::ranges::find_if(
        stated, [&](FioTime const* time) { return figures[std::string{time->key}].contains("percentile"); });
    return spread != stated.end() ? **spread : *stated.front();
}

/// Ends of the cell of a value that fio prints for it: the value itself below 128, else the middle of one of 64 cells of a
/// power of two.
/// Source: [Fio] plat_idx_to_val
std::pair<std::uint64_t, std::uint64_t> cell_of(std::uint64_t value) {
    constexpr int exact_bits = 7;
    int const bits = static_cast<int>(std::bit_width(value)) - exact_bits;
    if (bits <= 0) { return {value, value + 1}; }
    std::uint64_t const half = std::uint64_t{1} << static_cast<unsigned>(bits - 1);
    return {value - half, value + half};
}

/// The cells that --output-format=json+ writes: false where there are none.
bool take_cells(json const& cells, SampleBuilder& samples) {
    if (!cells.is_object() || cells.empty()) { return false; }
    std::vector<std::pair<std::uint64_t, std::uint64_t>> counts;
    for (auto const& [value, count] : cells.items()) {
        auto const at = leading_count(value), number = count_in(cells, value);
        if (!at || !number || std::to_string(*at) != value) {
            samples.leave_out(SampleIssue::text, 0, 1, value + ": " + count.dump());
        } else {
            counts.emplace_back(*at, *number);
        }
    }
    std::ranges::sort(counts);
    BucketedSamples buckets;
    for (auto const& [value, count] : counts) {
        auto const [start, end] = cell_of(value);
        auto const seconds = [&](std::uint64_t at) { return samples.unit().base(static_cast<double>(at)); };
        if (!buckets.add(seconds(start), seconds(end), count)) { samples.leave_out(SampleIssue::text, 0); }
    }
    auto const stated = samples.found().stated_count;
    if (buckets.count() != stated) {
        count_issue(samples.found().issues,
                    Issue{.kind = "sample by which the buckets differ from their stated count",
                          .count = std::max(stated, buckets.count()) - std::min(stated, buckets.count()),
                          .kept = true});
    }
    buckets.finish(samples);
    return true;
}

/// fio 2 fills its list of percentiles with zeros up to its length.
bool is_filling(std::string const& percent, json const& value) {
    return share_of(percent) == 0.0 && value.is_number() && value == 0;
}

} // namespace

bool looks_like_fio(std::string_view head) {
    return head.find("\"fio version\"") != std::string_view::npos &&
           trimmed_line(head.substr(0, head.find('"'))).ends_with('{');
}

void read_fio(HeadSource& source, SampleBuilder& samples) {
    std::string text = whole_report(source, samples);
    for (std::uint64_t line = 1; text.find('{') != 0; ++line) { // warnings that fio prints before
        auto const end = text.find('\n');
        if (end == std::string::npos) { break; }
        std::string_view const before = trimmed_line(std::string_view{text}.substr(0, end));
        if (!before.empty()) { samples.leave_out(SampleIssue::unused_line, line, 1, before); }
        text.erase(0, end + 1);
    }
    auto const whole = parse_report(text, samples);
    ReportKeys report{whole, samples};
    Transfers const chosen = chosen_transfers(all_transfers(report, whole), samples);
    json const& figures = *chosen.figures;
    FioTime const& time = chosen_time(figures, samples);
    samples.set_unit(*time_unit(time.unit), "format");
    samples.found().column = time.key;
    json const& latency = report.object(figures, std::string{time.key});
    report.mean(latency, "mean");
    report.quantile(latency, "min", 0.0);
    report.quantile(latency, "max", 1.0);
    json const& percentiles = report.member(latency, "percentile");
    for (auto const& [percent, value] : report.members(percentiles)) {
        if (auto const share = share_of(percent); share && !is_filling(percent, value)) {
            report.quantile(percentiles, percent, *share);
        } else if (!share) {
            samples.leave_out(SampleIssue::text, 0, 1, percent);
        }
    }
    static_cast<void>(report.member(latency, "N"));
    samples.found().stated_count = transfers_in(figures);
    bool const cells = take_cells(report.member(latency, "bins"), samples);
    report.known(latency, "stddev");
    report.known(whole, "timestamp timestamp_ms time disk_util");
    for (char const* const key : {"fio version", "global options"}) { static_cast<void>(report.member(whole, key)); }
    report.finish();
    samples.note(fmt::format("a report of fio: {} of {} in {}, {}", time.key, chosen.direction,
                             headroom::quoted(chosen.job),
                             cells ? "samples of a cell are spread over it evenly"
                                   : "quantiles without their samples (fio --output-format=json+ writes a histogram)"));
}

} // namespace headroom::io
