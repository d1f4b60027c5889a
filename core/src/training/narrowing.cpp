#include "headroom/training/narrowing.hpp"

#include "headroom/text.hpp"
#include "headroom/training/calibration.hpp"
#include "headroom/training/legality.hpp"
#include "headroom/training/warm_start.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string_view>

namespace headroom::training {
namespace {

constexpr double least_narrowing = 0.99; ///< of the half-width

constexpr Field narrowing_rows[] = {
    {"fact", "Fact, in words.", member<&Narrowing::fact>},
    {"option", "Option that states it.", member<&Narrowing::option>},
    {"half_width_before", "Half-width of the interval, sqrt(high / low): 1.2 is a fifth either way.",
     member<&Narrowing::before>},
    {"half_width_after", "Half-width of the interval with the fact stated.", member<&Narrowing::after>},
};
constexpr FieldTable narrowing_table = field_table<Narrowing>("narrowing", narrowing_rows);

constexpr Field effect_rows[] = {
    {"field", "Field that nobody stated.", member<&GuessEffect::field>},
    {"value", "Value that was taken.", member<&GuessEffect::value>},
    {"reason", "Why it was taken.", member<&GuessEffect::reason>},
    {"option", "Option that states it.", member<&GuessEffect::option>},
    {"low", "Shortest step with another value over that with this one; null where it is not known.",
     member<&GuessEffect::low>},
    {"high", "Longest step with another value over that with this one; null where it is not known.",
     member<&GuessEffect::high>},
};
constexpr FieldTable effect_table = field_table<GuessEffect>("guess_effect", effect_rows);

double half_width(Interval const& interval) { return std::sqrt(interval.high / interval.low); }

/// A step as the constants give it, without measured ones.
struct PlainStep {
    Seconds step;
    double pace = 1.0;
};
PlainStep plain(Prediction const& of) { return {of.warm ? of.warm->step_before : of.step(), of.pace}; }

/// Half-width of the interval of a step if its question were another one of the same step.
double width_of(PlainStep const& of, Question const& question, CalibrationSet const& calibration,
                std::span<MeasuredStep const> measured) {
    Interval const interval = interval_of(of.step, question, calibration, of.pace);
    auto const traits = traits_of(question);
    auto const posterior = warm_posterior(traits, measured, calibration.warm.likeness(traits));
    return half_width(posterior.related > 0 ? narrowed(interval, of.step, posterior) : interval);
}

double width_of(PlainStep const& of, Question const& question, CalibrationSet const& calibration) {
    return width_of(of, question, calibration, calibration.warm.steps);
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
double width_after(Measurement const& one, PlainStep const& of, Question const& question,
                   CalibrationSet const& calibration) {
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
    auto measured = calibration.warm.steps;
    measured.push_back({.name = one.fact, .traits = std::move(traits), .measured = of.step, .predicted = of.step});
    return width_of(of, question, calibration, measured);
}

/// Other values of a field of the plan that a run may have.
struct Alternatives {
    std::string_view field;
    std::vector<Strategy> (*of)(Strategy const& taken);
};

template <class Value>
std::vector<Strategy> others(Strategy const& taken, Value Strategy::*field, std::initializer_list<Value> values) {
    std::vector<Strategy> all;
    for (Value const value : values) {
        if (value == taken.*field) { continue; }
        all.push_back(taken);
        all.back().*field = value;
    }
    return all;
}

constexpr Alternatives alternatives[] = {
    {"recompute",
     [](Strategy const& s) {
         return others(s, &Strategy::recompute, {Recompute::none, Recompute::selective, Recompute::full});
     }},
    {"micro_batch",
     [](Strategy const& s) {
         return others(s, &Strategy::micro_batch, {s.micro_batch / 2, 2 * s.micro_batch});
     }},
    {"zero",
     [](Strategy const& s) {
         return others(s, &Strategy::zero, {0, 1, 3});
     }},
    {"sequence_parallel",
     [](Strategy const& s) { return others(s, &Strategy::sequence_parallel, {s.tp > 1 && !s.sequence_parallel}); }},
    {"tp",
     [](Strategy const& s) {
         auto all = others(s, &Strategy::tp, {s.tp / 2, 2 * s.tp});
         for (Strategy& one : all) {
             one.dp = one.tp < s.tp ? 2 * s.dp : s.dp / 2;
             one.sequence_parallel = one.sequence_parallel && one.tp > 1;
         }
         return all;
     }},
};

/// Another machine, or way of using it, that a run may have.
struct MachineAlternative {
    std::string_view field;
    void (*change)(Cluster& cluster, Strategy& strategy);
};

constexpr MachineAlternative machine_alternatives[] = {
    // machines that state theirs have half of a vendor's reference node in the median (validation/README.md)
    {"network", [](Cluster& cluster, Strategy& strategy) { (void)strategy, cluster.scale_out.bandwidth *= 0.5; }},
    {"power_limit", // an H100 of 700 W is run at 500 W (docs/accuracy.md)
     [](Cluster& cluster, Strategy& strategy) {
         (void)strategy, cluster.accelerator.power_limit = 5.0 / 7.0 * cluster.accelerator.tdp;
     }},
    {"overlap", [](Cluster& cluster, Strategy& strategy) { (void)cluster, strategy.overlap = Overlap::off; }},
};

/// Whether a plan can run and fits, as the one that was taken does.
bool is_possible(Strategy const& strategy, Prediction const& taken) {
    Question const& question = taken.question;
    bool const degrees = strategy.micro_batch > 0 && strategy.tp > 0 && strategy.dp > 0 &&
                         strategy.workers() == question.strategy.workers();
    return degrees && illegal_because(strategy, question.model, question.workload).empty();
}

/// Costs of another strategy of the same question; nothing where it does not fit.
std::optional<LayerCosts> costs_if_it_fits(StepSetting const& setting, Strategy const& strategy, double pace) {
    MemoryUse const use = memory_use(setting, strategy);
    if (use.total() > usable_memory(setting.cluster.accelerator, use)) { return std::nullopt; }
    LayerShape const shape = shape_of(strategy, setting.workload);
    LayerCosts costs = layer_costs(step_program(setting.model, shape, setting.framework), shape, setting.cluster,
                                   setting.framework, setting.constants);
    costs.pace(pace);
    return costs;
}

/// Steps with other values of a field over the step with the one that was taken. Ratios of steps are those of the screen: it
/// orders strategies, and is a hundred times faster than a price.
std::vector<double> ratios_of(Alternatives const& field, Prediction const& prediction, StepSetting const& setting) {
    std::vector<double> ratios;
    Seconds const taken = screen_step(setting, prediction.question.strategy, prediction.costs);
    for (Strategy const& other : field.of(prediction.question.strategy)) {
        if (!is_possible(other, prediction)) { continue; }
        if (auto const costs = costs_if_it_fits(setting, other, prediction.pace)) {
            ratios.push_back(screen_step(setting, other, *costs) / taken);
        }
    }
    return ratios;
}

/// Step on the other machine over that on the one that was taken, both priced: there are three of them at most.
std::vector<double> ratios_of(MachineAlternative const& other, Prediction const& prediction,
                              StepSetting const& setting) {
    Question const& question = prediction.question;
    Cluster cluster = setting.cluster;
    Strategy strategy = question.strategy;
    other.change(cluster, strategy);
    StepSetting const changed = step_setting(question, cluster, setting.constants);
    auto const costs = costs_if_it_fits(changed, strategy, prediction.pace);
    return costs ? std::vector{price_step(changed, strategy, *costs).total() / plain(prediction).step}
                 : std::vector<double>{};
}

std::string option_of(std::string const& field) {
    std::string option = "--" + field;
    std::ranges::replace(option, '_', '-');
    return option;
}

/// The question with the assumptions of `selected` stated by the user, at their assumed values.
template <class Selected> Question stated(Question question, Selected selected) {
    std::erase_if(question.assumptions, selected);
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
    Question const complete = stated(prediction.question, [](Assumption const& a) { return a.structural; });
    one.after = width_of(plain(prediction), complete, calibration);
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

/// Half-widths of the runs of a narrowing_table, and what they would be with each fact.
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
        auto const add = [&](Sum& sum, auto selected) {
            question.assumptions = all;
            bool const guessed = std::erase_if(question.assumptions, selected) > 0;
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

/// The best measurement and the best other facts; further measurements where there is room.
std::vector<Narrowing> most_effective(std::vector<Narrowing> facts, std::vector<Narrowing> measured) {
    std::ranges::stable_sort(measured, {}, &Narrowing::after);
    std::ranges::stable_sort(facts, {}, &Narrowing::after);
    std::size_t const best = std::min<std::size_t>(measured.size(), 1);
    facts.resize(std::min(facts.size(), most_narrowings - best));
    for (Narrowing& one : measured) {
        if (facts.size() < most_narrowings) { facts.push_back(std::move(one)); }
    }
    std::ranges::stable_sort(facts, {}, &Narrowing::after);
    return facts;
}

} // namespace

FieldTable const& field_table_of(Narrowing const*) { return narrowing_table; }
FieldTable const& field_table_of(GuessEffect const*) { return effect_table; }

std::vector<GuessEffect> guess_effects(Prediction const& prediction, CalibrationSet const& calibration) {
    Question const& question = prediction.question;
    Cluster const cluster = congested(question.cluster, question.disturbance.congestion, question.strategy.workers());
    Calibration const constants = calibration.values();
    StepSetting const setting = step_setting(question, cluster, constants);
    std::vector<GuessEffect> effects;
    for (Assumption const& one : question.assumptions) {
        if (one.provenance != Provenance::guessed) { continue; }
        GuessEffect effect{
            .field = one.field, .value = one.value, .reason = one.reason, .option = option_of(one.field)};
        auto const field = std::ranges::find(alternatives, one.field, &Alternatives::field);
        std::vector<double> ratios;
        bool const fits = prediction.memory.total() <= prediction.memory_usable; // else nothing shows what else would
        if (fits && field != std::ranges::end(alternatives)) { ratios = ratios_of(*field, prediction, setting); }
        auto const machine = std::ranges::find(machine_alternatives, one.field, &MachineAlternative::field);
        if (fits && machine != std::ranges::end(machine_alternatives)) {
            ratios = ratios_of(*machine, prediction, setting);
        }
        if (!ratios.empty()) {
            ratios.push_back(1.0); // of the guess itself
            auto const [low, high] = std::ranges::minmax(ratios);
            effect.low = low;
            effect.high = high;
        }
        effects.push_back(std::move(effect));
    }
    return effects;
}

std::vector<Narrowing> narrowings(Prediction const& prediction, CalibrationSet const& calibration, bool of_plan) {
    Question const& question = prediction.question;
    PlainStep const step = plain(prediction);
    double const before = half_width(prediction.interval);
    std::vector<Narrowing> facts, measured;
    auto const add = [before](std::vector<Narrowing>& to, Narrowing one) {
        one.before = before;
        if (one.after < least_narrowing * before) { to.push_back(std::move(one)); }
    };
    for (Measurement const& one : measurements) {
        std::string const fact = of_plan && one.plan ? "a measured step of this plan, given to predict" : one.fact;
        add(measured, {.fact = fact, .option = one.option, .after = width_after(one, step, question, calibration)});
    }
    if (std::ranges::any_of(question.assumptions, &Assumption::structural)) {
        add(facts, structure(prediction, calibration));
    }
    for (Assumption const& guess : question.assumptions) {
        if (guess.structural || guess.provenance != Provenance::guessed) { continue; }
        auto const of_guess = [&](Assumption const& one) { return one.field == guess.field; };
        add(facts, {.fact = guess.field + " (" + guess.value + " is assumed)",
                    .option = option_of(guess.field),
                    .after = width_of(step, stated(question, of_guess), calibration)});
    }
    if (question.model.range.open()) {
        Question understood = question;
        understood.model.range = {};
        add(facts, {.fact = "the architecture of the model, which is not understood",
                    .option = "MODEL.toml",
                    .after = width_of(step, understood, calibration)});
    }
    return most_effective(std::move(facts), std::move(measured));
}

std::vector<Narrowing> narrowings(std::span<RunComparison const> runs, CalibrationSet const& calibration) {
    RunWidths widths{guessed_fields(runs)};
    for (RunComparison const& row : runs) {
        if (row.run->question && row.predicted) { widths.add(row, calibration); }
    }
    return widths.narrowings();
}

std::string words_of(std::vector<Narrowing> const& narrowings) {
    if (narrowings.empty()) { return {}; }
    std::vector<std::string> parts;
    for (Narrowing const& one : narrowings) {
        parts.push_back("x" + text::significant(one.after) + " with " + one.fact + ": " + one.option);
    }
    return "the step is known to x" + text::significant(narrowings.front().before) + " either way; it would be " +
           text::join(parts, "; ");
}

std::string words_of(std::vector<GuessEffect> const& effects) {
    constexpr double least = 1.05; // longest over shortest step: less than the scatter of measured runs
    std::vector<GuessEffect> moving;
    for (GuessEffect const& one : effects) {
        if (one.low && *one.high >= least * *one.low) { moving.push_back(one); }
    }
    std::ranges::stable_sort(moving, std::ranges::greater{},
                             [](GuessEffect const& one) { return *one.high / *one.low; });
    moving.resize(std::min(moving.size(), most_narrowings));
    std::vector<std::string> parts;
    for (GuessEffect const& one : moving) {
        std::string const range = "x" + text::significant(*one.low) + " to x" + text::significant(*one.high);
        parts.push_back(one.field + " " + one.value + (parts.empty() ? ": other values give " : ": ") + range +
                        (parts.empty() ? " of this step" : "") + " (" + one.option + ")");
    }
    return text::join(parts, "; ");
}

} // namespace headroom::training
