#pragma once

#include "headroom/measure/measured_scaling.hpp"
#include "headroom/probe/run_command.hpp"

#include <functional>
#include <stop_token>
#include <string_view>
#include <vector>

namespace headroom::probe {

/// Finds the result in what a command printed; empty: the wall clock is the result.
using ResultReader = std::function<measure::CommandResult(std::string_view output)>;

/// A run that has ended as a sample: a value, or why there is none. Pure.
measure::Sample sample_of(measure::PlannedRun const& planned, CommandQuestion const& command, CommandRun const& run,
                          ResultReader const& read);

/// Makes the runs that are left, in their order, and hands each sample to `keep` before the next begins. Where `stop`
/// asks for it the one in flight is ended and not kept.
measure::RunsNoticed make_runs(measure::ScalingQuestion const& question, std::vector<measure::PlannedRun> const& left,
                               ResultReader const& read, std::stop_token stop, measure::SampleSink const& keep,
                               std::function<void(double)> const& progress);

} // namespace headroom::probe
