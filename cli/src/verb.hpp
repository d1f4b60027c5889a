#pragma once

#include "arguments.hpp"

#include "headroom/error.hpp"
#include "headroom/fields.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

/// One positional argument, by the name that `--help` and errors use.
struct Positional {
    char const* name;
    char const* help;
    bool many = false;
};

/// A verb: what it accepts and what it does. `run` returns the exit code. A name of two words ("measure comm") is a subject
/// of the first.
struct Verb {
    char const* name;
    char const* summary;
    std::span<Positional const> positionals;
    char const* examples;
    int (*run)(Arguments const&);
    std::vector<std::span<Option const>> options = {}; ///< its own, then shared ones
    std::span<Option const> reworded = {};       ///< shared options whose help is another here: their defaults differ
    std::vector<FieldTable const*> answers = {}; ///< field tables of its results, one for each form
    bool takes_command = false;                  ///< a command of the user's follows `--`: the argument "COMMAND"

    [[nodiscard]] std::vector<Option> all_options() const {
        std::vector<Option> all;
        for (auto const list : options) { all.insert(all.end(), list.begin(), list.end()); }
        for (Option const& own : reworded) {
            for (Option& shared : all) {
                if (std::string_view{shared.name} == own.name) { shared = own; }
            }
        }
        return all;
    }
    /// The option of this name or alias, as it is spelled; null where there is none.
    [[nodiscard]] Option const* option_spelled(std::string_view wanted) const {
        for (auto const list : options) {
            for (Option const& option : list) {
                if (option.name == wanted || (option.alias != nullptr && option.alias == wanted)) { return &option; }
            }
        }
        return nullptr;
    }
    /// The option of this name or alias, first as it is spelled, then whatever its hyphens; null where there is none.
    [[nodiscard]] Option const* option_named(std::string_view wanted) const {
        if (Option const* const spelled = option_spelled(wanted)) { return spelled; }
        std::string const letters = normalised(wanted);
        for (auto const list : options) {
            for (Option const& option : list) {
                bool const alias = option.alias != nullptr && normalised(option.alias) == letters;
                if (alias || normalised(option.name) == letters) { return &option; }
            }
        }
        return nullptr;
    }
};

/// Field tables of answers, for `Verb::answers`.
template <class... Answers> std::vector<FieldTable const*> tables_of() {
    return {&field_table_of(static_cast<Answers const*>(nullptr))...};
}

/// Exit codes: what scripts rely on.
enum Exit : int {
    done = 0,
    internal = 1,
    usage = 2,
    infeasible = 3,
    unreadable = 4,
    insufficient = 5,
    gate = 99,
    interrupted = 130
};

/// The code for a fault of the input.
int exit_code(Fault fault);

using MakeVerb = Verb (*)();

Verb predict_verb();
Verb plan_verb();
Verb finetune_verb();
Verb support_verb();
Verb validate_verb();
Verb laws_verb();
Verb graph_verb();
Verb roofline_verb();
Verb comm_verb();
Verb queue_verb();
Verb inference_verb();
Verb trace_verb();
Verb calibrate_verb();
Verb measure_roofline_verb();
Verb measure_comm_verb();
Verb measure_scaling_verb();
Verb history_verb();
Verb tail_verb();
Verb catalog_verb();
Verb schema_verb();
Verb serve_verb();

/// Names of all verbs, in the order of `--help`. A program holds some or all of them. A new verb is a folder, a name here and
/// a row of `all_verbs`.
inline constexpr std::array verb_names{
    "plan",         "predict",         "finetune", "support",   "inference", "validate", "laws",
    "graph",        "roofline",        "comm",     "tail",      "queue",     "trace",    "measure roofline",
    "measure comm", "measure scaling", "history",  "calibrate", "catalog",   "schema",   "serve"};

/// Verbs that only the program itself holds, at the end of `verb_names`.
inline constexpr std::size_t verbs_of_the_program = 1;

/// The verbs that the whole program holds, as `verb_names` has them.
std::span<MakeVerb const> all_verbs();

/// The verbs that this program holds (`run_program`).
std::vector<Verb> verbs();
/// Names of the verbs that this program does not hold.
std::vector<std::string> absent_verbs();

} // namespace headroom::cli
