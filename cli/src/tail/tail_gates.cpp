#include "tail/tail_answer.hpp"

namespace headroom::cli {

std::vector<Metric> metrics_of(TailAnswer const& answer) {
    Dimension const dimension = answer.unit.times ? Dimension{.seconds = 1} : Dimension{};
    std::vector<Metric> metrics;
    for (std::size_t at = 0; at < tail_quantiles.size(); ++at) {
        double const q = tail_quantiles.at(at);
        Metric metric{percentile_name(q), {}, dimension, {}};
        for (TailPercentile const& row : answer.set.percentiles) {
            if (row.q == q) { metric.value = row.value; }
        }
        metric.unknown = "unknown: it takes " + (q < 1.0 ? grouped(samples_for_quantile(q)) : "") + " samples";
        metrics.push_back(std::move(metric));
    }
    bool const seen = answer.has_samples();
    std::string const no_samples = "unknown: there are no samples";
    metrics.push_back({"mean", seen ? std::optional{answer.set.values.mean()} : std::nullopt, dimension, no_samples});
    metrics.push_back({"slow", seen ? std::optional{answer.slow_share} : std::nullopt, {}, no_samples});
    metrics.push_back({"samples", static_cast<double>(answer.set.values.count()), {}, no_samples});
    for (double const q : tail_quantiles) {
        Metric metric{
            percentile_name(q) + "-change", {}, {}, "unknown: it needs --baseline and enough samples of both"};
        if (answer.comparison && q < 1.0) {
            for (QuantileChange const& one : answer.comparison->quantiles) {
                if (one.q == q) { metric.value = one.ratio - 1.0; }
            }
        }
        if (q < 1.0) { metrics.push_back(std::move(metric)); }
    }
    bool const counted_replicas = answer.slo && answer.slo->replicas();
    metrics.push_back({"replicas",
                       counted_replicas ? std::optional{static_cast<double>(*answer.slo->replicas())} : std::nullopt,
                       {},
                       "unknown: no number of replicas is known to keep the objective"});
    return metrics;
}

} // namespace headroom::cli
