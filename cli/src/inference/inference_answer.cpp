#include "document/text.hpp"
#include "inference/inference_report.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom::cli {
namespace {

PlanRow plan_row(InferenceQuestion const& question, int degree) {
    Setting const& setting = question.setting;
    PlanRow row{.plan = question.plan,
                .memory = {},
                .largest_batch = 0,
                .prompt_alone = {},
                .steady = {},
                .dollars_per_million_output_tokens = {},
                .why_not = {}};
    row.plan.tp = degree;
    row.memory = serving_memory(setting.model, setting.cluster, row.plan);
    if (!row.memory.fits) {
        row.why_not = row.memory.why_not;
        return row;
    }
    row.largest_batch = largest_batch(row.memory, row.plan, question);
    if (row.largest_batch < 1) {
        row.why_not = "the cache holds " + scaled(row.memory.cache_tokens) + " tokens, a request has " +
                      scaled(tokens_at_end(question));
        return row;
    }
    ServingPricer const pricer{setting.model, setting.cluster, setting.framework, setting.calibration.values(),
                               row.plan};
    row.prompt_alone = prefill_seconds(pricer, question.traffic.prompt_tokens);
    row.steady = steady_rate(pricer, question, row.largest_batch, question.experiment.objectives.per_token);
    ServingObjectives const& objectives = question.experiment.objectives;
    if (row.steady->requests_per_second <= 0.0) {
        row.why_not = "no batch gives a token in " + format(*objectives.per_token);
    } else if (objectives.first_token && row.prompt_alone > *objectives.first_token) {
        row.why_not = "a prompt alone takes " + format(row.prompt_alone);
    }
    double const tokens = row.steady->requests_per_second * question.traffic.output_tokens;
    if (setting.cluster.price && tokens > 0.0) {
        row.dollars_per_million_output_tokens = degree * setting.cluster.price->base() / tokens * 1e6;
    }
    return row;
}

/// As the option has it that gave the degree.
InputError of_option(InputError const& error) {
    ErrorText text = error.text();
    if (text.where == "tp") { text.where = "--tp"; }
    return InputError{error.fault(), std::move(text)};
}

/// Every degree asked about; of those nobody gave the ones that the model allows.
std::vector<PlanRow> plan_rows(InferenceQuestion const& question) {
    std::vector<PlanRow> rows;
    for (int const degree : question.degrees) {
        try {
            rows.push_back(plan_row(question, degree));
        } catch (InputError const& error) {
            if (question.degrees_given || degree == 1) { throw of_option(error); }
        }
    }
    return rows;
}

/// The degree whose accelerators give most requests each; of those that fit, where none keeps the objectives.
std::optional<std::size_t> best_plan(std::vector<PlanRow> const& plans) {
    std::optional<std::size_t> best;
    auto const worth = [&](PlanRow const& row) {
        double const rate = row.steady ? row.steady->requests_per_second / row.plan.tp : -1.0;
        return std::pair{row.why_not.empty(), rate};
    };
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if (!plans[i].steady) { continue; }
        if (!best || worth(plans[i]) > worth(plans[*best])) { best = i; }
    }
    return best;
}

} // namespace

bool InferenceReport::feasible() const {
    if (question.simulates()) { return chosen && choices[*chosen].meets; }
    return chosen_plan && plans[*chosen_plan].why_not.empty();
}

std::optional<double> quantile_of(LatencyHistogram const& histogram, double q) {
    return histogram.empty() ? std::nullopt : std::optional{histogram.quantile(q)};
}

InferenceReport answer_inference(InferenceQuestion question, Executor const& executor) {
    InferenceReport report{.question = std::move(question),
                           .plans = {},
                           .chosen_plan = {},
                           .decode = {},
                           .prefill = {},
                           .decode_interval = {},
                           .prefill_interval = {},
                           .choices = {},
                           .chosen = {},
                           .same = {},
                           .against = {},
                           .load = {},
                           .capacity = 0.0,
                           .knee = {},
                           .margins = {},
                           .gates = {},
                           .wall_seconds = {}};
    report.plans = plan_rows(report.question);
    report.chosen_plan = best_plan(report.plans);
    if (!report.chosen_plan) { return report; }
    if (report.question.simulates()) { answer_arrivals(report, executor); }
    PlanRow const& row = *report.plan();
    Setting const& setting = report.question.setting;
    ServingPricer const pricer{setting.model, setting.cluster, setting.framework, setting.calibration.values(),
                               row.plan};
    report.decode = decode_rows(pricer, report.question, row.largest_batch);
    report.prefill = prefill_rows(pricer, report.question);
    answer_intervals(report);
    return report;
}

} // namespace headroom::cli
