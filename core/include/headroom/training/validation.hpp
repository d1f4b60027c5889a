#pragma once

#include "headroom/training/measured_memory.hpp"
#include "headroom/training/prediction.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::training {

/// Utilization as a source prints it, in a convention that it states.
struct PublishedUtilization {
    std::optional<double> mfu, hfu;
    AttentionConvention convention = AttentionConvention::causal;
};

/// One published, measured run, ready to be predicted - or the reason why it cannot be.
struct PublishedRun {
    std::string id, source, accelerator;
    bool slow_links = false;   ///< its links are PCIe or Ethernet, as stated or as usual for its accelerators
    std::string table;         ///< identity of rows of one published table: all but the accelerator count
    std::string kind;          ///< "dense", "moe" ...
    std::string strategy_kind; ///< "tp+pp", "zero3" ...: the dimensions in use
    bool ordinary = false;     ///< of the table of software that nobody tuned: its figures are lines of their own
    std::optional<Question> question;          ///< empty when it cannot be predicted
    std::optional<Question> unnamed = {};      ///< if nobody had named its framework; empty where that guess cannot run
    std::string skipped_reason;                ///< why not
    bool states_enough = false;                ///< layers, hidden size, sequence, batch and accelerators are given
    Seconds measured;                          ///< of one step
    std::string measured_from;                 ///< the column that it follows from
    std::optional<Bytes> measured_memory = {}; ///< largest of an accelerator during the run
    bool ran_out = false;                      ///< of memory: nothing was measured
    MemoryKind memory_kind = MemoryKind::unstated;
    /// Set in place of `question` where the run states its memory, and no time that can be compared.
    std::optional<Question> memory_question = {};
    bool framework_assumed = false; ///< its source names no framework that the catalog recognises
    std::optional<PublishedUtilization> utilization = {};
    std::vector<std::string> assumed; ///< "field = value" of every gap filled
    bool batch_assumed = false;       ///< neither the global batch nor an accelerator's is stated
    /// One of them is a dimension, batch, degree, recomputation or interleaving: it does not state all that is asked.
    bool structural_assumption = false;
    std::string dropped_by = {};      ///< rule of validation/README.md by which it is suspect; empty: it counts
    std::string dropped_because = {}; ///< finding of the rule
    [[nodiscard]] bool counts() const { return dropped_by.empty(); }
    [[nodiscard]] bool only_memory() const { return memory_question.has_value(); }
    /// Question whose memory was measured; null where none was, or where it cannot be predicted.
    [[nodiscard]] Question const* asks_memory() const {
        if (!measured_memory && !ran_out) { return nullptr; }
        return only_memory() ? &*memory_question : question ? &*question : nullptr;
    }
};

/// One run and its prediction.
struct RunComparison {
    PublishedRun const* run = nullptr;
    std::optional<Seconds> predicted;
    PublishedRun const* anchor = nullptr; ///< the run on one worker of the same table whose pace it is given
    double pace = 1.0;                    ///< factor on computation that the prediction was given
    std::optional<double> relative_error; ///< predicted / measured - 1
    Extrapolation extrapolation = Extrapolation::seen; ///< of the prediction from what moved its constants
    Band band = {};                                    ///< that its interval is made of
    bool inside_interval = false;
    std::optional<Bytes> predicted_memory = {}; ///< memory that the allocator holds, where it was measured
    [[nodiscard]] std::optional<double> memory_error() const {
        if (!predicted_memory) { return std::nullopt; }
        return *predicted_memory / *run->measured_memory - 1.0;
    }
};

/// Relative errors of some rows. Median and 90th percentile count a skip that states enough as 100 %; the means and
/// the coverage are over what was predicted. Suspect rows are dropped: they are in no figure, nor among the rows. Runs that
/// state their memory, but no time that can be compared, are in no figure either.
struct ErrorSummary {
    int rows = 0, skipped = 0, dropped = 0;
    double median_absolute_error = 0.0, p90_absolute_error = 0.0;
    double mean_error = 0.0, mean_absolute_error = 0.0;
    double interval_coverage = 0.0;                         ///< share of measured values inside the predicted interval
    int states_enough = 0, predicted_of_stating_enough = 0; ///< rows
    double median_absolute_error_predicted = 0.0;           ///< over predicted rows, without skips
};

/// Relative errors of the memory of those rows that measured it.
struct MemorySummary {
    int rows = 0;
    double median_absolute_error = 0.0, largest_absolute_error = 0.0;
};
MemorySummary summarise_memory(std::span<RunComparison const> rows);

/// The suspect rows of one rule.
struct DroppedRows {
    std::string rule;
    std::vector<PublishedRun const*> runs;
};
/// By rule, in the order of its first row.
std::vector<DroppedRows> dropped_rows(std::span<RunComparison const> rows);

/// The rows that agree in one respect.
struct ErrorGroup {
    std::string by, name; ///< "source" and which one
    ErrorSummary summary;
};

/// Every run compared, and the summaries.
struct Validation {
    std::vector<RunComparison> rows;
    ErrorSummary summary; ///< every row; a skip that states enough counts as 100 %
    MemorySummary memory; ///< of the rows that measured it
    std::vector<ErrorGroup> groups;
};

/// The runs of a comparison that hold, with summaries of their own.
Validation part_of(Validation const& all, std::function<bool(PublishedRun const&)> const& holds);

/// Predicts each run and compares. Pure and deterministic.
///
/// Frameworks with kernels of their own (`Framework::paced`) are predicted as their users would: a run on K workers is
/// given the pace of the run on one worker in the same table, where there is one; the others the framework's factor.
///
///     pace = (measured_1 - predicted_1 without computation) / predicted computation_1
Validation validate(std::span<PublishedRun const> runs, CalibrationSet const& calibration);

/// Constants fitted without one source, by the name of that source, and without one mixture, by `mixture_of`.
struct Folds {
    std::map<std::string, Calibration> without, without_model;
    std::map<std::string, std::map<std::string, Pace>> pace;
    std::map<std::string, Seen> seen;                ///< by the other sources
    std::map<std::string, Bands> bands, bands_model; ///< made of residuals of the other sources, of the other mixtures
};

/// The mixture or hybrid that a run trains, in one spelling, variants in brackets left out; empty for others.
std::string mixture_of(PublishedRun const& run);

/// Experience of the runs that move the constants, those of the source `without` left out: generations and frameworks
/// with at least 5 runs. Frameworks with kernels of their own move none.
Seen seen_by(std::span<PublishedRun const> runs, std::string const& without = {});

/// The runs whose framework can be left unnamed, each with the question that it then makes.
std::vector<PublishedRun> unnamed_runs(std::span<PublishedRun const> runs);

/// The run on one worker that gives each run its pace, by the run; runs without one are missing.
std::map<PublishedRun const*, PublishedRun const*> anchors(std::span<PublishedRun const> runs);

/// Pace for which the prediction equals the measured step.
double pace_to_meet(PublishedRun const& run, CalibrationSet const& calibration);

/// Predicts each run by constants that never saw its source, and compares. Runs of a source without a fold use `set`:
/// none of its rows was fitted.
Validation validate_left_out(std::span<PublishedRun const> runs, CalibrationSet const& set, Folds const& folds);

/// Constants and paces of `set` with those of each fold, by the source that the fold leaves out.
std::map<std::string, CalibrationSet> sets_without(CalibrationSet const& set, Folds const& folds);

/// The mixtures and hybrids of `folds.without_model`, each predicted by constants that never saw its model, in whatever
/// source; other runs are left out of the result.
Validation validate_models_left_out(std::span<PublishedRun const> runs, CalibrationSet const& set, Folds const& folds);

/// A quantity's distribution over some rows by how far they were from what moved the constants.
struct BandSummary {
    Extrapolation kind = Extrapolation::seen;
    int rows = 0, sources = 0;
    double coverage = 0.0;          ///< share of measured steps inside the interval
    double median_half_width = 1.0; ///< of the bands: 1.2 is a fifth either way
    double median_absolute_error = 0.0;
};
/// One for each kind that has predicted rows.
std::vector<BandSummary> summarise_bands(std::span<RunComparison const> rows);

enum class Suspects { dropped, kept };

/// Summary over some rows, by the rule that a skip of a row that states enough is a 100 % error.
ErrorSummary summarise(std::span<RunComparison const> rows, Suspects suspects = Suspects::dropped);

} // namespace headroom::training
