#include "trace/trace_report.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli {

using namespace headroom::trace;

namespace {

constexpr char const* no_times = "unknown: the trace does not say when things ran";
constexpr char const* no_overlap = "unknown: the trace has no computation that overlaps with communication";
constexpr char const* no_steps = "unknown: the trace has no steps";
constexpr char const* no_match = "unknown: no collective was matched across ranks";

struct ShortName {
    GateName gate;
    char const* unknown;
};
constexpr std::array short_names{
    ShortName{{"compute", "shares.compute"}, no_times},
    ShortName{{"exposed", "shares.exposed"}, no_times},
    ShortName{{"idle", "shares.idle"}, no_times},
    ShortName{{"overlap", "overlap_fraction"}, no_overlap},
    ShortName{{"gamma", "gamma"}, no_overlap},
    ShortName{{"serial", "serial_fraction.value"}, no_overlap},
    ShortName{{"ceiling", "speedup_ceiling"}, no_overlap},
    ShortName{{"step", "step_seconds.p50"}, no_steps},
    ShortName{{"step-p90", "step_seconds.p90"}, no_steps},
    ShortName{{"step-p99", "step_seconds.p99"}, no_steps},
    ShortName{{"step-max", "step_seconds.max"}, no_steps},
    ShortName{{"skew", "skew.start_seconds.p50"}, no_match},
    ShortName{{"skew-p99", "skew.start_seconds.p99"}, no_match},
    ShortName{{"issues", "issue_count"}, ""},
};

} // namespace

std::vector<Metric> metrics_of(TraceReport const* report) {
    std::vector<GateName> names;
    for (ShortName const& one : short_names) { names.push_back(one.gate); }
    std::vector<Metric> metrics = metrics_of(field_table_of(report), report, names);
    bool const no_ceiling = report != nullptr && !knows_when(report->answer);
    for (std::size_t i = 0; i < short_names.size(); ++i) {
        bool const ceiling = short_names[i].gate.name == "ceiling";
        metrics[i].unknown = ceiling && no_ceiling ? no_times : short_names[i].unknown;
    }
    for (Metric& metric : metrics) { metric.may_have_baseline = true; }
    return metrics;
}

std::vector<Metric> metrics_beside(TraceReport const& report, TraceReport const& baseline) {
    std::vector<Metric> metrics = metrics_of(&report), before = metrics_of(&baseline);
    for (Metric& metric : metrics) {
        auto const same = std::ranges::find(before, metric.name, &Metric::name);
        if (same != before.end()) { metric.baseline = same->value; }
    }
    return metrics;
}

} // namespace headroom::cli
