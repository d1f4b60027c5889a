#include "headroom/error.hpp"
#include "headroom/serving/serving_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace headroom::serving {

using namespace headroom::training;

namespace {

constexpr double per_million = 1e6;

/// Serves with a pricer that is at hand.
ServingChoice serve_with(ServingPricer const& pricer, Cluster const& cluster, int accelerators,
                         std::span<ServingRequest const> requests, ServingExperiment const& experiment,
                         Executor const& executor) {
    ServingChoice choice;
    choice.plan = pricer.plan(), choice.replicas = experiment.replicas, choice.accelerators = accelerators;
    choice.prefill_replicas = experiment.prefill_replicas;
    if (cluster.price) { choice.price = *cluster.price * static_cast<double>(accelerators); }
    if (!pricer.memory().fits) {
        choice.obstacle = ChoiceObstacle::memory;
        choice.memory = pricer.memory();
        return choice;
    }
    choice.result = simulate_serving(requests, pricer, experiment, executor);
    auto const& result = choice.result;
    if (choice.price && result.output_tokens_per_second > 0.0) {
        choice.dollars_per_million_output_tokens = choice.price->base() / result.output_tokens_per_second * per_million;
    }
    choice.meets =
        result.stable && result.refused == 0 && result.requests > 0 && result.met >= experiment.objectives.share;
    return choice;
}

/// Where the search begins: half as many as are busy all the time with batches that are as large as they may be.
int first_guess(ServingPricer const& pricer, std::span<ServingRequest const> requests) {
    double const span = requests.back().arrives - requests.front().arrives;
    double outputs = 0.0;
    for (auto const& request : requests) { outputs += request.output - 1.0; }
    ServingBatch const fullest{.decoding = pricer.plan().lane_sequences()};
    ServingPlan const& plan = pricer.plan();
    double const lanes = plan.pp * plan.speculation.tokens();
    double const busy = outputs * pricer.iteration(fullest).base() / (fullest.decoding * lanes);
    if (span <= 0.0 || !(busy > 0.0)) { return 1; }
    return static_cast<int>(std::clamp(std::floor(0.5 * busy / span), 1.0, 1e6));
}

ServingPlan with_degree(ServingPlan plan, int tp) {
    plan.tp = tp;
    return plan;
}

double quantile_of(ServingChoice const& choice, ServingMeasure measure, double q) {
    auto const& result = choice.result;
    auto const& times = measure == ServingMeasure::first_token ? result.first_token
                        : measure == ServingMeasure::per_token ? result.per_token
                                                               : result.whole;
    return times.empty() ? std::numeric_limits<double>::infinity() : times.quantile(q);
}

} // namespace

ServingChoice serve(Model const& model, Cluster const& cluster, Framework const& framework,
                    Calibration const& constants, ServingPlan const& plan, std::span<ServingRequest const> requests,
                    ServingExperiment const& experiment, Executor const& executor) {
    ServingPricer const pricer{model, cluster, framework, constants, plan};
    return serve_with(pricer, cluster, plan.accelerators() * (experiment.replicas + experiment.prefill_replicas),
                      requests, experiment, executor);
}

std::optional<ServingChoice> replicas_for(Model const& model, Cluster const& cluster, Framework const& framework,
                                          Calibration const& constants, ServingPlan const& plan,
                                          std::span<ServingRequest const> requests, ServingExperiment experiment,
                                          int most, Executor const& executor) {
    if (requests.empty() || most < 1) { refuse("serving", "there are no requests, or no replica may serve"); }
    ServingPricer const pricer{model, cluster, framework, constants, plan};
    if (!pricer.memory().fits) { return {}; }
    auto const with = [&](int replicas) {
        experiment.replicas = replicas;
        return serve_with(pricer, cluster, plan.accelerators() * (replicas + experiment.prefill_replicas), requests,
                          experiment, executor);
    };
    int fails = 0, tried = std::min(most, first_guess(pricer, requests));
    auto found = with(tried);
    while (!found.meets) {
        if (tried >= most) { return {}; }
        fails = tried;
        tried = std::min(most, 2 * tried);
        found = with(tried);
    }
    while (found.replicas - fails > 1) {
        int const middle = fails + (found.replicas - fails) / 2;
        auto choice = with(middle);
        if (choice.meets) {
            found = std::move(choice);
        } else {
            fails = middle;
        }
    }
    return found;
}

std::vector<ServingChoice> serving_choices(Model const& model, Cluster const& cluster, Framework const& framework,
                                           Calibration const& constants, ServingPlan const& plan, int accelerators,
                                           std::span<ServingRequest const> requests,
                                           ServingExperiment const& experiment, Executor const& executor) {
    if (accelerators < 1) { refuse("serving", "there is no accelerator to serve with"); }
    std::vector<ServingChoice> choices;
    for (int tp = 1; tp * plan.pp <= accelerators; tp *= 2) {
        auto const wide = with_degree(plan, tp);
        auto each = experiment;
        each.replicas = accelerators / wide.accelerators() - experiment.prefill_replicas;
        if (each.replicas < 1) { continue; }
        try {
            serving_memory(model, cluster, wide);
        } catch (InputError const& error) {
            if (tp == 1) { throw; } // not for the degree
            ServingChoice refused;
            refused.plan = wide, refused.replicas = each.replicas, refused.accelerators = accelerators;
            refused.obstacle = ChoiceObstacle::degree;
            refused.why_not = error.text().problem;
            choices.push_back(std::move(refused));
            continue;
        }
        ServingPricer const pricer{model, cluster, framework, constants, wide};
        choices.push_back(serve_with(pricer, cluster, accelerators, requests, each, executor));
        if (tp > accelerators / 2) { break; }
    }
    return choices;
}

std::optional<int> accelerators_for(Cluster const& cluster, DollarsPerSecond money) {
    if (!cluster.price || cluster.price->base() <= 0.0) { return {}; }
    // a sum of whole prices buys as many, whatever rounding says
    double const rented = std::floor(money / *cluster.price * (1.0 + 1e-12));
    return static_cast<int>(std::clamp(rented, 0.0, 1e9));
}

std::optional<std::size_t> best_choice(std::span<ServingChoice const> choices, ServingMeasure measure, double q) {
    std::optional<std::size_t> best;
    auto const key = [&](ServingChoice const& choice) {
        double const price = choice.price ? choice.price->base() : 0.0;
        bool const keeps_up = choice.result.stable && choice.result.refused == 0;
        return std::tuple{!keeps_up, quantile_of(choice, measure, q), price};
    };
    for (std::size_t i = 0; i < choices.size(); ++i) {
        if (!choices[i].serves()) { continue; }
        if (!best || key(choices[i]) < key(choices[*best])) { best = i; }
    }
    return best;
}

} // namespace headroom::serving
