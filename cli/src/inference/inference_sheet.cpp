#include "inference/inference_report.hpp"

namespace headroom::cli {
namespace {

std::string cell(std::optional<double> value) { return value ? exact(*value) : ""; }

void add_result(std::vector<std::string>& row, ServingResult const& result) {
    for (LatencyHistogram const* one : {&result.first_token, &result.per_token, &result.whole}) {
        for (double const q : {0.5, 0.99}) { row.push_back(cell(quantile_of(*one, q))); }
    }
    row.push_back(exact(result.goodput_per_second));
    row.push_back(exact(result.met));
    row.push_back(exact(result.output_tokens_per_second));
}

void add_choice(Sheet& sheet, std::string const& kind, ServingChoice const& one, double rate) {
    std::vector<std::string> row{kind, std::to_string(one.plan.tp), std::to_string(one.replicas),
                                 std::to_string(one.accelerators), exact(rate)};
    add_result(row, one.result);
    row.push_back(cell(one.dollars_per_million_output_tokens));
    row.emplace_back(one.meets ? "true" : "false");
    sheet.rows.push_back(std::move(row));
}

Sheet decode_sheet(InferenceReport const& report) {
    Sheet sheet{{"tp", "batch", "context_tokens", "seconds", "tokens_per_second", "bound", "cache_share"}, {}};
    for (DecodeRow const& one : report.decode) {
        sheet.rows.push_back({std::to_string(report.plan()->plan.tp), std::to_string(one.batch), exact(one.context),
                              exact(one.time.total.base()), exact(one.tokens_per_second),
                              std::string{name_of(one.time.bound)}, exact(one.cache_share)});
    }
    return sheet;
}

} // namespace

Sheet sheet_of(InferenceReport const& report) {
    if (!report.question.simulates()) { return decode_sheet(report); }
    Sheet sheet{{"kind", "tp", "replicas", "accelerators", "requests_per_second", "ttft_p50_seconds",
                 "ttft_p99_seconds", "tpot_p50_seconds", "tpot_p99_seconds", "latency_p50_seconds",
                 "latency_p99_seconds", "goodput_per_second", "share_in_time", "output_tokens_per_second",
                 "dollars_per_million_output_tokens", "meets"},
                {}};
    double const rate = report.question.arrivals();
    for (ServingChoice const& one : report.choices) { add_choice(sheet, "choice", one, rate); }
    for (ServingChoice const& one : report.same) { add_choice(sheet, "same accelerators", one, rate); }
    for (LoadRow const& one : report.load) {
        ServingChoice const& best = *report.choice();
        std::vector<std::string> row{"load", std::to_string(best.plan.tp), std::to_string(best.replicas),
                                     std::to_string(best.accelerators), exact(one.requests_per_second)};
        add_result(row, one.result);
        double const tokens = one.result.output_tokens_per_second;
        row.push_back(best.price && tokens > 0.0 ? exact(best.price->base() / tokens * 1e6) : "");
        row.emplace_back(one.meets ? "true" : "false");
        sheet.rows.push_back(std::move(row));
    }
    return sheet;
}

std::vector<Metric> metrics_of(InferenceReport const* report) {
    constexpr Dimension time{.seconds = 1};
    char const* const unknown = "unknown: it needs --arrivals or --requests";
    ServingChoice const* const choice = report != nullptr ? report->choice() : nullptr;
    PlanRow const* const plan = report != nullptr ? report->plan() : nullptr;
    std::vector<Metric> metrics;
    auto const of_times = [&](std::string const& name, LatencyHistogram ServingResult::*times) {
        for (auto const& [word, q] : {std::pair{"_p50", 0.5}, std::pair{"_p90", 0.9}, std::pair{"_p99", 0.99}}) {
            metrics.push_back(
                {name + word, choice != nullptr ? quantile_of(choice->result.*times, q) : std::nullopt, time, unknown});
        }
    };
    of_times("ttft", &ServingResult::first_token);
    of_times("tpot", &ServingResult::per_token);
    of_times("latency", &ServingResult::whole);
    auto const of_choice = [&](char const* name, auto value) {
        metrics.push_back(
            {name, choice != nullptr ? std::optional<double>{value(*choice)} : std::nullopt, {}, unknown});
    };
    of_choice("in-time", [](ServingChoice const& one) { return one.result.met; });
    of_choice("goodput", [](ServingChoice const& one) { return one.result.goodput_per_second; });
    of_choice("replicas", [](ServingChoice const& one) { return static_cast<double>(one.replicas); });
    of_choice("accelerators", [](ServingChoice const& one) { return static_cast<double>(one.accelerators); });
    std::optional<double> const cost = choice != nullptr ? choice->dollars_per_million_output_tokens
                                       : plan != nullptr ? plan->dollars_per_million_output_tokens
                                                         : std::nullopt;
    metrics.push_back({"cost", cost, {}, "unknown: it needs --price"});
    bool const some = plan != nullptr && plan->steady.has_value();
    metrics.push_back({"prompt-alone", some ? std::optional{plan->prompt_alone.base()} : std::nullopt, time,
                       "unknown: nothing fits"});
    metrics.push_back(
        {"batch", some ? std::optional<double>{plan->largest_batch} : std::nullopt, {}, "unknown: nothing fits"});
    return metrics;
}

} // namespace headroom::cli
