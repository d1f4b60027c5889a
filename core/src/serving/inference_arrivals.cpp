#include "serving/inference_parts.hpp"

#include "headroom/interrupt.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::serving {

using namespace headroom::training;

namespace {

constexpr int most_replicas = 4096;
constexpr std::array loads{0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9, 1.0, 1.15}; ///< of the capacity
constexpr std::array slower{1.1, 1.25, 1.5, 2.0};

/// Whether the first of two ways to answer requests that come together costs less.
bool is_cheaper(ServingChoice const& left, ServingChoice const& right) {
    auto const cost = [](ServingChoice const& one) { return one.accelerators * one.result.span.base(); };
    return cost(left) < cost(right);
}

/// The choice with the least to pay; of equals that with the shorter p99 to the first token.
bool is_better(ServingChoice const& left, ServingChoice const& right) {
    if (left.meets != right.meets) { return left.meets; }
    if (!left.meets && left.result.met != right.result.met) { return left.result.met > right.result.met; }
    if (left.accelerators != right.accelerators) { return left.accelerators < right.accelerators; }
    return quantile_of(left.result.first_token, 0.99) < quantile_of(right.result.first_token, 0.99);
}

class Arrivals {
public:
    Arrivals(InferenceAnswer& answer, Executor const& executor)
        : answer_{answer},
          question_{answer.question},
          executor_{executor},
          constants_{question_.calibration.values()} {}

    void run() {
        try {
            for (PlanRow const& row : answer_.plans) {
                if (row.steady) { add_choices(row); }
            }
        } catch (Interrupted const&) { answer_.complete = false; }
        if (!answer_.complete && answer_.choices.empty()) { throw Interrupted{}; }
        choose();
        if (!answer_.chosen) { return; }
        ServingChoice const& best = *answer_.choice();
        follow(best);
        count_idle(best);
        try {
            compare(best);
        } catch (Interrupted const&) {
            answer_.complete = false;
            if (answer_.against && answer_.against->choices.empty()) { answer_.against.reset(); }
        }
    }

private:
    /// The best choice against others, under other loads and on slower machines.
    void compare(ServingChoice const& best) {
        keep_on(question_.experiment.stop);
        split_otherwise(best.accelerators);
        if (question_.against) { ask_another(best); }
        if (!question_.is_open()) { return; }
        if (best.prefill_replicas == 0) { load_curve(best); } // its scale is the steady state of replicas that do both
        if (best.meets && question_.replicas.empty()) {
            look_for_plateau(best);
            margins(best.plan);
        }
    }

    /// Where even twice as many hardly keep the objectives, the fewest that do were found by chance.
    void look_for_plateau(ServingChoice const& best) {
        if (best.prefill_replicas > 0) { return; }
        ServingChoice twice = serve_with(best.plan, 2 * best.replicas);
        double const met = twice.result.met, count = static_cast<double>(twice.result.requests);
        if (met - question_.experiment.objectives.share > 2.0 * std::sqrt(met * (1.0 - met) / count)) { return; }
        if (met < 1.0) { answer_.plateau = std::move(twice); }
    }

    /// A fleet that was still answering long after the last arrival did not keep up, whatever its lines looked like
    /// in the time that was counted.
    [[nodiscard]] ServingChoice judged(ServingChoice choice) const {
        Seconds const counted_time = question_.traffic.duration - question_.experiment.warm_up;
        if (question_.is_open() && choice.serves() && choice.result.span > 1.5 * counted_time) {
            choice.meets = choice.result.stable = false;
        }
        return choice;
    }

    ServingChoice serve_with(ServingPlan const& plan, int replicas) {
        ServingExperiment experiment = question_.experiment;
        experiment.replicas = replicas;
        return judged(serve(question_.model, question_.cluster, question_.framework, constants_, plan,
                            question_.requests, experiment, executor_));
    }

    std::optional<ServingChoice> fewest(ServingPlan const& plan, std::span<ServingRequest const> requests,
                                        ServingExperiment const& experiment) {
        return replicas_for(question_.model, question_.cluster, question_.framework, constants_, plan, requests,
                            experiment, most_replicas, executor_);
    }

    /// Where no number of replicas keeps the objectives, as many as the steady state asks for are shown.
    void add_choices(PlanRow const& row) {
        if (!question_.replicas.empty()) {
            for (int const replicas : question_.replicas) { answer_.choices.push_back(serve_with(row.plan, replicas)); }
            return;
        }
        if (!row.obstacle) {
            if (auto found = fewest(row.plan, question_.requests, question_.experiment)) {
                answer_.choices.push_back(judged(std::move(*found)));
                return;
            }
        }
        double const rate = std::max(row.steady->requests_per_second, 1e-9);
        double needed = std::clamp(std::ceil(question_.arrivals() / rate), 1.0, static_cast<double>(most_replicas));
        if (!question_.is_open()) { needed = 1.0; }
        answer_.choices.push_back(serve_with(row.plan, static_cast<int>(needed)));
    }

    void choose() {
        for (std::size_t i = 0; i < answer_.choices.size(); ++i) {
            if (!answer_.choices[i].serves()) { continue; }
            ServingChoice const& one = answer_.choices[i];
            bool const by_cost = answer_.chosen && question_.is_burst() && one.meets == answer_.choice()->meets;
            bool const better =
                by_cost ? is_cheaper(one, *answer_.choice()) : answer_.chosen && is_better(one, *answer_.choice());
            if (!answer_.chosen || better) { answer_.chosen = i; }
        }
    }

    /// The tables are of the plan that was chosen.
    void follow(ServingChoice const& best) {
        for (std::size_t i = 0; i < answer_.plans.size(); ++i) {
            if (answer_.plans[i].plan.tp == best.plan.tp) { answer_.chosen_plan = i; }
        }
    }

    /// Serves with equally many accelerators as few wide replicas or many narrow ones, of the degrees in question;
    /// those left over stand idle and are paid for.
    void split_otherwise(int accelerators) {
        auto const& price = question_.cluster.price;
        for (PlanRow const& row : answer_.plans) {
            int const replicas = accelerators / row.plan.accelerators() - question_.experiment.prefill_replicas;
            if (replicas < 1) { continue; }
            ServingChoice choice = serve_with(row.plan, replicas);
            choice.accelerators = accelerators;
            double const tokens = choice.serves() ? choice.result.output_tokens_per_second : 0.0;
            if (price) { choice.price = accelerators * *price; }
            if (price && tokens > 0.0) {
                choice.dollars_per_million_output_tokens = choice.price->base() / tokens * 1e6;
            }
            answer_.same.push_back(std::move(choice));
        }
    }

    void ask_another(ServingChoice const& best) {
        Cluster const& other = *question_.against;
        AgainstRow& against = answer_.against.emplace(AgainstRow{.cluster = other});
        against.accelerators = accelerators_for(other, *best.price).value_or(0);
        if (against.accelerators < 1) { return; }
        against.choices = serving_choices(question_.model, other, question_.framework, constants_, question_.plan,
                                          against.accelerators, question_.requests, question_.experiment, executor_);
        std::erase_if(against.choices, [&](ServingChoice const& one) { return one.plan.tp > other.domain; });
        for (ServingChoice& one : against.choices) { one = judged(std::move(one)); }
        against.best = best_choice(against.choices, ServingMeasure::whole);
    }

    /// Nodes are rented whole more often than not.
    void count_idle(ServingChoice const& best) {
        int const node = question_.cluster.accelerators_per_node;
        if (node < 1 || best.accelerators % node == 0) { return; }
        int const nodes = best.accelerators / node + 1;
        answer_.idle = IdleAccelerators{nodes * node - best.accelerators, nodes, nodes * node};
    }

    void load_curve(ServingChoice const& best) {
        ServingPricer const pricer = pricer_of(question_, best.plan);
        int const most = answer_.row()->largest_batch;
        answer_.capacity = best.replicas * steady_rate(pricer, question_, most).requests_per_second;
        std::vector<double> rates{question_.arrivals()};
        for (double const share : loads) { rates.push_back(share * answer_.capacity); }
        std::ranges::sort(rates);
        for (double const rate : rates) {
            LoadRow row =
                rate == question_.arrivals() ? LoadRow{rate, best.result, best.meets} : load_row(pricer, best, rate);
            if (row.meets) { answer_.knee = rate; }
            if (answer_.capacity > 0.0) { row.of_capacity = rate / answer_.capacity; }
            answer_.load.push_back(std::move(row));
        }
    }

    LoadRow load_row(ServingPricer const& pricer, ServingChoice const& best, double rate) {
        std::vector<ServingRequest> const requests = at_rate(rate);
        ServingExperiment experiment = question_.experiment;
        experiment.replicas = best.replicas;
        experiment.warm_up = Seconds{experiment.warm_up.base() * question_.arrivals() / rate};
        LoadRow row{rate, simulate_serving(requests, pricer, experiment, executor_), false};
        row.meets = row.result.stable && row.result.refused == 0 && row.result.met >= experiment.objectives.share;
        return row;
    }

    /// The question's requests, closer together or further apart.
    [[nodiscard]] std::vector<ServingRequest> at_rate(double rate) const {
        std::vector<ServingRequest> requests = question_.requests;
        double const stretch = question_.arrivals() / rate;
        for (ServingRequest& one : requests) { one.arrives *= stretch; }
        return requests;
    }

    /// A machine on which everything takes f times as long is this one on a clock that runs f times as fast: gaps and
    /// limits of time shrink by f.
    void margins(ServingPlan const& plan) {
        for (double const factor : slower) {
            std::vector<ServingRequest> const requests = at_rate(question_.arrivals() * factor);
            ServingExperiment experiment = question_.experiment;
            experiment.warm_up /= factor;
            for (auto* limit :
                 {&experiment.objectives.first_token, &experiment.objectives.per_token, &experiment.objectives.whole}) {
                if (*limit) { **limit /= factor; }
            }
            auto const found = fewest(plan, requests, experiment);
            answer_.margins.push_back({factor, found ? std::optional{found->replicas} : std::nullopt});
            if (!found) { return; }
        }
    }

    InferenceAnswer& answer_;
    InferenceQuestion const& question_;
    Executor const& executor_;
    Calibration const constants_;
};

} // namespace

void answer_arrivals(InferenceAnswer& answer, Executor const& executor) { Arrivals{answer, executor}.run(); }

} // namespace headroom::serving
