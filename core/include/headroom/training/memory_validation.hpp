#pragma once

#include "headroom/fields.hpp"
#include "headroom/issue.hpp"
#include "headroom/training/measured_memory.hpp"
#include "headroom/training/memory_spread.hpp"
#include "headroom/training/validation.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::training {

/// A run that measured its memory, and the prediction of it.
struct MemoryComparison {
    PublishedRun const* run = nullptr;
    MemoryUse use;
    Bytes predicted;                          ///< of the kind that was measured
    Bytes capacity;                           ///< of the accelerator
    std::optional<MemoryRange> range = {};    ///< of the kind that was measured, by spreads in use
    std::optional<MemoryRange> left_out = {}; ///< by spreads without its family
    std::optional<double> probability = {};   ///< that the footprint fits, without its family
    [[nodiscard]] Question const& question() const { return *run->asks_memory(); }
    [[nodiscard]] double error() const { return predicted / *run->measured_memory - 1.0; }
    [[nodiscard]] bool fits() const { return use.footprint() <= capacity; }
};

/// Relative errors of the memory of some runs. `families_` figures weigh families alike: the median is that of the families'
/// medians, the 90th percentile is over all runs, each with the weight 1 / (runs of its family).
struct MemoryErrors {
    int rows = 0, families = 0;
    double median_error = 0.0; ///< signed: below zero where predictions are too low
    double median_absolute_error = 0.0, p90_absolute_error = 0.0;
    double families_median_absolute_error = 0.0, families_p90_absolute_error = 0.0;
    int refused = 0;                                   ///< ran although predicted not to fit
    std::optional<double> coverage, left_out_coverage; ///< of the intervals
};
MemoryErrors memory_errors(std::span<MemoryComparison const> rows);

/// Runs that agree in one respect.
struct MemoryGroup {
    std::string by, name; ///< "memory" and "reserved"
    MemoryErrors errors;
};

/// A run with a memory that cannot be predicted.
struct SkippedMemory {
    PublishedRun const* run = nullptr;
};

/// A figure of this validation and the bar that the project sets itself.
struct MemoryTarget {
    std::string figure;                      ///< "median error of allocated memory"
    std::optional<double> value;             ///< empty where no run shows it
    std::optional<double> at_least, at_most; ///< the bar
    [[nodiscard]] bool met() const {
        return value && (!at_least || *value >= *at_least) && (!at_most || *value <= *at_most);
    }
};

/// Every measured memory compared, and the summaries.
struct MemoryValidation {
    std::vector<MemoryComparison> rows;    ///< suspect runs left out
    std::vector<MemoryComparison> ran_out; ///< runs that ran out of memory: nothing measured
    std::vector<SkippedMemory> skipped;
    MemoryErrors all;
    std::vector<MemoryGroup> groups;             ///< by memory kind, family, framework, recomputation, trained weights
    std::optional<double> least_probability;     ///< of fitting, over the runs that ran
    std::optional<double> greatest_probability;  ///< over those that ran out of memory
    std::optional<double> least_family_coverage; ///< without the family, of those with at least 8 runs
};

/// Predicts the memory of each run and compares. Pure and deterministic. The interval and the probability of a run come from
/// `spread`, and from the spread of the other families' runs where it is known.
MemoryValidation validate_memory(std::span<PublishedRun const> runs, std::optional<MemorySpread> const& spread);

/// Figures and bars: errors by kind of memory with families weighed alike, of all kinds with each family left out, intervals made
/// without a run's family, and probabilities of runs that ran and that ran out. Bytes are not fitted to runs, so an error with its
/// family left out is the error.
std::vector<MemoryTarget> memory_targets(MemoryValidation const& validation);

/// Samples of a fit of the spread.
std::vector<MemorySample> memory_samples(std::span<MemoryComparison const> rows);

/// Answer of `headroom validate --memory`.
struct MemoryValidationAnswer {
    std::string runs_name;
    MemoryValidation validation;
    std::vector<Issue> issues = {}; ///< of the table
    std::optional<MemorySpread> spread = {};
};
FieldTable const& field_table_of(MemoryValidationAnswer const*);
FieldTable const& field_table_of(MemoryComparison const*);

} // namespace headroom::training
