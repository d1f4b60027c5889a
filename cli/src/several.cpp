#include "several.hpp"

#include "launch_files.hpp"
#include "program.hpp"
#include "setting.hpp"
#include "watch.hpp"

#include "headroom/document/text.hpp"
#include "headroom/error.hpp"
#include "headroom/interrupt.hpp"
#include "headroom/io/strategy.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

namespace headroom::cli {
namespace {

constexpr std::size_t most_sweeps = 2;

constexpr std::array sweep_option_rows{
    Option{
        "--sweep", "NAME=VALUES",
        "answer for several values of an option: sequence-length=4k..128k (doubling), tp=1,2,8; twice for two options",
        "Comparison", Takes::values},
    Option{"--against-plan", "FIELDS", "compare with another plan on the same accelerators: tp=8,pp=2", "Comparison"},
};

/// Names of a list, "dgx-a100,dgx-h100"; a file may have commas in its name.
std::vector<std::string> names_in(std::string const& text) {
    std::error_code error;
    if (text.find(',') == std::string::npos || std::filesystem::exists(text, error)) { return {text}; }
    return io::listed_values(text, "command line");
}

/// A sweep as it was written: the option's name and the text of its values.
std::pair<std::string, std::string> parts_of_sweep(std::string const& text) {
    auto const equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
        refuse("--sweep", headroom::quoted(text) + " names no values", "", "write --sweep sequence-length=4k..128k");
    }
    std::string name = io::words::trimmed(text.substr(0, equals));
    name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
    if (name.empty()) { refuse("--sweep", headroom::quoted(text) + " names no option"); }
    return {name, text.substr(equals + 1)};
}

/// Options that a sweep may vary: those that state the question.
std::vector<std::string> swept_options(Verb const& verb) {
    std::vector<std::string> names;
    for (Option const& option : verb.all_options()) {
        std::string_view const group = option.group;
        bool const asks = group != "Output" && group != "Answer" && group != "Data" && group != "Comparison";
        if (asks && option.takes == Takes::value) { names.emplace_back(option.name); }
    }
    return names;
}

/// The option and value that a sweep's name and one of its values mean, in words of other tools too: "seq-len" and "4k".
std::pair<std::string, std::string> own_words(Verb const& verb, std::string const& name, std::string const& value) {
    std::vector<std::string> notes;
    std::vector<std::string> const words = in_own_words(verb, {"--" + name + "=" + value}, notes);
    std::vector<std::string> const known = swept_options(verb);
    std::string const word = words.empty() ? "" : words.front();
    auto const equals = word.find('=');
    bool const is_pair = words.size() == 2 && equals == std::string::npos; // an option and its value
    bool const states_one = is_pair || (words.size() == 1 && equals != std::string::npos);
    std::string const option = word.substr(0, equals);
    auto const found =
        std::ranges::find_if(known, [&](std::string const& one) { return normalised(one) == normalised(option); });
    if (!states_one || found == known.end()) {
        std::string const near = misspelled("--" + name, known);
        refuse("--sweep", headroom::quoted(name) + " is no option with a value that states the question", "",
               near.empty() ? "see headroom " + std::string{verb.name} + " --help"
                            : "did you mean '" + near.substr(2) + "'?");
    }
    return {*found, is_pair ? words.back() : word.substr(equals + 1)};
}

io::Sweep read_sweep(SeveralQuestion const& question, std::string const& text) {
    auto const [name, values] = parts_of_sweep(text);
    bool const is_length = normalised(name).find("length") != std::string::npos || normalised(name).find("seq") == 0 ||
                           normalised(name) == "documents";
    io::Sweep sweep;
    for (std::string const& value :
         io::swept_values(values, is_length ? io::SweepScale::binary : io::SweepScale::decimal, "--sweep")) {
        auto const [option, own] = own_words(question.verb, name, value);
        sweep.name = option;
        sweep.values.push_back(own);
    }
    if (question.arguments.has(sweep.name)) {
        refuse("--sweep", "varies " + sweep.name + ", which is given, too", "", "leave one of them out");
    }
    return sweep;
}

/// Models, clusters and options with their values.
std::vector<io::Sweep> sweeps_of(SeveralQuestion const& question) {
    std::vector<io::Sweep> sweeps;
    for (char const* name : {"MODEL", "--cluster"}) {
        std::vector<std::string> names = names_in(question.arguments.text(name).value_or(""));
        if (names.size() > 1) { sweeps.push_back({name, std::move(names)}); }
    }
    std::vector<std::string> const texts = question.arguments.all("--sweep");
    if (texts.size() > most_sweeps) {
        refuse("--sweep", "given " + std::to_string(texts.size()) + " times", "two are answered in one call");
    }
    for (std::string const& text : texts) {
        sweeps.push_back(read_sweep(question, text));
        auto const same = std::ranges::count(sweeps, sweeps.back().name, &io::Sweep::name);
        if (same > 1) { refuse("--sweep", sweeps.back().name + " is varied twice", "", "name its values once"); }
    }
    return sweeps;
}

/// A name that is in no catalog is a mistake, not a combination that cannot run.
void look_up(std::vector<io::Sweep> const& sweeps, io::Catalog const& catalog) {
    for (io::Sweep const& sweep : sweeps) {
        for (std::string const& value : sweep.values) {
            if (sweep.name == "MODEL") { io::load_model(catalog, value, nullptr); }
            if (sweep.name == "--cluster") { io::load_machines(catalog, value); }
        }
    }
}

void refuse_alone(SeveralQuestion const& question) {
    for (char const* option : question.alone) {
        if (question.arguments.has(option)) {
            refuse(option, "given with several combinations", "it asks about one", "give it with one of them");
        }
    }
}

/// "--sequence-length" as "sequence-length", "MODEL" as "model".
std::string plain_name(std::string const& name) {
    return name == "MODEL" ? "model" : name.substr(name.find_first_not_of('-'));
}

std::string refusal_words(InputError const& error) {
    ErrorText const& text = error.text();
    return text.where + ": " + text.problem + (text.why.empty() ? "" : " (" + text.why + ")");
}

void add_notes(std::vector<std::string>& all, std::vector<std::string> const& more) {
    for (std::string const& text : more) {
        if (std::ranges::find(all, text) == all.end()) { all.push_back(text); }
    }
}

/// Arguments of one combination.
Arguments with_values(Arguments arguments, std::vector<io::Sweep> const& sweeps,
                      std::vector<std::string> const& values) {
    for (std::size_t i = 0; i < sweeps.size(); ++i) { arguments.add(sweeps[i].name, {values[i]}); }
    return arguments.without("--sweep");
}

/// Conditions of --require for one combination; those that do not run do not hold.
std::vector<GateOutcome> gates_of(SeveralQuestion const& question, AnsweredCombination const& one,
                                  std::string const& label) {
    bool const runs = one.combination.runs() && !one.metrics.empty();
    auto outcomes = check_gates(question.arguments, [&] { return runs ? one.metrics : question.metrics; });
    for (GateOutcome& outcome : outcomes) {
        outcome.combination = label;
        if (!runs) { outcome = {outcome.condition, {}, "unknown: it cannot run", false, label}; }
    }
    return outcomes;
}

/// Answers one combination after the other, until all are finished or Ctrl-C; `gates` receives the outcomes of --require.
CombinationsAnswer answer_all(SeveralQuestion const& question, std::vector<io::Sweep> const& sweeps, Watch& watch,
                              std::vector<GateOutcome>& gates) {
    auto const all = io::combinations_of(sweeps);
    CombinationsAnswer answer{.combinations = {}, .asked = all.size()};
    std::optional<InputError> first;
    for (auto const& values : all) {
        if (watch.interrupted()) { break; }
        AnsweredCombination one;
        std::vector<std::string> notes;
        try {
            one = question.answer(with_values(question.arguments, sweeps, values), watch.token(), notes);
        } catch (InputError const& error) {
            if (!first) { first = error; }
            one.combination.why_not = refusal_words(error);
        } catch (Interrupted const&) { break; }
        for (std::size_t i = 0; i < sweeps.size(); ++i) {
            one.combination.values.emplace_back(plain_name(sweeps[i].name), values[i]);
        }
        add_notes(answer.notes, notes);
        std::ranges::move(gates_of(question, one, label_of(one.combination)), std::back_inserter(gates));
        answer.combinations.push_back(std::move(one.combination));
        watch.progress(static_cast<double>(answer.combinations.size()) / static_cast<double>(all.size()));
    }
    if (answer.combinations.empty()) { throw Interrupted{}; }
    bool const any =
        std::ranges::any_of(answer.combinations, [](Combination const& one) { return one.prediction.has_value(); });
    if (!any && first) { throw *first; }
    return answer;
}

/// Writes a result with its notes.
template <class Answer> void write(Answer const& answer, Output const& output, Result result) {
    for (std::string const& text : answer.notes) { note(output, "note: " + text); }
    result.line = [&] { return answer.verdict; };
    write_result(output, result);
}

/// Head of the JSON of this verb.
ResultHead head(SeveralQuestion const& question) {
    io::Catalog const catalog = open_catalog(question.arguments);
    return head_of(question.verb.name, catalog, read_calibration(question.arguments, catalog).name);
}

/// Writes the launch file of --emit for the best that runs, soonest or cheapest, in the place of the result. False without the option.
bool emit_best(SeveralQuestion const& question, CombinationsAnswer const& answer, Output const& output) {
    if (!question.arguments.has("--emit")) { return false; }
    bool const by_cost = question.by_cost && std::ranges::any_of(answer.combinations, &Combination::cheapest);
    auto const best =
        std::ranges::find_if(answer.combinations, by_cost ? &Combination::cheapest : &Combination::soonest);
    if (best == answer.combinations.end()) {
        if (std::ranges::none_of(answer.combinations, &Combination::runs)) { return false; }
        refuse("--emit", "no combination is the best", "tokens and samples are not compared", "ask about one model");
    }
    Arguments arguments = question.arguments;
    for (auto const& [name, value] : best->values) { arguments.add(name == "model" ? "MODEL" : "--" + name, {value}); }
    note(output, "note: --emit writes the " + std::string{by_cost ? "cheapest" : "soonest"} + " of " +
                     std::to_string(answer.combinations.size()) + ", " + label_of(*best));
    return write_launch(arguments, best->prediction->question, output);
}

int sweep_exit_code(CombinationsAnswer const& answer, std::vector<GateOutcome> const& gates) {
    if (answer.combinations.size() < answer.asked) {
        refusal("combinations", "interrupted (" + std::to_string(answer.combinations.size()) + " of " +
                                    std::to_string(answer.asked) + " finished). the result covers those");
        return Exit::interrupted;
    }
    if (std::ranges::any_of(answer.combinations, &Combination::runs)) {
        return report_gates(gates) ? Exit::done : Exit::gate;
    }
    refusal("combinations", "none of " + std::to_string(answer.asked) + " runs");
    return Exit::infeasible;
}

// ---- two plans ----------------------------------------------------------------------------------------------------------

/// Arguments of the other plan: its fields in the place of those that were given, on the same number of accelerators.
Arguments other_plan(Arguments arguments, Prediction const& first) {
    std::string const text = *arguments.text("--against-plan");
    bool states_replicas = false;
    for (auto const& [name, value] : parse_pairs(text, "--against-plan")) {
        io::StrategyField const& field = io::known_strategy_field(name, "--against-plan");
        arguments.add(field.option, {value});
        states_replicas = states_replicas || std::string_view{field.option} == "--dp";
    }
    if (!states_replicas) {
        arguments = arguments.without("--dp");
        bool const sized = arguments.has("--workers") || arguments.has("--nodes");
        if (!sized) { arguments.add("--workers", {std::to_string(first.workers)}); }
    }
    return arguments;
}

/// Writes the launch file of --emit for the faster plan that runs, in the place of the result. False without the option.
bool emit_better(SeveralQuestion const& question, PlanPairAnswer const& answer, Output const& output) {
    bool const runs = answer.first.runs() || answer.second.runs();
    if (!question.arguments.has("--emit") || !runs) { return false; }
    bool const slower = answer.second.runs() && answer.second.prediction->step() < answer.first.prediction->step();
    Combination const& better = !answer.first.runs() || slower ? answer.second : answer.first;
    note(output, "note: --emit writes the faster plan, " + short_name(better.prediction->question.strategy));
    return write_launch(question.arguments, better.prediction->question, output);
}

int answer_pair(SeveralQuestion const& question, Output const& output) {
    Watch const watch{"comparing two plans", output.quiet};
    std::vector<std::string> notes;
    AnsweredCombination first = question.answer(question.arguments, watch.token(), notes);
    Arguments const others = other_plan(question.arguments, *first.combination.prediction);
    AnsweredCombination second = question.answer(others, watch.token(), notes);
    std::vector<GateOutcome> gates;
    for (AnsweredCombination const* one : {&first, &second}) {
        std::ranges::move(gates_of(question, *one, short_name(one->combination.prediction->question.strategy)),
                          std::back_inserter(gates));
    }
    PlanPairAnswer answer = compare_plans(std::move(first.combination), std::move(second.combination));
    add_notes(answer.notes, notes);
    if (!emit_better(question, answer, output)) {
        write(answer, output,
              result_of(
                  head(question), answer, [&] { return document_of(answer); }, {gates, stats_of(output)},
                  [&] { return row_sheet(answer.parts); }));
    }
    if (answer.first.runs() || answer.second.runs()) { return report_gates(gates) ? Exit::done : Exit::gate; }
    refusal("plans", "neither runs");
    return Exit::infeasible;
}

} // namespace

std::span<Option const> sweep_options() { return sweep_option_rows; }

bool asks_several(Arguments const& arguments) {
    auto const lists = [&arguments](char const* name) {
        return names_in(arguments.text(name).value_or("")).size() > 1;
    };
    return arguments.has("--sweep") || arguments.has("--against-plan") || lists("MODEL") || lists("--cluster");
}

int answer_several(SeveralQuestion const& question) {
    Output const output = read_output(question.arguments, screen_lines);
    refuse_alone(question);
    check_gates(question.arguments, [&] { return question.metrics; }); // before any work
    std::vector<io::Sweep> const sweeps = sweeps_of(question);
    look_up(sweeps, open_catalog(question.arguments));
    if (question.arguments.has("--against-plan")) {
        if (!sweeps.empty()) {
            refuse("--against-plan", "given with several combinations", "two plans of one question are compared",
                   "give one model and one cluster, without --sweep");
        }
        return answer_pair(question, output);
    }
    Watch watch{"answering several combinations", output.quiet};
    std::vector<GateOutcome> gates;
    CombinationsAnswer answer = answer_all(question, sweeps, watch, gates);
    bool const swept = question.arguments.has("--sweep");
    compare_combinations(answer, swept              ? CombinationOrder::as_asked
                                 : question.by_cost ? CombinationOrder::by_cost
                                                    : CombinationOrder::by_time);
    if (emit_best(question, answer, output)) { return sweep_exit_code(answer, gates); }
    Result result = result_of(
        head(question), answer, [&] { return document_of(answer, sweeps); }, {gates, stats_of(output)},
        [&] { return sheet_of(answer, sweeps); });
    result.page = [&] { return page_of(answer, sweeps); };
    result.screen = [&] { return screen_document(answer, sweeps, output.screen); };
    write(answer, output, std::move(result));
    return sweep_exit_code(answer, gates);
}

} // namespace headroom::cli
