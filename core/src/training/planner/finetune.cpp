#include "curve.hpp"
#include "words.hpp"

#include "headroom/text.hpp"
#include "headroom/training/training_answers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::training {
namespace {

using planner::counted;
using text::significant;

std::string name_of_method(std::string const& method) {
    bool const quantised = method.starts_with('q');
    std::string const kind = method.substr(quantised ? 1 : 0);
    return std::string{quantised ? "Q" : ""} + (kind == "lora" ? "LoRA" : kind == "dora" ? "DoRA" : kind);
}

/// "2x rtx-4090" of such a cluster, else "8 accelerators of dgx-h100".
std::string place_of(Prediction const& p) {
    std::string const& name = p.question.cluster.name;
    return name.starts_with(std::to_string(p.workers) + "x ") ? name
                                                              : counted(p.workers, "accelerator") + " of " + name;
}

/// Speedup of an epoch of one doubling, from the smaller to the larger size; both have a prediction.
double gain_per_doubling(FinetuneSize const& smaller, FinetuneSize const& larger) {
    return laws::marginal_speedup_per_doubling(*epoch_minutes(smaller) * units::minute,
                                               *epoch_minutes(larger) * units::minute, smaller.workers, larger.workers);
}

/// "4 accelerators take 24.1 minutes an epoch and $3.42"; without the dollars where there is no price.
std::string cost_words(FinetuneSize const& size) {
    auto const cost = cost_of(*size.prediction);
    return counted(size.workers, "accelerator") + (size.workers == 1 ? " takes " : " take ") +
           significant(*epoch_minutes(size)) + " minutes an epoch" + (cost ? " and " + planner::money(*cost) : "");
}

std::vector<std::size_t> sizes_that_fit(std::vector<FinetuneSize> const& sizes) {
    std::vector<std::size_t> fitting;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i].fits()) { fitting.push_back(i); }
    }
    return fitting;
}

/// Reason of the recommended size among several; empty for one.
std::string choice_words(std::vector<FinetuneSize> const& curve) {
    if (curve.size() < 2) { return ""; }
    auto const chosen = std::ranges::find_if(curve, &FinetuneSize::recommended);
    if (!chosen->fits()) { return " No other size that you asked about fits either."; }
    auto const fitting = sizes_that_fit(curve);
    auto const at = std::ranges::find(fitting, static_cast<std::size_t>(chosen - curve.begin()));
    FinetuneSize const* const smaller = at == fitting.begin() ? nullptr : &curve[at[-1]];
    FinetuneSize const* const larger = at + 1 == fitting.end() ? nullptr : &curve[at[1]];
    std::string text;
    if (auto const [least, most] = batches_of(curve); least != most) {
        text = " Sizes have batches of " + std::to_string(least) + " to " + std::to_string(most) +
               " sequences: --global-batch holds one.";
    }
    if (smaller != nullptr) {
        text += " " + cost_words(*smaller) + ": a doubling gives " + significant(gain_per_doubling(*smaller, *chosen)) +
                "x.";
    } else if (chosen != curve.begin()) {
        text += " No smaller size fits.";
    }
    if (larger == nullptr) {
        return text + " " + std::to_string(chosen->workers) + " is the largest size " +
               (chosen->workers == curve.back().workers ? "that you asked about." : "that fits.");
    }
    return text + " " + cost_words(*larger) + ": a doubling gives " + significant(gain_per_doubling(*chosen, *larger)) +
           "x, and the rule asks for " + significant(laws::knee_gain) + "x.";
}

} // namespace

std::optional<std::size_t> recommended_size(std::vector<FinetuneSize> const& sizes) {
    auto const time = [&](std::size_t i) { return *epoch_minutes(sizes[i]); };
    auto const gain = [&](std::size_t before, std::size_t i) { return gain_per_doubling(sizes[before], sizes[i]); };
    if (auto const knee = planner::knee_of(sizes_that_fit(sizes), time, gain)) { return knee; }
    std::optional<std::size_t> largest;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i].prediction) { largest = i; }
    }
    return largest;
}

std::pair<int, int> batches_of(std::vector<FinetuneSize> const& sizes) {
    std::pair range{std::numeric_limits<int>::max(), 0};
    for (FinetuneSize const& size : sizes) {
        if (!size.prediction) { continue; }
        int const batch = size.prediction->question.workload.global_batch;
        range = {std::min(range.first, batch), std::max(range.second, batch)};
    }
    return range;
}

int finetune_batch(int workers) {
    constexpr int usual = 16;
    return (usual + workers - 1) / workers * workers;
}

std::vector<std::string> leaner_methods(std::string const& method) {
    if (method == "full") { return {"lora", "qlora"}; }
    if (method == "lora" || method == "dora") { return {"q" + method}; }
    return {};
}

std::string finetune_verdict(FinetuneAnswer const& answer) {
    Prediction const& p = answer.prediction;
    Strategy const& strategy = p.question.strategy;
    std::string text = strategy.trained == Trained::last_layers
                           ? "fine-tuning of the last " + counted(strategy.trained_layers, "layer") + " of "
                           : name_of_method(answer.method) + " fine-tuning of ";
    text += p.question.model.name + " on " + place_of(p) + " ";
    text += p.fits ? "fits" : "does not fit: " + p.why_not;
    if (p.odds) {
        bool const sure = p.fits && fits_words(p.odds->fits) == "yes";
        text += sure ? " (" + format_binary(p.odds->footprint.low) + " to " + format_binary(p.odds->footprint.high) +
                           " of " + format_binary(p.memory_capacity) + ")"
                : p.fits ? ", " + odds_words(*p.odds, p.memory_capacity)
                         : ". Fits: " + odds_words(*p.odds, p.memory_capacity);
    }
    if (std::string const host = host_words(p); !host.empty()) { text += "; offloaded state takes " + host; }
    double const minutes = minutes_per_epoch(answer);
    double const low = p.interval.low / p.step(), high = p.interval.high / p.step();
    text += p.fits ? ": " : ". It would take ";
    text += significant(minutes) + " minutes an epoch (" + significant(minutes * low) + " to " +
            significant(minutes * high) + ")";
    if (auto const cost = cost_of(p)) {
        bool const is_whole = answer.epochs == std::floor(answer.epochs);
        text += ", " + planner::money(*cost) + " for " +
                (is_whole ? planner::amount(answer.epochs) : significant(answer.epochs)) +
                (answer.epochs == 1.0 ? " epoch" : " epochs");
    }
    return text + "." + choice_words(answer.curve);
}

std::string leaner_words(FinetuneAnswer const& leaner) {
    return " --method " + leaner.method + " fits" +
           (leaner.curve.size() < 2 ? "" : " on " + counted(leaner.prediction.workers, "accelerator")) + ": " +
           significant(minutes_per_epoch(leaner)) + " minutes an epoch.";
}

} // namespace headroom::training
