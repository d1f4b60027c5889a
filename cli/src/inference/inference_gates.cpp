#include "inference/inference_report.hpp"

namespace headroom::cli {

using namespace headroom::serving;

std::vector<Metric> metrics_of(InferenceAnswer const* report) {
    std::vector<GateName> names{{"in-time", "share_in_time"},
                                {"goodput", "goodput_per_second"},
                                {"cost", "dollars_per_million_output_tokens"},
                                {"finish", "span_seconds"},
                                {"ttft_p50", "ttft_seconds.p50"},
                                {"ttft_p90", "ttft_seconds.p90"},
                                {"ttft_p99", "ttft_seconds.p99"},
                                {"tpot_p50", "tpot_seconds.p50"},
                                {"tpot_p90", "tpot_seconds.p90"},
                                {"tpot_p99", "tpot_seconds.p99"},
                                {"latency_p50", "latency_seconds.p50"},
                                {"latency_p90", "latency_seconds.p90"},
                                {"latency_p99", "latency_seconds.p99"}};
    ServingChoice const* const choice = report != nullptr ? report->choice() : nullptr;
    PlanRow const* const row = report != nullptr ? report->row() : nullptr;
    std::vector<Metric> metrics = metrics_of(field_table_of(choice), choice, names);
    for (Metric& metric : metrics) {
        metric.unknown = "unknown: it needs --arrivals, --requests, --burst or --concurrency";
        if (metric.name != "cost") { continue; }
        metric.unknown = "unknown: it needs --price";
        if (choice == nullptr && row != nullptr) { metric.value = row->dollars_per_million_output_tokens; }
    }
    auto const add = [&](FieldTable const& table, void const* answer, std::vector<GateName> const& short_names) {
        for (Metric& metric : metrics_of(table, answer, short_names)) { metrics.push_back(std::move(metric)); }
    };
    add(field_table_of(row), row, {{"prompt-alone", "prompt_alone_seconds"}, {"batch", "largest_batch"}});
    add(field_table_of(report), report, {});
    return metrics;
}

} // namespace headroom::cli
