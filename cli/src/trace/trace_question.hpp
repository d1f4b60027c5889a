#pragma once

#include "trace/trace_report.hpp"

namespace headroom::cli {

/// Everything that the command line asks of traces.
struct TraceAsked {
    TraceQuestion question;
    std::optional<TraceQuestion> baseline;
    std::optional<std::string> timeline; ///< where the Chrome trace goes
    std::size_t top = 10;
    std::optional<std::string> machine; ///< under whose roofline kernels are put
};

std::span<Option const> trace_options();

/// Errors: InputError{usage}.
TraceAsked read_trace_question(Arguments const& arguments, Output const& output);

} // namespace headroom::cli
