#include "headroom/training/combinations.hpp"

#include "words.hpp"

#include "headroom/training/training_answers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom::training {
namespace {

using namespace planner;

/// Differences below this share of a step are within the scatter of measured runs, 3 to 9 %.
constexpr double scatter = 0.03;
constexpr double least_part = 1e-6; ///< of the step

/// Time of the run, else of a token, failures included.
double time_of(Prediction const& p) {
    auto const time = run_time(p);
    return time ? time->base() : p.run_over_step() / p.tokens_per_second;
}

/// Cost of the run, else of a million tokens.
std::optional<double> cost_in_dollars(Prediction const& p) {
    if (auto const cost = cost_of(p)) { return cost->base(); }
    return p.question.tokens ? std::nullopt : dollars_per_million(p);
}

std::string_view unit_of(Prediction const& p) { return p.question.model.works_on_samples() ? "samples" : "tokens"; }

/// "18.0 to 27.8 days", "40.0 minutes to 2.10 hours".
std::string range_of(Seconds low, Seconds high) {
    std::string const from = span_of(low), to = span_of(high);
    auto const blank = from.find(' ');
    bool const one_unit = blank != std::string::npos && to.ends_with(from.substr(blank));
    return (one_unit ? from.substr(0, blank) : from) + " to " + to;
}

/// "21.7 days (18.0 to 27.8 days) and $1.86M on 1024 accelerators", "65600 tokens/s at $0.946 a million on 64 accelerators".
std::string outcome(Prediction const& p) {
    std::string text;
    if (auto const time = run_time(p)) {
        double const low = p.interval.low / p.step(), high = p.interval.high / p.step();
        text = span_of(*time) + " (" + range_of(*time * low, *time * high) + ")";
        if (auto const cost = cost_of(p)) { text += " and " + money(*cost); }
    } else {
        text = rounded(p.tokens_per_second) + " " + std::string{unit_of(p)} + "/s";
        if (auto const price = dollars_per_million(p)) { text += " at $" + rounded(*price) + " a million"; }
    }
    return text + " on " + counted(p.workers, "accelerator");
}

/// Values that all combinations share, "llama-3-70b, 2T tokens".
std::string subject(std::vector<Combination> const& all) {
    Prediction const* first = nullptr;
    bool one_model = true, one_cluster = true, one_length = true;
    for (Combination const& one : all) {
        for (auto const& [name, value] : one.values) {
            one_model = one_model && name != "model";
            one_cluster = one_cluster && name != "cluster";
            one_length = one_length && name != "tokens" && name != "steps";
        }
        if (first == nullptr && one.prediction) { first = &*one.prediction; }
    }
    if (first == nullptr) { return {}; }
    std::string text = one_model ? first->question.model.name : "";
    if (one_cluster) { text += (text.empty() ? "" : " on ") + first->question.cluster.name; }
    if (one_length && first->question.tokens && run_time(*first)) {
        text += (text.empty() ? "" : ", ") + format_count(*first->question.tokens) + " " + std::string{unit_of(*first)};
    }
    return text.empty() ? text : text + ": ";
}

/// Others whose time may be the shortest as well: their intervals reach below the upper end of the soonest one's.
std::size_t rivals(std::vector<Combination> const& all, Combination const& soonest) {
    Prediction const& best = *soonest.prediction;
    double const reach = time_of(best) * (best.interval.high / best.step());
    return static_cast<std::size_t>(std::ranges::count_if(all, [&](Combination const& one) {
        if (!one.runs() || &one == &soonest) { return false; }
        Prediction const& p = *one.prediction;
        return time_of(p) * (p.interval.low / p.step()) < reach;
    }));
}

std::string standing(Combination const& one, std::string const& how) {
    return label_of(one) + " is " + how + ": " + outcome(*one.prediction);
}

/// Whether all that run take as long as the soonest.
bool equally_fast(std::vector<Combination> const& all, Combination const& soonest) {
    return std::ranges::all_of(all, [&](Combination const& one) {
        return !one.runs() || time_of(*one.prediction) == time_of(*soonest.prediction);
    });
}

/// "A is soonest: ...; B is cheapest: ...", the asked one first.
std::string best_of(std::vector<Combination> const& all, bool by_cost) {
    auto const soonest = std::ranges::find_if(all, &Combination::soonest);
    auto const cheapest = std::ranges::find_if(all, &Combination::cheapest);
    if (soonest == all.end()) { return "tokens and samples are not compared"; }
    std::string const word = run_time(*soonest->prediction) ? "soonest" : "fastest";
    if (std::ranges::count_if(all, &Combination::runs) == 1) { return standing(*soonest, "the only one that runs"); }
    if (equally_fast(all, *soonest)) {
        std::string const tie = "all that run are equally fast";
        return cheapest == all.end() ? tie : tie + "; " + standing(*cheapest, "cheapest");
    }
    if (cheapest == all.end()) { return standing(*soonest, word); }
    if (soonest == cheapest) { return standing(*soonest, word + " and cheapest"); }
    std::string const first = standing(*soonest, word), second = standing(*cheapest, "cheapest");
    return by_cost ? second + "; " + first : first + "; " + second;
}

std::string verdict_of(CombinationsAnswer const& answer, bool by_cost) {
    auto const& all = answer.combinations;
    auto const running = static_cast<std::size_t>(std::ranges::count_if(all, &Combination::runs));
    if (running == 0) {
        return subject(all) + "none of " + counted(static_cast<int>(all.size()), "combination") + " runs" +
               (all.empty() ? "." : ": " + all.front().why_not + ".");
    }
    std::string text = subject(all) + best_of(all, by_cost) + ".";
    auto const soonest = std::ranges::find_if(all, &Combination::soonest);
    bool const ordered = soonest != all.end() && !equally_fast(all, *soonest);
    if (std::size_t const others = ordered ? rivals(all, *soonest) : 0; others > 0) {
        text += others == 1 ? " The interval of another one overlaps with that of the "
                            : " The intervals of " + std::to_string(others) + " others overlap with that of the ";
        text += run_time(*soonest->prediction) ? "soonest." : "fastest.";
    }
    if (running < all.size()) {
        text += " " + std::to_string(all.size() - running) + " of " + std::to_string(all.size()) + " cannot run.";
    }
    return text;
}

/// Marks of all that run; of models that are counted in different units none.
void mark(std::vector<Combination>& all) {
    Combination *soonest = nullptr, *cheapest = nullptr;
    bool comparable = true, priced = true;
    for (Combination& one : all) {
        if (!one.runs()) { continue; }
        Prediction const& p = *one.prediction;
        if (soonest == nullptr) { soonest = cheapest = &one; }
        comparable = comparable && unit_of(p) == unit_of(*soonest->prediction);
        auto const cost = cost_in_dollars(p);
        priced = priced && cost.has_value();
        if (time_of(p) < time_of(*soonest->prediction)) { soonest = &one; }
        if (priced && *cost < *cost_in_dollars(*cheapest->prediction)) { cheapest = &one; }
    }
    if (soonest == nullptr || !comparable) { return; }
    soonest->soonest = true;
    cheapest->cheapest = priced;
}

int rank_of(Combination const& one) { return one.runs() ? 0 : one.prediction ? 1 : 2; }

void sort(std::vector<Combination>& all, CombinationOrder order) {
    bool const priced = std::ranges::all_of(
        all, [](Combination const& one) { return !one.prediction || cost_in_dollars(*one.prediction); });
    auto const key = [&](Combination const& one) {
        if (!one.prediction) { return 0.0; }
        bool const by_cost = order == CombinationOrder::by_cost && priced;
        return by_cost ? *cost_in_dollars(*one.prediction) : time_of(*one.prediction);
    };
    std::ranges::stable_sort(all, [&](Combination const& left, Combination const& right) {
        return std::pair{rank_of(left), key(left)} < std::pair{rank_of(right), key(right)};
    });
}

/// "Largest difference: compute, 8.1 s more." of the parts, which are sorted.
std::string largest_difference(PlanPairAnswer const& answer) {
    if (answer.parts.empty()) { return {}; }
    PartDifference const& part = answer.parts.front();
    Seconds const more = part.second - part.first;
    if (more == Seconds{}) { return {}; }
    return " The largest difference is in " + part.part + ": " + format(part.first, 3) + " against " +
           format(part.second, 3) + ".";
}

std::string pair_verdict(PlanPairAnswer const& answer) {
    Prediction const &first = *answer.first.prediction, &second = *answer.second.prediction;
    double const ratio = first.step() / second.step();
    std::string text = first.question.model.name + " on " + size_of(first.workers, first.question.cluster) + " of " +
                       first.question.cluster.name + ": " + short_name(first.question.strategy) + " takes " +
                       format(first.step(), 3) + " a step, ";
    text +=
        ratio == 1.0 ? "as long as " : percent(std::abs(1.0 - ratio)) + (ratio < 1.0 ? " less than " : " more than ");
    text += short_name(second.question.strategy) + " (" + format(second.step(), 3) + ").";
    if (std::abs(1.0 - ratio) < scatter && ratio != 1.0) {
        text += " Measured runs of one plan scatter by 3 to 9 %: the two are equally fast.";
    }
    text += largest_difference(answer);
    for (Combination const* one : {&answer.first, &answer.second}) {
        if (!one->runs()) { text += " " + short_name(one->prediction->question.strategy) + ": " + one->why_not + "."; }
    }
    return text;
}

} // namespace

Combination combination_of(Prediction prediction) {
    Combination one;
    if (!prediction.fits) {
        one.why_not = "does not fit: " + prediction.why_not;
    } else if (!prediction.progresses()) {
        one.why_not = prediction.goodput->why_not;
    }
    one.prediction = std::move(prediction);
    return one;
}

std::string label_of(Combination const& combination) {
    std::string text;
    for (auto const& [name, value] : combination.values) {
        if (name == "model" || name == "cluster") {
            text += (text.empty() ? "" : " on ") + value;
        } else {
            text += (text.empty() ? "" : ", ") + name + " " + value;
        }
    }
    return text;
}

void compare_combinations(CombinationsAnswer& answer, CombinationOrder order) {
    mark(answer.combinations);
    if (order != CombinationOrder::as_asked) { sort(answer.combinations, order); }
    answer.verdict = verdict_of(answer, order == CombinationOrder::by_cost);
}

PlanPairAnswer compare_plans(Combination first, Combination second) {
    PlanPairAnswer answer{.first = std::move(first), .second = std::move(second)};
    Prediction const &one = answer.first.prediction.value(), &other = answer.second.prediction.value();
    auto const parts = named_parts(one.time), others = named_parts(other.time);
    Seconds const least = least_part * std::max(one.step(), other.step());
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (std::max(parts[i].second, others[i].second) < least) { continue; }
        answer.parts.push_back({parts[i].first, parts[i].second, others[i].second});
    }
    std::ranges::stable_sort(answer.parts, std::ranges::greater{},
                             [](PartDifference const& part) { return std::abs((part.second - part.first).base()); });
    answer.verdict = pair_verdict(answer);
    return answer;
}

std::vector<std::pair<std::string, Seconds>> named_parts(StepTime const& time) {
    return {{"compute", time.compute},
            {"CPU launch", time.host},
            {"tensor communication", time.tensor_communication},
            {"context communication", time.context_communication},
            {"expert communication", time.expert_communication},
            {"pipeline communication", time.pipeline_communication},
            {"data communication", time.data_communication},
            {"pipeline bubble", time.pipeline_bubble},
            {"optimizer", time.optimizer},
            {"offload", time.offload},
            {"imbalance", time.imbalance},
            {"stragglers", time.stragglers},
            {"overhead", time.overhead}};
}

} // namespace headroom::training
