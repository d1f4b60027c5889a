#include "headroom/training/extrapolation.hpp"

#include "headroom/order_statistics.hpp"
#include "headroom/text.hpp"
#include "headroom/training/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace headroom::training {
namespace {

using enum Extrapolation;

struct Words {
    Extrapolation kind;
    std::string_view key, words;
};
constexpr std::array extrapolation_table{
    Words{seen, "seen", "runs of this hardware, and runs of this framework"},
    Words{unseen_framework, "unseen_framework", "runs of this hardware with other frameworks"},
    Words{ordinary_alone, "ordinary_alone", "runs on one accelerator of software that its users put together"},
    Words{ordinary, "ordinary", "runs on several accelerators of software that its users put together"},
    Words{ordinary_offload, "ordinary_offload", "runs of such software with state in the host's memory"},
    Words{guessed_framework, "guessed_framework", "runs of any framework, for none is named"},
    Words{assumed, "assumed", "runs with assumed fields"},
    Words{unseen_hardware, "unseen_hardware", "runs on other hardware"},
    Words{mixture, "mixture", "runs of mixtures and hybrids on this hardware, and with this framework"},
    Words{unseen_mixture, "unseen_mixture", "runs of mixtures and hybrids on other hardware or frameworks"},
    Words{given_pace, "given_pace", "runs with the framework's own kernels, pace known"},
    Words{own_kernels, "own_kernels", "runs with the framework's own kernels"},
};
static_assert(extrapolation_table.size() == extrapolations.size());

/// Weight with which the residuals of one kind of question enter the interval of another: kinds that differ in the
/// framework alone are pooled.
struct Lent {
    Extrapolation to, from;
    double weight;
};
constexpr std::array near_kinds{
    Lent{seen, unseen_framework, 1.0},
    Lent{unseen_framework, seen, 1.0},
    Lent{seen, assumed, 0.2},
    Lent{unseen_framework, assumed, 0.2},
    Lent{ordinary_offload, ordinary, 0.2},
    Lent{ordinary_offload, ordinary_alone, 0.2},
    Lent{assumed, unseen_hardware, 0.3},
};

double borrowed(Extrapolation to, Extrapolation from) {
    if (to == from) { return 1.0; }
    auto const found = std::ranges::find_if(near_kinds, [&](Lent const& l) { return l.to == to && l.from == from; });
    return found == near_kinds.end() ? 0.0 : found->weight;
}

using Counts = std::map<std::pair<Extrapolation, std::string>, int>; ///< rows of a kind and group

/// Kinds whose groups weigh alike, whatever their number of rows.
bool families_alike(Extrapolation kind) {
    return kind == ordinary_alone || kind == ordinary || kind == ordinary_offload || kind == guessed_framework;
}
constexpr double few_of_a_family = 3.0;

/// Number of groups of equal weight that tell as much as these: the square of the sum over the sum of squares.
double effective_groups(std::map<std::string, double> const& weights) {
    double sum = 0.0, squares = 0.0;
    for (auto const& [group, weight] : weights) { sum += weight, squares += weight * weight; }
    return squares > 0.0 ? sum * sum / squares : 1.0;
}

Band conformal_band(Extrapolation kind, std::span<Residual const> residuals, Counts const& count, double coverage) {
    constexpr double few = 20.0;
    std::vector<WeightedValue> samples, sizes;
    std::map<std::string, double> of_groups;
    for (auto const& residual : residuals) {
        int const of_group = count.at({residual.kind, residual.group});
        double const weight = borrowed(kind, residual.kind) /
                              (families_alike(kind) ? of_group + few_of_a_family : std::sqrt(of_group + few));
        if (weight <= 0.0) { continue; }
        samples.push_back({residual.log_ratio, weight});
        sizes.push_back({std::abs(residual.log_ratio), weight});
        of_groups[residual.group] += weight;
    }
    double const more = 1.0 + 1.0 / effective_groups(of_groups);
    bool const many = coverage * more < 1.0;
    double const level = many ? coverage * more : coverage, wider = many ? 1.0 : std::sqrt(more);
    double const either = weighted_quantile(sizes, level), tail = 0.5 * (1.0 - level);
    Band band;
    band.coverage = coverage;
    band.low = std::exp(wider * std::min(0.0, 0.5 * (weighted_quantile(samples, tail) - either)));
    band.high = std::exp(wider * std::max(0.0, 0.5 * (weighted_quantile(samples, 1.0 - tail) + either)));
    for (auto const& [of, rows] : count) {
        if (of.first != kind) { continue; }
        band.rows += rows;
        ++band.sources;
    }
    return band;
}

/// The next kind that lies farther out.
Extrapolation farther(Extrapolation kind) {
    switch (kind) {
    case seen: return unseen_framework;
    case unseen_framework: return assumed;
    case ordinary_offload: return guessed_framework;
    case ordinary_alone: return ordinary;
    case ordinary:
    case guessed_framework: return unseen_hardware;
    case assumed: return unseen_hardware;
    case mixture: return unseen_mixture;
    case given_pace: return own_kernels;
    case unseen_mixture:
    case own_kernels:
    case unseen_hardware: break;
    }
    return unseen_hardware;
}

/// Experts and scans have constants of their own.
bool mixes(Model const& model) {
    return model.moe.experts > 0 || model.state_space.heads > 0 || !model.pattern.empty();
}

} // namespace

std::string_view name_of(Extrapolation kind) { return std::ranges::find(extrapolation_table, kind, &Words::kind)->key; }

std::string_view words_of(Extrapolation kind) {
    return std::ranges::find(extrapolation_table, kind, &Words::kind)->words;
}

std::string evidence_words(Question const& question, Extrapolation kind, bool never_together) {
    std::string const hardware{name_of(question.cluster.accelerator.generation)}, framework = question.framework.name;
    std::string const elsewhere = never_together ? " on other hardware" : "";
    switch (kind) {
    case seen:
        return "runs of " + hardware + (elsewhere.empty() ? " and runs of " : ", and of ") + framework + elsewhere;
    case mixture:
        return "runs of mixtures and hybrids on " + hardware + ", and with " + framework +
               (elsewhere.empty() ? " on any hardware" : elsewhere);
    case unseen_framework: return "runs of " + hardware + " with other frameworks";
    case ordinary_alone: return "runs of software like " + framework + " on one accelerator";
    case ordinary: return "runs of software like " + framework + " on several accelerators";
    case ordinary_offload: return "runs of software like " + framework + " with state in the host's memory";
    case unseen_hardware:
        if (question.strategy.offload != Offload::none) {
            return "runs on hardware that was not fitted, as offload to the host was not";
        }
        if (!question.model.is_decoder()) { return "runs on hardware that was not fitted, as encoders were not"; }
        return "runs on hardware other than " + hardware;
    case unseen_mixture:
        if (framework_is_guessed(question)) {
            return "runs of mixtures and hybrids, whose framework is not named here";
        }
        break;
    case guessed_framework:
    case assumed:
    case given_pace:
    case own_kernels: break;
    }
    return std::string{words_of(kind)};
}

std::string evidence_words(Prediction const& prediction, bool never_together) {
    if (prediction.warm) {
        return "published runs and " +
               text::counted(static_cast<std::size_t>(prediction.warm->related), "measured step");
    }
    return "published " + evidence_words(prediction.question, prediction.interval.kind, never_together);
}

double Band::half_width() const { return std::sqrt(high / low); }

Bands conformal_bands(std::span<Residual const> residuals, double coverage) {
    constexpr int enough = 5;
    Counts count;
    for (auto const& residual : residuals) { ++count[{residual.kind, residual.group}]; }
    Bands bands;
    for (Extrapolation const kind : extrapolations) {
        Band const band = conformal_band(kind, residuals, count, coverage);
        if (band.rows >= enough) { bands.emplace(kind, band); }
    }
    return bands;
}

Band band_of(Bands const& bands, Extrapolation kind) {
    for (;;) {
        if (auto const found = bands.find(kind); found != bands.end()) { return found->second; }
        Extrapolation const next = farther(kind);
        if (next == kind) { return {}; }
        kind = next;
    }
}

bool runs_own_kernels(Framework const& framework, Model const& model) {
    bool const shares = !framework.image_kernels.empty() && !model.operators.empty();
    return (framework.paced || shares) && !model.is_decoder();
}

bool framework_is_guessed(Question const& question) {
    return std::ranges::any_of(question.assumptions,
                               [](Assumption const& assumption) { return assumption.field == "framework"; });
}

bool framework_is_guessed_again(Question const& question) {
    Strategy const& strategy = question.strategy;
    PartialStrategy stated;
    stated.tp = strategy.tp;
    stated.pp = strategy.pp;
    stated.zero = strategy.zero;
    stated.trained = strategy.trained;
    return framework_is_guessed(question) &&
           likely_framework(question.model, question.cluster, stated) == question.framework.name;
}

Extrapolation extrapolation_of_ordinary(Strategy const& strategy) {
    if (strategy.offload != Offload::none) { return ordinary_offload; }
    return strategy.workers() == 1 ? ordinary_alone : ordinary;
}

Extrapolation extrapolation_of(Question const& question, std::optional<Seen> const& seen) {
    bool const guesses = std::ranges::any_of(question.assumptions, &Assumption::structural);
    if (!seen) { return guesses ? Extrapolation::assumed : Extrapolation::seen; }
    auto const& framework = question.framework;
    Generation const generation = question.cluster.accelerator.generation;
    if (runs_own_kernels(framework, question.model)) { return question.pace ? given_pace : own_kernels; }
    if (mixes(question.model) && !framework.ordinary) {
        bool const was_run = seen->mixtures.has(generation, framework.name) && !framework_is_guessed(question);
        return was_run ? mixture : unseen_mixture;
    }
    if (framework_is_guessed(question)) { return guessed_framework; }
    if (framework.ordinary) { return extrapolation_of_ordinary(question.strategy); }
    bool const described = question.strategy.offload == Offload::none && question.model.is_decoder();
    if (!described || !seen->dense.hardware.contains(generation)) { return unseen_hardware; }
    if (guesses) { return Extrapolation::assumed; }
    return seen->dense.frameworks.contains(framework.name) ? Extrapolation::seen : unseen_framework;
}

Experience& experience_with(Model const& model, Seen& seen) { return mixes(model) ? seen.mixtures : seen.dense; }

} // namespace headroom::training
