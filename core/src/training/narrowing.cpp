#include "headroom/training/narrowing.hpp"

#include "headroom/text.hpp"
#include "headroom/training/calibration.hpp"
#include "headroom/training/warm_start.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

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

/// A step as the constants give it, without measured ones.
struct PlainStep {
    Seconds step;
    double pace = 1.0;
};
PlainStep plain(Prediction const& of) { return {of.warm ? of.warm->step_before : of.step(), of.pace}; }

/// Half-width of the interval of a step if its question were another one of the same step.
double width_of(PlainStep const& of, Question const& question, CalibrationSet const& calibration) {
    Interval const interval = interval_of(of.step, question, calibration, of.pace);
    auto const traits = traits_of(question);
    auto const posterior = warm_posterior(traits, calibration.warm.steps, calibration.warm.likeness(traits));
    return half_width(posterior.related > 0 ? narrowed(interval, of.step, posterior) : interval);
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
double width_after(Measurement const& one, PlainStep const& of, Question const& question, CalibrationSet calibration) {
    StepTraits traits = traits_of(question);
    constexpr char const* other = "another: ";
    if (!one.model) {
        traits.model = other + traits.model;
        traits.workload = other + traits.workload;
    }
    if (!one.plan) {
        traits.layout = other + traits.layout;
        traits.replica = other + traits.replica;
    }
    calibration.warm.steps.push_back(
        {.name = one.fact, .traits = std::move(traits), .measured = of.step, .predicted = of.step});
    return width_of(of, question, calibration);
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
    one.after = width_of(plain(prediction), told, calibration);
    return one;
}

std::set<std::string> guessed_fields(std::span<RunComparison const> runs) {
    std::set<std::string> fields;
    for (RunComparison const& row : runs) {
        if (!row.run->question) { continue; }
        for (Assumption const& one : row.run->question->assumptions) {
            if (one.structural || one.provenance == Provenance::guessed) { fields.insert(one.field); }
        }
    }
    return fields;
}

/// Half-widths of the runs of a table, and what they would be with each fact.
class RunWidths {
public:
    explicit RunWidths(std::set<std::string> const& fields) {
        for (std::string const& field : fields) { fields_[field] = {}; }
    }

    void add(RunComparison const& row, CalibrationSet const& calibration) {
        Question question = *row.run->question;
        PlainStep const step{*row.predicted, row.pace};
        double const now = std::log(width_of(step, question, calibration));
        ++runs_;
        before_ += now;
        measured_ += std::log(width_after(measurements[0], step, question, calibration));
        auto const all = question.assumptions;
        auto const add = [&](Sum& sum, auto told) {
            question.assumptions = all;
            bool const guessed = std::erase_if(question.assumptions, told) > 0;
            sum.guessed += guessed ? 1 : 0;
            sum.after += guessed ? std::log(width_of(step, question, calibration)) : now;
        };
        add(structure_, [](Assumption const& one) { return one.structural; });
        for (auto& field : fields_) {
            add(field.second, [&](Assumption const& one) { return one.field == field.first; });
        }
    }

    [[nodiscard]] std::vector<Narrowing> narrowings() const {
        std::vector<Narrowing> facts;
        auto const add = [&](std::string fact, std::string option, double after) {
            Narrowing one{std::move(fact), std::move(option), std::exp(before_ / runs_), std::exp(after / runs_)};
            if (runs_ > 0 && one.after < least_narrowing * one.before) { facts.push_back(std::move(one)); }
        };
        auto const in_runs = [](Sum const& sum) { return ", guessed in " + text::counted(sum.guessed, "run"); };
        add("a measured step of each plan, with any number of replicas", "--calibration FILE", measured_);
        add("every degree, batch and choice of a plan" + in_runs(structure_), "columns of the plan", structure_.after);
        for (auto const& [field, sum] : fields_) { add(field + in_runs(sum), "column " + field, sum.after); }
        std::ranges::stable_sort(facts, {}, &Narrowing::after);
        facts.resize(std::min(facts.size(), most_narrowings));
        return facts;
    }

private:
    struct Sum {
        double after = 0.0;      ///< of logarithms
        std::size_t guessed = 0; ///< runs that do not state it
    };
    int runs_ = 0;
    double before_ = 0.0, measured_ = 0.0;
    Sum structure_;
    std::map<std::string, Sum> fields_;
};

} // namespace

FieldTable const& field_table_of(Narrowing const*) { return table; }

std::vector<Narrowing> narrowings(Prediction const& prediction, CalibrationSet const& calibration, bool of_plan) {
    Question const& question = prediction.question;
    double const before = half_width(prediction.interval);
    PlainStep const step = plain(prediction);
    std::vector<Narrowing> facts, measured;
    auto const add = [&](std::vector<Narrowing>& to, Narrowing one) {
        one.before = before;
        if (one.after < least_narrowing * before) { to.push_back(std::move(one)); }
    };
    for (Measurement const& one : measurements) {
        if (of_plan && one.plan) { continue; } // a search does not tell plans apart
        add(measured, {.fact = one.fact, .option = one.option, .after = width_after(one, step, question, calibration)});
    }
    if (std::ranges::any_of(question.assumptions, &Assumption::structural)) {
        add(facts, structure(prediction, calibration));
    }
    for (Assumption const& guess : question.assumptions) {
        if (guess.structural || guess.provenance != Provenance::guessed) { continue; }
        auto const told = [&](Assumption const& one) { return one.field == guess.field; };
        add(facts, {.fact = guess.field + " (" + guess.value + " is assumed)",
                    .option = option_of(guess.field),
                    .after = width_of(step, stated(question, told), calibration)});
    }
    if (question.model.range.open()) {
        Question understood = question;
        understood.model.range = {};
        add(facts, {.fact = "the architecture of the model, which is not understood",
                    .option = "MODEL.toml",
                    .after = width_of(step, understood, calibration)});
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

std::vector<Narrowing> narrowings(std::span<RunComparison const> runs, CalibrationSet const& calibration) {
    RunWidths widths{guessed_fields(runs)};
    for (RunComparison const& row : runs) {
        if (row.run->question && row.predicted) { widths.add(row, calibration); }
    }
    return widths.narrowings();
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
