#include "headroom/training/support.hpp"

#include "headroom/text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace headroom::training {
namespace {

using text::counted;

bool is_mixture(Model const& model) {
    Seen seen;
    return &experience_with(model, seen) == &seen.mixtures;
}

RunGroup group_of(Question const& question, bool names_framework) {
    return {.generation = question.cluster.accelerator.generation,
            .framework = names_framework ? question.framework.name : std::string{},
            .mixture = is_mixture(question.model),
            .trained = question.strategy.trained,
            .precision = question.strategy.precision};
}

auto key_of(RunGroup const& group) {
    return std::tuple{group.generation, group.framework, group.mixture, group.trained, group.precision};
}

std::string_view words_of(Trained trained) {
    switch (trained) {
    case Trained::all: return "all weights trained";
    case Trained::lora: return "LoRA";
    case Trained::last_layers: return "the last layers trained";
    }
    return "";
}

/// Runs of the groups that agree with a question.
template <class Agrees> SimilarRuns similar(std::string respect, std::span<RunGroup const> groups, Agrees agrees) {
    SimilarRuns found{.respect = std::move(respect)};
    for (RunGroup const& group : groups) {
        if (!agrees(group)) { continue; }
        found.runs += group.runs;
        found.least_workers = std::min(found.least_workers.value_or(group.least_workers), group.least_workers);
        found.most_workers = std::max(found.most_workers.value_or(group.most_workers), group.most_workers);
    }
    return found;
}

std::vector<SimilarRuns> evidence_of(RunGroup const& asked, std::span<RunGroup const> groups) {
    auto const generation = [&](RunGroup const& g) { return g.generation == asked.generation; };
    auto const framework = [&](RunGroup const& g) { return g.framework == asked.framework; };
    auto const pair = [&](RunGroup const& g) { return generation(g) && framework(g); };
    auto const kind = [&](RunGroup const& g) { return pair(g) && g.mixture == asked.mixture; };
    std::string const generations{name_of(asked.generation)}, both = generations + " with " + asked.framework;
    std::string const models = both + (asked.mixture ? ", mixtures and hybrids" : ", dense models");
    std::string const all =
        models + ", " + std::string{words_of(asked.trained)} + ", " + std::string{name_of(asked.precision)};
    return {similar(generations, groups, generation), similar(asked.framework, groups, framework),
            similar(both, groups, pair), similar(models, groups, kind), similar(all, groups, [&](RunGroup const& g) {
                return kind(g) && g.trained == asked.trained && g.precision == asked.precision;
            })};
}

/// Constants that the step and its memory use, in the order of the table.
std::vector<ConstantValue> constants_in_use(Prediction const& prediction, CalibrationSet const& calibration) {
    std::set<Constant> used;
    for (Term const& term : explain(prediction, calibration)) {
        if (term.kind != TermKind::constant) { continue; }
        if (auto const id = constant_from(term.name)) { used.insert(*id); }
    }
    std::vector<ConstantValue> values = constant_values(calibration);
    std::erase_if(values, [&used](ConstantValue const& one) { return !used.contains(one.info->id); });
    return values;
}

std::vector<std::string> never_seen(SupportAnswer const& answer) {
    Question const& question = answer.prediction.question;
    std::vector<std::string> list;
    for (std::size_t i = 0; i < answer.evidence.size(); ++i) {
        if (answer.evidence[i].runs > 0) { continue; }
        list.push_back("no measured run of " + answer.evidence[i].respect);
        if (i != 0) { break; } // nor of what is narrower
    }
    if (answer.evidence.size() > 2 && answer.evidence[2].most_workers) {
        int const least = *answer.evidence[2].least_workers, most = *answer.evidence[2].most_workers;
        if (answer.prediction.workers < least || answer.prediction.workers > most) {
            list.push_back("a scale of " + counted(static_cast<std::size_t>(answer.prediction.workers), "accelerator") +
                           ": runs of " + answer.evidence[2].respect + " have " + std::to_string(least) + " to " +
                           std::to_string(most));
        }
    }
    if (question.strategy.offload != Offload::none) {
        list.emplace_back("offload to the host, which no constant describes");
    }
    if (question.model.range.open()) { list.emplace_back("the architecture of the model, which is not understood"); }
    return list;
}

std::string verdict_of(SupportAnswer const& answer) {
    Prediction const& p = answer.prediction;
    Question const& question = p.question;
    std::string text = question.model.name + " on " + counted(static_cast<std::size_t>(p.workers), "accelerator") +
                       " of " + question.cluster.name + ", " + question.framework.name + ": ";
    if (!answer.evidence.empty()) {
        int const runs = answer.evidence[2].runs;
        text += answer.pair_seen ? counted(static_cast<std::size_t>(runs), "measured run") +
                                       " of this accelerator generation and framework"
                                 : "this accelerator generation and framework were never measured together";
        text += ". ";
    }
    text += text::percent(p.interval.coverage, 2) + " % interval: " + text::significant(p.interval.low / p.step()) +
            " to " + text::significant(p.interval.high / p.step()) + " of the predicted step, from " +
            evidence_words(p, !answer.evidence.empty() && !answer.pair_seen) + ".";
    return text;
}

} // namespace

std::vector<RunGroup> run_groups(std::span<PublishedRun const> runs) {
    std::vector<RunGroup> groups;
    std::map<decltype(key_of(RunGroup{})), std::size_t> known;
    for (PublishedRun const& run : runs) {
        if (!run.question || !run.counts()) { continue; }
        RunGroup const one = group_of(*run.question, !run.framework_assumed);
        auto const [found, is_new] = known.emplace(key_of(one), groups.size());
        if (is_new) { groups.push_back(one); }
        RunGroup& group = groups[found->second];
        int const workers = run.question->strategy.workers();
        group.least_workers = group.runs == 0 ? workers : std::min(group.least_workers, workers);
        group.most_workers = std::max(group.most_workers, workers);
        ++group.runs;
    }
    std::ranges::sort(groups, [](RunGroup const& left, RunGroup const& right) {
        return std::tuple{-left.runs, key_of(left)} < std::tuple{-right.runs, key_of(right)};
    });
    return groups;
}

SupportAnswer support_of(Prediction prediction, CalibrationSet const& calibration, std::span<RunGroup const> groups,
                         std::vector<KnownFact> known) {
    SupportAnswer answer{.prediction = std::move(prediction), .known = std::move(known)};
    Prediction const& p = answer.prediction;
    if (!groups.empty()) {
        answer.evidence = evidence_of(group_of(p.question, true), groups);
        answer.pair_seen = answer.evidence[2].runs > 0;
    }
    answer.constants = constants_in_use(p, calibration);
    answer.guessed = guess_effects(p, calibration);
    answer.narrows = narrowings(p, calibration);
    answer.never_seen = never_seen(answer);
    answer.verdict = verdict_of(answer);
    return answer;
}

std::vector<std::string> constants_of(SupportAnswer const& answer, Provenance provenance) {
    std::vector<std::string> keys;
    for (ConstantValue const& one : answer.constants) {
        if (one.value.provenance == provenance) { keys.emplace_back(one.info->key); }
    }
    return keys;
}

} // namespace headroom::training
