#include "tail/tail_report.hpp"

namespace headroom::cli {

using namespace headroom::serving;

std::vector<Metric> metrics_of(TailAnswer const* answer, bool times) {
    Dimension const dimension = times ? Dimension{.seconds = 1} : Dimension{};
    std::vector<Metric> metrics;
    for (double const q : tail_quantiles) {
        Metric metric{percentile_name(q), {}, dimension};
        metric.unknown = "unknown: it takes " + (q < 1.0 ? grouped(samples_for_quantile(q)) : "") + " samples";
        for (TailPercentile const& row : answer ? answer->set.percentiles : TailPercentiles{}) {
            if (row.q == q) { metric.value = row.value; }
        }
        metrics.push_back(std::move(metric));
        if (q >= 1.0) { continue; }
        Metric change{percentile_name(q) + "-change", {}};
        change.unknown = "unknown: it needs --baseline and enough samples of both";
        if (answer && answer->comparison) {
            for (QuantileChange const& one : answer->comparison->runs.quantiles) {
                if (one.q == q) { change.value = one.ratio - 1.0; }
            }
        }
        metrics.push_back(std::move(change));
    }
    PlainNumbers<TailAnswer> const plain{answer};
    FieldTable const& table = times ? field_table_of(answer) : field_table_of(&plain);
    void const* const values = answer == nullptr || times ? static_cast<void const*>(answer) : &plain;
    for (Metric& metric : metrics_of(table, values,
                                     {{"mean", times ? "samples.mean_seconds" : "samples.mean"},
                                      {"slow", "slow.share"},
                                      {"samples", "samples.count"},
                                      {"replicas", "replicas_for_slo.replicas"}})) {
        metrics.push_back(std::move(metric));
    }
    return metrics;
}

} // namespace headroom::cli
