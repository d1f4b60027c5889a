#include "inference/inference_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {

using namespace headroom::serving;
using namespace headroom::training;

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

} // namespace headroom::cli
