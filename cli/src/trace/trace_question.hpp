#pragma once

#include "output.hpp"
#include "trace/trace_reading.hpp"

#include "headroom/trace/trace_report.hpp"

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

} // namespace headroom::cli
