#include "trace/trace_report.hpp"
#include "trace/trace_words.hpp"

#include <algorithm>

namespace headroom::cli {

std::vector<Metric> metrics_of(TraceAnswer const& answer) {
    DeviceTimes const sum = sum_of(answer.ranks);
    bool const known = sum.window > 0 && knows_when(answer);
    auto const share = [&](Ticks time) -> std::optional<double> {
        if (!known) { return std::nullopt; }
        return static_cast<double>(time) / static_cast<double>(sum.window);
    };
    std::string const split = "unknown: the trace does not say when things ran";
    std::string const none = "unknown: the trace has no computation beside communication";
    std::vector<Metric> metrics{
        {"compute", share(sum.compute), {}, split},
        {"exposed", share(sum.exposed), {}, split},
        {"idle", share(sum.idle), {}, split},
        {"overlap", answer.overlap_fraction, {}, none},
        {"gamma", answer.gamma, {}, none},
        {"serial", answer.serial ? std::optional{answer.serial->value} : std::nullopt, {}, none},
        {"ceiling", answer.ceiling, {}, knows_when(answer) ? none : split}};
    constexpr Dimension time{.seconds = 1};
    auto const add = [&](std::string name, bool there, double ns, std::string why) {
        metrics.push_back(
            {std::move(name), there ? std::optional{seconds_of_ns(ns)} : std::nullopt, time, std::move(why)});
    };
    Percentiles const steps = answer.step_ns.value_or(Percentiles{});
    for (auto const& [name, ns] :
         {std::pair{"step", steps.p50}, {"step-p90", steps.p90}, {"step-p99", steps.p99}, {"step-max", steps.max}}) {
        add(name, answer.step_ns.has_value(), ns, "unknown: the trace has no steps");
    }
    bool const matched = !answer.collectives.matched.empty();
    add("skew", matched, answer.collectives.start_skew_ns.p50, "unknown: no collective was matched across ranks");
    add("skew-p99", matched, answer.collectives.start_skew_ns.p99, "unknown: no collective was matched across ranks");
    std::uint64_t issues = 0;
    for (TraceIssue const& one : answer.issues) { issues += one.count; }
    metrics.push_back({"issues", static_cast<double>(issues), {}, ""});
    return metrics;
}

} // namespace headroom::cli
