#pragma once

#include "headroom/fields.hpp"
#include "headroom/training/narrowing.hpp"
#include "headroom/training/prediction.hpp"
#include "headroom/training/training_answers.hpp"
#include "headroom/training/validation.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::training {

// Evidence behind a prediction: what is known, fitted, guessed and was never seen.

/// Measured runs that are alike: by accelerator generation, framework, kind of model, trained weights and precision.
struct RunGroup {
    Generation generation = Generation::hopper;
    std::string framework; ///< empty where its source names none
    bool mixture = false;  ///< of experts or scans, whose constants differ
    Trained trained = Trained::all;
    Precision precision = Precision::bf16;
    int runs = 0;
    int least_workers = 0, most_workers = 0;
    bool operator==(RunGroup const&) const = default;
};

/// Groups of the runs of tables that can be predicted and are not suspect, the largest first.
std::vector<RunGroup> run_groups(std::span<PublishedRun const> runs);

/// Measured runs that agree with a question in some respect.
struct SimilarRuns {
    std::string respect; ///< "hopper with megatron-core, dense models"
    int runs = 0;
    std::optional<int> least_workers = {}, most_workers = {}; ///< empty without runs
};
FieldTable const& field_table_of(SimilarRuns const*);

/// A fact of the catalog with its source.
struct KnownFact {
    std::string what, value, source;
};
FieldTable const& field_table_of(KnownFact const*);

/// Answer of `headroom support`.
struct SupportAnswer {
    Prediction prediction;
    std::vector<KnownFact> known = {};
    std::vector<SimilarRuns> evidence = {};    ///< from the widest respect to the narrowest
    bool pair_seen = false;                    ///< a run of this accelerator generation and framework was measured
    std::vector<ConstantValue> constants = {}; ///< that this step and its memory use
    std::vector<GuessEffect> guessed = {};
    std::vector<std::string> never_seen = {};
    std::vector<Narrowing> narrows = {}; ///< facts to measure or to state first
    std::string verdict = {};
    std::vector<std::string> notes = {};
};
FieldTable const& field_table_of(SupportAnswer const*);

/// The evidence behind a prediction; `groups`: measured runs.
SupportAnswer support_of(Prediction prediction, CalibrationSet const& calibration, std::span<RunGroup const> groups,
                         std::vector<KnownFact> known);

/// Constants in use whose value has this origin.
std::vector<std::string> constants_of(SupportAnswer const& answer, Provenance provenance);

} // namespace headroom::training
