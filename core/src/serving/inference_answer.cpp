#include "serving/inference_parts.hpp"

#include "headroom/error.hpp"

#include <optional>
#include <utility>

namespace headroom::serving {

using namespace headroom::training;

namespace {

PlanRow plan_row(InferenceQuestion const& question, int degree) {
    ServingObjectives const& objectives = question.experiment.objectives;
    PlanRow row{.plan = question.plan};
    row.plan.tp = degree;
    row.memory = serving_memory(question.model, question.cluster, row.plan);
    row.largest_batch = largest_batch(row.memory, row.plan, question);
    if (!row.memory.fits) {
        row.obstacle = ServingObstacle::memory;
    } else if (row.largest_batch < 1) {
        row.obstacle = ServingObstacle::cache;
    }
    if (row.obstacle) { return row; }
    ServingPricer const pricer = pricer_of(question, row.plan);
    row.prompt_alone = prefill_seconds(pricer, question.traffic.prompt_tokens, question.traffic.prefix_hits);
    bool const decodes = question.traffic.output_tokens > 1.0; // one token is the first, and has no further one
    row.steady = steady_rate(pricer, question, row.largest_batch, decodes ? objectives.per_token : std::nullopt);
    if (row.steady->requests_per_second <= 0.0) {
        row.obstacle = ServingObstacle::token;
    } else if (objectives.first_token && row.prompt_alone > *objectives.first_token) {
        row.obstacle = ServingObstacle::prompt;
    }
    double const tokens = row.steady->requests_per_second * question.traffic.output_tokens;
    if (question.cluster.price && tokens > 0.0) {
        row.dollars_per_million_output_tokens = row.plan.accelerators() * question.cluster.price->base() / tokens * 1e6;
    }
    return row;
}

/// As the option has it that gave the degree.
InputError of_option(InputError const& error) {
    ErrorText text = error.text();
    if (text.where == "tp" || text.where == "pp") { text.where = "--" + text.where; }
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
        double const rate = row.steady ? row.steady->requests_per_second / row.plan.accelerators() : -1.0;
        return std::pair{!row.obstacle, rate};
    };
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if (!plans[i].steady) { continue; }
        if (!best || worth(plans[i]) > worth(plans[*best])) { best = i; }
    }
    return best;
}

} // namespace

double InferenceQuestion::arrivals() const {
    if (!is_open()) { return 0.0; }
    if (!trace) { return traffic.requests_per_second; }
    return static_cast<double>(requests.size() - 1) / requests.back().arrives;
}

bool InferenceAnswer::feasible() const {
    if (question.simulates()) { return chosen && choices[*chosen].meets; }
    return chosen_plan && !plans[*chosen_plan].obstacle;
}

std::optional<double> quantile_of(LatencyHistogram const& histogram, double q) {
    return histogram.empty() ? std::nullopt : std::optional{histogram.quantile(q)};
}

InferenceAnswer answer_inference(InferenceQuestion question, Executor const& executor) {
    InferenceAnswer answer{.question = std::move(question)};
    answer.constants = constant_values(answer.question.calibration);
    answer.plans = plan_rows(answer.question);
    answer.chosen_plan = best_plan(answer.plans);
    if (!answer.chosen_plan) { return answer; }
    if (answer.question.simulates()) { answer_arrivals(answer, executor); }
    ServingPricer const pricer = pricer_of(answer.question, answer.row()->plan);
    answer.decode = decode_rows(pricer, answer.question, answer.row()->largest_batch);
    answer.prefill = prefill_rows(pricer, answer.question);
    answer_intervals(answer);
    return answer;
}

} // namespace headroom::serving
