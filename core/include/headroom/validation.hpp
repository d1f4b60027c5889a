#pragma once

#include "headroom/prediction.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// One published, measured run, ready to be predicted - or the reason why it cannot be.
struct PublishedRun {
    std::string id, source, accelerator, kind, strategy_kind;
    std::optional<Question> question;
    std::string skipped_reason;
    bool states_enough = false; ///< layers, hidden size, sequence, batch and accelerators are given
    Seconds measured;
    std::string measured_from;
    std::vector<std::string> assumed;
    bool structural_assumption = false;
};

struct RunComparison {
    PublishedRun const* run = nullptr;
    std::optional<Seconds> predicted;
    std::optional<double> relative_error; ///< predicted / measured - 1
    bool inside_interval = false;
};

struct ErrorSummary {
    int rows = 0, skipped = 0;
    double median_absolute_error = 0.0, p90_absolute_error = 0.0, mean_error = 0.0, mean_absolute_error = 0.0;
    double interval_coverage = 0.0;
};

struct ErrorGroup {
    std::string by, name;
    ErrorSummary summary;
};

struct Validation {
    std::vector<RunComparison> rows;
    ErrorSummary summary; ///< every row; a skip that states enough counts as 100 %
    std::vector<ErrorGroup> groups;
};

/// Predicts each run and compares. Pure and deterministic.
Validation validate(std::span<PublishedRun const> runs, CalibrationSet const& calibration);

/// Constants fitted without one source, by the name of that source.
struct Folds {
    std::map<std::string, Calibration> without;
};

/// The same comparison with every run predicted by constants that never saw its source. Runs of a
/// source without a fold use `set`: none of its rows was fitted.
Validation validate_left_out(std::span<PublishedRun const> runs, CalibrationSet const& set, Folds const& folds);

/// Summary over some rows, by the rule that a skip of a row that states enough is a 100 % error.
ErrorSummary summarise(std::span<RunComparison const> rows);

} // namespace headroom
