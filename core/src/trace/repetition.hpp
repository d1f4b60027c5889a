#pragma once

#include "trace/busy_intervals.hpp"

#include "headroom/trace/rank_trace.hpp"

#include <string_view>
#include <vector>

namespace headroom::trace {

/// Steps that the trace itself states: `RankTrace::steps`, each window once; else ranges of the host whose names begin
/// with "ProfilerStep" but are cut short, numbered by order. With a name: the outermost ranges of the host of that name, where
/// there is none those that have it in theirs. Without any, the ranges of `named_step`. Numbers are those that names state,
/// else the order.
std::vector<TraceStep> annotated_steps(RankTrace const& trace, std::string_view name = {});

/// Steps from what comes again and again, numbered from 0; empty where nothing does.
///
/// A mark is a name, or a run of names in a row, that comes at least three times at even distances. Marks of one
/// distance divide the work into periods; they are taken for steps if
///   - all periods together cover three quarters of the work, by count and by time,
///   - nine names in ten, of those that make up a thousandth of the work, come equally often in most periods,
///   - what follows one mark follows the next: half of the next 32 names, beyond chance, and
///   - nothing of weight comes after the last mark that no period has: what follows would be the rest of a larger step, of which
///     the periods are micro-batches or layers.
/// Of several distances the shortest is taken that explains nearly as many names as the best. A step lasts from the
/// first interval of its period to that of the next; what follows the last mark is left out.
std::vector<TraceStep> repeated_steps(RankTrace const& trace, BusyIntervals const& busy);

} // namespace headroom::trace
