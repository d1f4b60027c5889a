#pragma once

#include "arguments.hpp"
#include "gate.hpp"
#include "setting_words.hpp"
#include "verb.hpp"

#include "headroom/io/sweep.hpp"
#include "headroom/training/combinations.hpp"

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace headroom::cli {

/// --sweep and --against-plan.
std::span<Option const> sweep_options();

/// A combination with the numbers that --require may ask about.
struct AnsweredCombination {
    training::Combination combination;
    std::vector<Metric> metrics = {}; ///< empty where it does not run
};

/// One combination, from its arguments; `notes` receives remarks on the input. Errors: InputError where it cannot be predicted;
/// Interrupted where it was stopped.
using AnswerCombination = std::function<AnsweredCombination(Arguments const& arguments, std::stop_token const& stop,
                                                            std::vector<std::string>& notes)>;

/// Answer of a verb about several combinations.
struct SeveralQuestion {
    Verb const& verb;
    Arguments const& arguments;
    AnswerCombination answer;
    std::span<char const* const> alone; ///< options that ask about one combination
    std::vector<Metric> metrics;        ///< without values: names that --require may ask about
    bool by_cost = false;               ///< the cheapest is asked for
};

/// Whether MODEL or --cluster names several ("dgx-a100,dgx-h100"), or --sweep or --against-plan is given.
bool asks_several(Arguments const& arguments);

/// Answers all combinations, or both plans, writes the result, or with --emit the launch file of the best, and returns the exit
/// code: 0 where one runs at least and the conditions of --require hold for each.
/// Errors: InputError{usage} for an unknown name, an option of `alone`, more than two sweeps and too many combinations; the
/// first combination's where none can be predicted.
int answer_several(SeveralQuestion const& question);

Document document_of(training::CombinationsAnswer const& answer, std::span<io::Sweep const> sweeps);
Document screen_document(training::CombinationsAnswer const& answer, std::span<io::Sweep const> sweeps,
                         ScreenSize screen);
/// Page with all rows, and a heat map where there are two lists of values.
Document page_of(training::CombinationsAnswer const& answer, std::span<io::Sweep const> sweeps);
Document document_of(training::PlanPairAnswer const& answer);
/// A row a combination, its values first.
Sheet sheet_of(training::CombinationsAnswer const& answer, std::span<io::Sweep const> sweeps);

} // namespace headroom::cli
