#pragma once

#include "headroom/io/csv.hpp"
#include "headroom/training/validation.hpp"

#include <span>
#include <string_view>

namespace headroom::io {

/// Marks the rows that a rule of validation/README.md drops: `dropped_by`, and what the rule found in `dropped_because`.
/// The rules, in this order, the first that fits counts:
///
///     impossible degrees   tp pp cp (dp) exceed the accelerators, or tp pp cp do not divide them
///     wrong by its source  the notes say that the source itself calls the configuration wrong
///     figures contradict   its step, tokens and samples a second are more than a factor of two apart
///     above the peak       more operations a second than its accelerators have
///     far from its repeats beyond 3/2 of the median of at least 3 runs of the same printed configuration, either way
///     taken with such a run of the table, day, model, accelerators and degrees of a run that is far from its repeats
///
/// No rule looks at a prediction. Holds for: `runs` in the order of the records of `table`.
void drop_suspects(CsvTable const& table, std::string_view where, std::span<training::PublishedRun> runs);

} // namespace headroom::io
