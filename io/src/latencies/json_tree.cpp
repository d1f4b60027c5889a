#include "latencies/json_report.hpp"
#include "latencies/latency_formats.hpp"
#include "latencies/metric_report.hpp"
#include "latencies/report_lines.hpp"
#include "latencies/sample_columns.hpp"
#include "records/record.hpp"
#include "tables/failed_rows.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom::io {
namespace {

using nlohmann::json;

bool is_list_of_numbers(json const& value) {
    return value.is_array() && !value.empty() &&
           std::ranges::all_of(value, [](json const& one) { return one.is_number(); });
}

std::string joined(std::string const& path, std::string const& key) { return path.empty() ? key : path + "." + key; }

/// Takes statistics and samples out of a document, wherever they stand.
class TreeReader {
public:
    TreeReader(MetricReport& report, SampleBuilder& samples) : report_{report}, samples_{samples} {}

    void walk(json const& value, std::string const& path, bool listed) {
        if (value.is_array()) {
            for (json const& one : value) { walk(one, path, true); }
        } else if (value.is_object()) {
            object(value, path, listed);
        }
    }

private:
    void object(json const& value, std::string const& path, bool listed) {
        if (value.contains("successful") && value["successful"].is_object()) { // those that failed stand next to it
            return walk(value["successful"], path, listed);
        }
        if (listed && has_failed(value)) { return samples_.leave_out(SampleIssue::failed, 0); }
        span(value, path);
        auto const unit = value.find("unit");
        std::optional<CellUnit> const stated =
            unit != value.end() && unit->is_string() ? time_unit(unit->get_ref<std::string const&>()) : std::nullopt;
        for (auto const& [key, member] : value.items()) {
            if (member.is_number()) {
                number(path, key, member.get<double>(), stated, listed);
            } else if (is_list_of_numbers(member) ||
                       (member.is_array() && !member.empty() && std::ranges::all_of(member, is_list_of_numbers))) {
                list(path, key, member);
            } else {
                FigureName const name = figure_name(key);
                bool const title = name.metric.empty() && !name.is_known() && !name.is_other &&
                                   !name.is_rate; // "percentiles", "summary"
                bool const before = percentiles_;
                auto const outer = unit_;
                if (title && stated) { unit_ = stated; }
                percentiles_ =
                    title && (key.find("ercentile") != std::string::npos || key.find("uantile") != std::string::npos);
                walk(member, title ? path : joined(path, key), listed);
                percentiles_ = before;
                unit_ = outer;
            }
        }
    }

    void number(std::string const& path, std::string const& key, double value, std::optional<CellUnit> const& stated,
                bool listed) {
        FigureName name = figure_name(key);
        if (figure_name(last_part(path)).is_rate) { return; }
        if (auto const share = percentiles_ ? share_of_number(key) : std::nullopt) {
            name = {.metric = {}, .share = share, .unit = {}};
        }
        if (name.is_known()) {
            ReportMetric& metric = report_.metric(name.metric.empty() ? path : joined(path, name.metric));
            if (!metric.unit) { metric.unit = stated ? stated : name.unit ? name.unit : unit_ ? unit_ : unit_of(path); }
            return report_.add(metric, name, {.value = value});
        }
        if (listed && !name.is_other && !name.is_rate) { sample(path, key, value); }
    }

    /// "50" and "99.0" of an object of percentiles.
    static std::optional<double> share_of_number(std::string const& key) {
        auto const percent = decimal_number(key);
        return percent && *percent > 0.0 && *percent < 100.0 ? std::optional{*percent / 100.0} : std::nullopt;
    }

    static std::optional<CellUnit> unit_of(std::string const& path) { return figure_name(last_part(path)).unit; }

    /// A time of one of many objects.
    void sample(std::string const& path, std::string const& key, double value) {
        if (spans_ && key == "duration") { return add(joined(path, key), time_unit("us"), value); } // Jaeger, Zipkin
        ColumnMatch const match = value_column({key}, samples_.where());
        if (match.found()) { add(joined(path, key), match.unit, value); }
    }

    void list(std::string const& path, std::string const& key, json const& values) {
        ColumnMatch match = value_column({key}, samples_.where());
        std::string one = key; // "ttfts", "times"
        if (!match.found() && one.ends_with('s')) {
            one.pop_back();
            match = value_column({one}, samples_.where());
        }
        bool const plain = one == "time" || key == "data" || key == "itls";
        if (!match.found() && !plain) { return; }
        std::string const name = joined(path, key);
        ++report_.metric(name).lists;
        for (json const& value : values) {
            if (value.is_number()) { add(name, match.unit, value.get<double>()); }
            for (json const& each : value.is_array() ? value : json::array()) {
                add(name, match.unit, each.get<double>());
            }
        }
    }

    void add(std::string const& name, std::optional<CellUnit> const& unit, double value) {
        ReportMetric& metric = report_.metric(name);
        metric.unit = unit;
        metric.samples.push_back(value);
    }

    /// Spans of OpenTelemetry, in nanoseconds; those of Jaeger state a duration in microseconds.
    void span(json const& value, std::string const& path) {
        spans_ = value.contains("duration") && (value.contains("operationName") || value.contains("traceId"));
        auto const start = value.find("startTimeUnixNano"), end = value.find("endTimeUnixNano");
        if (start == value.end() || end == value.end()) { return; }
        auto const nanos = [](json const& time) -> std::optional<std::int64_t> {
            if (time.is_number_integer()) { return time.get<std::int64_t>(); }
            if (!time.is_string()) { return std::nullopt; }
            auto const& text = time.get_ref<std::string const&>();
            constexpr std::size_t digits = 18; // of 64 bits
            bool const whole = !text.empty() && text.size() <= digits + 1 &&
                               text.find_first_not_of("0123456789") == std::string::npos &&
                               text < "9223372036854775807";
            return whole ? std::optional{static_cast<std::int64_t>(std::stoull(text))} : std::nullopt;
        };
        auto const from = nanos(*start), to = nanos(*end);
        if (!from || !to || *from < 0 || *to < 0) { return samples_.leave_out(SampleIssue::no_time, 0); }
        add(joined(path, "duration"), time_unit("ns"), static_cast<double>(*to - *from));
    }

    [[nodiscard]] bool has_failed(json const& value) {
        if (samples_.question().keep_failed) { return false; }
        std::vector<std::string> names;
        for (auto const& [key, member] : value.items()) { names.push_back(key); }
        if (names != names_) {
            names_ = names;
            outcomes_ = outcome_columns(names);
        }
        return std::ranges::any_of(outcomes_, [&](OutcomeColumn const& one) {
            json const& cell = value[names[static_cast<std::size_t>(one.column)]];
            if (!cell.is_primitive() || cell.is_null()) { return false; }
            return one.failed(cell.is_string() ? cell.get<std::string>() : cell.dump());
        });
    }

    MetricReport& report_;
    SampleBuilder& samples_;
    static std::string_view last_part(std::string_view path) { return path.substr(path.rfind('.') + 1); }

    bool spans_ = false, percentiles_ = false;
    std::optional<CellUnit> unit_;   ///< of the object around percentiles
    std::vector<std::string> names_; ///< keys of the object before, and those of them that say whether it failed
    std::vector<OutcomeColumn> outcomes_;
};

} // namespace

bool looks_like_json_tree(std::string_view head) {
    if (!trimmed_line(head).starts_with('{')) { return false; }
    std::size_t lines = 0, objects = 0;
    for (std::string_view rest = head; !rest.empty();) {
        std::size_t const end = std::min(rest.find('\n'), rest.size());
        std::string_view const line = rest.substr(0, end);
        lines += trimmed_line(line).empty() ? 0 : 1;
        objects += line.starts_with('{') && json::accept(line) ? 1 : 0;
        if (objects > 0 && lines > 1) { return false; } // an object a line
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return true;
}

void read_json_tree(HeadSource& source, SampleBuilder& samples) {
    std::string const text = whole_report(source, samples);
    if (!samples.question().where.empty()) {
        if (!json::accept(text.substr(0, text.find('\n')))) {
            refuse(samples.where(), "--where chooses rows", "this is one JSON document",
                   "write its list as JSON lines: jq -c '.requests[]'");
        }
        HeadSource again{open_source(text, samples.where(), {}), table_head_bytes};
        return read_json_lines(again, samples);
    }
    auto const whole = parse_report(text, samples);
    MetricReport report;
    TreeReader{report, samples}.walk(whole, {}, false);
    if (report.distributions() == 0) {
        HeadSource again{open_source(text, samples.where(), {}), table_head_bytes};
        return read_json_lines(again, samples);
    }
    if (whole.contains("aggregate") && text.find("\"vusers.") != std::string::npos) { report.assume(*time_unit("ms")); }
    report.finish(samples);
    samples.note("a JSON document: places within it are not lines");
}

} // namespace headroom::io
