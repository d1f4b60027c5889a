#pragma once

#include "arguments.hpp"
#include "output.hpp"
#include "predict/prediction_report.hpp"

#include <optional>
#include <string>

namespace headroom::cli {

/// Drawings and simulations that were asked for.
struct Views {
    bool compares = false;                                                          ///< --schedule all
    bool gantt = false;                                                             ///< --gantt
    bool draws = false;                                                             ///< the schedule, in the text
    bool simulates = false;                                                         ///< --simulate, or for a timeline
    training::CollectiveDetail collectives = training::CollectiveDetail::operation; ///< --simulate messages
    bool page = false; ///< --html: draws and simulates, in bounds
    std::optional<std::string> timeline = {}, memory_timeline = {};
};

/// Reads --gantt, --simulate, --timeline, --memory-timeline and --schedule; takes `all` away from the latter, which names no strategy.
/// Errors: InputError{usage} for collectives that are simulated in no such way.
Views read_views(Arguments& arguments, Output const& output);

/// Fills what is wanted; false when it was interrupted, with what is finished filled in.
/// Errors: InputError{usage} where there is no pipeline to draw or to compare, and where a timeline cannot be made.
bool fill_views(PredictionReport& report, Views const& views, Output const& output);

} // namespace headroom::cli
