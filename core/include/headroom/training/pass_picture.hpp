#pragma once

#include "headroom/training/pipeline.hpp"
#include "headroom/training/prediction.hpp"

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::training {

/// Passes of a pipeline's schedule, run with the times of its stages; ticks are picoseconds.
struct PassPicture {
    PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
    PipelineOrder order;
    PipelineTimes times;
    PipelineRun run;
    std::string refused = {}; ///< why there are none; else empty
    [[nodiscard]] bool drawn() const { return refused.empty(); }
};

/// Orders and runs the passes of a step; `times` are those of the strategy (`pipeline_times`).
PassPicture run_passes(PipelineSchedule schedule, PipelineShape const& shape, PipelineTimes times,
                       std::stop_token const& stop = {});
/// Passes of a prediction with two stages or more.
PassPicture passes_of(Prediction const& prediction, CalibrationSet const& calibration,
                      std::stop_token const& stop = {});

/// Duration of a pass.
Ticks length_of(PassPicture const& picture, int stage, Pass const& pass);

/// Idle time of the stages: before their first pass, between passes, after their last, as means over the stages.
struct Bubble {
    Seconds before, between, after;
    std::vector<double> share; ///< by stage: of the time from the first pass to the end of the last
    [[nodiscard]] Seconds total() const { return before + between + after; }
};
Bubble bubble_of(PassPicture const& picture);

/// "forward", "backward", "input gradient", "weight gradient".
std::string_view name_of(PassKind kind);

/// Picoseconds as a time.
inline Seconds seconds_of_ticks(double ticks) { return Seconds{ticks / 1e12}; }

} // namespace headroom::training
