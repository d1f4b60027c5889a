#pragma once

#include "headroom/fields.hpp"
#include "headroom/training/prediction.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom::training {

// One question asked of several models, machines or values of options, and of two plans.

/// A combination, answered.
struct Combination {
    /// Names and values that set it apart from the others: {"cluster", "dgx-h100"}, {"sequence-length", "8k"}.
    std::vector<std::pair<std::string, std::string>> values = {};
    std::optional<Prediction> prediction = {}; ///< empty where it cannot be predicted
    std::string why_not = {};                  ///< reason why it does not run; empty where it does
    std::string verdict = {};                  ///< of the plan that chose its size; empty without one
    std::string command = {};                  ///< of `headroom predict` for it
    bool soonest = false, cheapest = false;    ///< of all that run
    /// Whether it can run: it is legal, fits and makes progress.
    [[nodiscard]] bool runs() const { return prediction && why_not.empty(); }
};
FieldTable const& field_table_of(Combination const*);

/// Order of the rows of an answer.
enum class CombinationOrder {
    by_time, ///< soonest first
    by_cost, ///< cheapest first
    as_asked ///< as the values were listed
};

/// Answer of `predict` and `plan` about several combinations.
struct CombinationsAnswer {
    std::vector<Combination> combinations;
    std::size_t asked = 0; ///< more than there are, where it was interrupted
    std::string verdict = {};
    std::vector<std::string> notes = {};
};
FieldTable const& field_table_of(CombinationsAnswer const*);

/// A combination of a prediction: one that does not fit, or makes no progress, says why.
Combination combination_of(Prediction prediction);

/// Name of a combination by what it differs in: "llama-3-8b on dgx-h100, sequence-length 8k".
std::string label_of(Combination const& combination);

/// Marks the soonest and the cheapest, sorts, and says in the verdict which they are.
///
/// Time is that of the run, else of a token; cost that of the run, else of a million tokens. Those that do not run follow, with
/// their reasons. Nothing is soonest among models of tokens and of samples.
void compare_combinations(CombinationsAnswer& answer, CombinationOrder order);

/// Time that a part of the step takes in two plans.
struct PartDifference {
    std::string part;
    Seconds first, second;
};
FieldTable const& field_table_of(PartDifference const*);

/// Answer of `predict` about two plans of one question.
struct PlanPairAnswer {
    Combination first, second;
    std::vector<PartDifference> parts = {}; ///< that take any time in either, the largest difference first
    std::string verdict = {};
    std::vector<std::string> notes = {};
};
FieldTable const& field_table_of(PlanPairAnswer const*);

/// Compares two plans part by part. Contract: both have a prediction.
PlanPairAnswer compare_plans(Combination first, Combination second);

/// Parts of a step by name, in the order of tables.
std::vector<std::pair<std::string, Seconds>> named_parts(StepTime const& time);

} // namespace headroom::training
