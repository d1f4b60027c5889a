#include "inference/inference_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr char const* example = "write it like ttft_p99<=500ms,tpot_p99<=50ms";

struct ObjectiveName {
    std::string_view name;
    std::optional<Seconds> ServingObjectives::*field;
};
constexpr std::array names{
    ObjectiveName{"ttft", &ServingObjectives::first_token},
    ObjectiveName{"tpot", &ServingObjectives::per_token},
    ObjectiveName{"latency", &ServingObjectives::whole},
};

/// "ttft_p99.9": the name, and the share of requests that must keep to it.
std::pair<std::string, double> name_and_share(std::string const& text, std::string_view where) {
    auto const at = text.find("_p");
    if (at == std::string::npos) { return {text, ServingObjectives{}.share}; }
    double const percentile =
        io::parse_between(text.substr(at + 2), 1.0, 99.99, "percentile, 1 to 99.99", std::string{where});
    return {text.substr(0, at), percentile / 100.0};
}

} // namespace

ServingObjectives parse_objectives(std::string_view text, std::string_view where) {
    ServingObjectives objectives;
    std::optional<double> share;
    for (std::string const& part : split(text, ',')) {
        auto const at = part.find('<');
        if (at == std::string::npos || at == 0) {
            refuse(where, "cannot read " + headroom::quoted(part), "it is not a time and its limit", example);
        }
        auto const [name, of] = name_and_share(trimmed(part.substr(0, at)), where);
        std::size_t const value = at + (part.substr(at).starts_with("<=") ? 2 : 1);
        std::vector<std::string> known;
        bool found = false;
        for (ObjectiveName const& one : names) {
            known.emplace_back(one.name);
            if (normalised(name) != one.name) { continue; }
            if (objectives.*one.field) { refuse(where, name + " is limited twice", "", "keep one"); }
            Seconds const limit = parse<Seconds>(trimmed(part.substr(value)), where);
            if (limit <= Seconds{}) { refuse(where, headroom::quoted(part) + " cannot be kept", "time passes", ""); }
            objectives.*one.field = limit;
            found = true;
        }
        if (!found) {
            refuse(where, "unknown time " + headroom::quoted(name), "times are ttft, tpot and latency",
                   did_you_mean(name, known, example));
        }
        if (share && std::abs(*share - of) > 1e-12) {
            refuse(where, "two shares of requests", "a request counts where it meets all objectives",
                   "give every objective the same percentile");
        }
        share = of;
    }
    objectives.share = share.value_or(objectives.share);
    return objectives;
}

std::string objectives_words(ServingObjectives const& objectives) {
    std::vector<std::string> parts;
    if (objectives.first_token) { parts.push_back("TTFT <= " + format(*objectives.first_token)); }
    if (objectives.per_token) { parts.push_back("TPOT <= " + format(*objectives.per_token)); }
    if (objectives.whole) { parts.push_back("latency <= " + format(*objectives.whole)); }
    if (parts.empty()) { return "every request answered"; }
    return join(parts, " and ") + " for " + short_number(100.0 * objectives.share) + " % of requests";
}

namespace {

constexpr double patience = 3.0;

void check_long_enough(InferenceQuestion const& question, std::string const& where) {
    Seconds const counted_time = question.traffic.duration - question.experiment.warm_up;
    Seconds const longest = longest_objective(question.experiment.objectives);
    if (counted_time >= patience * longest) { return; }
    too_little(where, "only " + format(counted_time) + " are counted after the warm-up",
               "an objective of " + format(longest) + " would be kept by a line that grows all the time",
               question.trace ? "give a longer trace" : "simulate longer");
}

} // namespace

Seconds longest_objective(ServingObjectives const& objectives) {
    return std::max(objectives.first_token.value_or(Seconds{}), objectives.whole.value_or(Seconds{}));
}

void check_positions(InferenceQuestion& question, std::vector<std::string>& notes) {
    Model const& model = question.model;
    double const most = model.max_positions, mean = question.tokens_at_end();
    if (most <= 0.0) { return; }
    if (mean > most) {
        notes.push_back("a request of " + scaled(mean) + " tokens is longer than the " + whole(most) +
                        " positions of " + model.name + ": priced all the same, whatever it would answer");
        return;
    }
    auto const is_longer = [&](ServingRequest const& one) {
        return static_cast<double>(one.prompt) + one.output > most;
    };
    auto const longer = std::ranges::count_if(question.requests, is_longer);
    if (longer == 0) { return; }
    question.assumptions.push_back(
        {"long_requests", std::to_string(longer) + " of " + std::to_string(question.requests.size()),
         "are longer than the " + whole(most) + " positions of the model; served all the same", false});
}

void check_enough(InferenceQuestion const& question, std::string const& where) {
    ServingObjectives const& limits = question.experiment.objectives;
    bool const limited = limits.first_token || limits.per_token || limits.whole;
    if (!question.simulates() || !limited) { return; }
    double const share = question.experiment.objectives.share;
    auto const counts = [&](ServingRequest const& one) { return one.arrives >= question.experiment.warm_up.base(); };
    auto const arriving = static_cast<double>(std::ranges::count_if(question.requests, counts));
    double const found = question.is_closed() ? 0.8 * arriving : arriving;
    double const needed = std::ceil(1.0 / (1.0 - share) - 1e-6);
    if (found >= needed && !question.is_open()) { return; }
    if (found >= needed) { return check_long_enough(question, where); }
    too_little(where, "only " + whole(found) + " requests after the warm-up",
               "the share of " + short_number(100.0 * share) + " % needs " + whole(needed) + " at least",
               question.trace ? "give a longer trace, or a lower percentile" : "simulate longer");
}

std::vector<Metric> metrics_of(InferenceAnswer const* report) {
    std::vector<GateName> asked{{"in-time", "share_in_time"},
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
    std::vector<Metric> metrics = metrics_of(field_table_of(choice), choice, asked);
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
