#include "headroom/training/narrowing.hpp"

#include "headroom/text.hpp"
#include "headroom/training/calibration.hpp"
#include "headroom/training/warm_start.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training {
namespace {

constexpr double least_narrowing = 0.99; ///< of the half-width

constexpr Field rows[] = {
    {"fact", "Fact, in words.", member<&Narrowing::fact>},
    {"option", "Option that states it.", member<&Narrowing::option>},
    {"half_width_before", "Half-width of the interval: square root of its high end over its low end.",
     member<&Narrowing::before>},
    {"half_width_after", "Half-width with the fact stated.", member<&Narrowing::after>},
};
constexpr FieldTable table = field_table<Narrowing>("narrowing", rows);

double half_width(Interval const& interval) { return std::sqrt(interval.high / interval.low); }

/// Half-width of the interval of a prediction's step if its question were another one of the same step.
double width_of(Prediction const& of, Question const& question, CalibrationSet const& calibration) {
    Seconds const step = of.warm ? of.warm->step_before : of.step();
    Interval const interval = interval_of(step, question, calibration, of.pace);
    auto const traits = traits_of(question);
    auto const posterior = warm_posterior(traits, calibration.warm.steps, calibration.warm.likeness(traits));
    return half_width(posterior.related > 0 ? narrowed(interval, step, posterior) : interval);
}

/// A measured step like the question's in some traits, which nobody took.
struct Measurement {
    char const* fact;
    char const* option;
    bool model, plan; ///< whether it shares them
};
constexpr Measurement measurements[] = {
    {"a measured step of this plan, with any number of replicas", "--measured-step TIME", true, true},
    {"a measured step of this model with another plan", "--log FILE", true, false},
    {"a measured step of another model, same framework and accelerator", "--log FILE", false, false},
};

/// Half-width after such a measurement.
double width_after(Measurement const& one, Prediction const& prediction, CalibrationSet calibration) {
    StepTraits traits = traits_of(prediction.question);
    constexpr char const* other = "another: ";
    if (!one.model) {
        traits.model = other + traits.model;
        traits.workload = other + traits.workload;
    }
    if (!one.plan) {
        traits.layout = other + traits.layout;
        traits.replica = other + traits.replica;
    }
    Seconds const step = prediction.warm ? prediction.warm->step_before : prediction.step();
    calibration.warm.steps.push_back({.name = one.fact, .traits = std::move(traits), .measured = step, .predicted = step});
    return width_of(prediction, prediction.question, calibration);
}

std::string option_of(std::string const& field) {
    std::string option = "--" + field;
    std::ranges::replace(option, '_', '-');
    return option;
}

/// The question as if fields that hold for `told` were stated with the values that were taken.
template <class Told> Question stated(Question question, Told told) {
    std::erase_if(question.assumptions, told);
    return question;
}

/// All fields that widen the interval together, by name.
Narrowing structure(Prediction const& prediction, CalibrationSet const& calibration) {
    Narrowing one{.fact = "the plan of the run: ", .option = {}};
    std::vector<std::string> names, options;
    for (Assumption const& assumption : prediction.question.assumptions) {
        if (!assumption.structural) { continue; }
        names.push_back(assumption.field + " (" + assumption.value + " is assumed)");
        options.push_back(option_of(assumption.field));
    }
    one.fact += text::join(names, ", ");
    one.option = text::join(options, " ");
    Question const told = stated(prediction.question, [](Assumption const& a) { return a.structural; });
    one.after = width_of(prediction, told, calibration);
    return one;
}

} // namespace

FieldTable const& field_table_of(Narrowing const*) { return table; }

std::vector<Narrowing> narrowings(Prediction const& prediction, CalibrationSet const& calibration, bool of_plan) {
    Question const& question = prediction.question;
    double const before = half_width(prediction.interval);
    std::vector<Narrowing> facts, measured;
    auto const add = [&](std::vector<Narrowing>& to, Narrowing one) {
        one.before = before;
        if (one.after < least_narrowing * before) { to.push_back(std::move(one)); }
    };
    for (Measurement const& one : measurements) {
        if (of_plan && one.plan) { continue; } // a search does not tell plans apart
        add(measured, {.fact = one.fact, .option = one.option, .after = width_after(one, prediction, calibration)});
    }
    if (std::ranges::any_of(question.assumptions, &Assumption::structural)) {
        add(facts, structure(prediction, calibration));
    }
    for (Assumption const& guess : question.assumptions) {
        if (guess.structural || guess.provenance != Provenance::guessed) { continue; }
        auto const told = [&](Assumption const& one) { return one.field == guess.field; };
        add(facts, {.fact = guess.field + " (" + guess.value + " is assumed)",
                    .option = option_of(guess.field),
                    .after = width_of(prediction, stated(question, told), calibration)});
    }
    if (question.model.range.open()) {
        Question understood = question;
        understood.model.range = {};
        add(facts, {.fact = "the architecture of the model, which is not understood",
                    .option = "MODEL.toml",
                    .after = width_of(prediction, understood, calibration)});
    }
    auto const narrower = [](Narrowing const& a, Narrowing const& b) { return a.after < b.after; };
    std::ranges::stable_sort(measured, narrower);
    std::ranges::stable_sort(facts, narrower);
    std::size_t const best = std::min<std::size_t>(measured.size(), 1);
    facts.resize(std::min(facts.size(), most_narrowings - best));
    for (Narrowing& one : measured) {
        if (facts.size() < most_narrowings) { facts.push_back(std::move(one)); }
    }
    std::ranges::stable_sort(facts, narrower);
    return facts;
}

std::string words_of(std::vector<Narrowing> const& narrowings) {
    std::vector<std::string> parts;
    for (Narrowing const& one : narrowings) {
        parts.push_back("x" + text::significant(one.after) + " with " + one.fact + " (" + one.option + ")");
    }
    if (parts.empty()) { return {}; }
    return "the interval is x" + text::significant(narrowings.front().before) + " either way; it would be " +
           text::join(parts, ", ");
}

} // namespace headroom::training
