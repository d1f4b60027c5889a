#pragma once

#include "measure/scaling_question.hpp"

#include <functional>
#include <stop_token>
#include <string>

namespace headroom::cli {

/// What a run that has ended is as a sample: a value, or why there is none. Pure.
measure::Sample sample_of(ScalingQuestion const& question, measure::PlannedRun const& planned,
                          probe::CommandQuestion const& command, probe::CommandRun const& run,
                          io::ResultPattern const* pattern);

/// What was noticed while runs were made, beside their samples.
struct RunsNoticed {
    bool interrupted = false;
    std::size_t made = 0;                   ///< by this call
    std::size_t left_behind = 0;            ///< runs that left processes behind, which were ended
    std::size_t cut = 0;                    ///< runs whose output was longer than what is kept of it
    std::optional<double> load_before = {}; ///< before the first
};

/// Makes the runs that are left, in their order, and hands each sample to `keep` before the next begins. Where `stop`
/// asks for it the one in flight is ended and not kept.
RunsNoticed make_runs(ScalingQuestion const& question, std::vector<measure::PlannedRun> const& left,
                      std::stop_token stop, measure::SampleSink const& keep,
                      std::function<void(double)> const& progress);

} // namespace headroom::cli
