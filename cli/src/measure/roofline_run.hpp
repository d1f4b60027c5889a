#pragma once

#include "measure/measure.hpp"
#include "measure/roofline_points.hpp"
#include "watch.hpp"

#include <cstdint>

namespace headroom::cli {

/// How often everything is timed. Both follow from the budget and the number of points, so that a campaign that goes on
/// later ends where it would have ended.
struct RooflinePlan {
    std::uint32_t repetitions = 7; ///< of each point, the first of them to warm up
    double slot_seconds = 0.02;    ///< that one repetition should take
};

/// Seven repetitions at least: six that count give an interval of 95 %. Beyond 31 the time goes into longer ones.
RooflinePlan plan_of(RooflineTask const& task, std::size_t points);

/// Times what is still missing, a round of all points after the other, each in another order, so that whatever the machine
/// does in the meantime meets all of them. Stops when the watch says so; returns whether everything is there.
bool take_samples(RooflineBench& bench, RooflineTask const& task, Recorder& recorder, Watch& watch);

} // namespace headroom::cli
