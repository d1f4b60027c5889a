#pragma once

#include "arguments.hpp"
#include "output.hpp"
#include "trace/trace_reading.hpp"

#include "headroom/trace/trace_report.hpp"

#include <vector>

namespace headroom::cli {

/// Everything that the command line asks of traces.
struct TraceAsked {
    TraceQuestion files;
    std::optional<TraceQuestion> baseline;
    trace::TraceReportQuestion report; ///< but for the machine, which stands in the catalog
    std::optional<std::string> machine;
    std::optional<std::string> timeline; ///< file of the Chrome trace
};

std::span<Option const> trace_options();

/// Errors: InputError{usage}.
TraceAsked read_trace_question(Arguments const& arguments, Output const& output);

/// Options of --plan: the question that `headroom predict` is asked of larger sizes.
std::vector<Option> larger_options();
/// Errors: InputError{usage} for options of --plan without it, and for --plan without a machine.
void require_larger(Arguments const& arguments);

/// Predicts the step at twice, four and eight times the workers; the median step of the traces is a measured one of the
/// question at their own size. Errors: InputError{usage} where the traces have no steps or an unknown number of workers,
/// and those of `predict`.
void predict_larger(trace::TraceReport& report, Arguments const& arguments);

std::vector<Block> larger_blocks(trace::TraceReport const& report);

} // namespace headroom::cli
