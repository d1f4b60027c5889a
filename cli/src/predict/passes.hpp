#pragma once

#include "document/document.hpp"

#include "headroom/pipeline.hpp"
#include "headroom/prediction.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace headroom::cli {

/// The passes of a pipeline's schedule, run with the times that its stages need; ticks are picoseconds.
struct PassPicture {
    PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
    PipelineOrder order;
    PipelineTimes times;
    PipelineRun run;
    std::string refused = {}; ///< why there are none, in words; else empty
    [[nodiscard]] bool drawn() const { return refused.empty(); }
};

/// Orders and runs the passes of a step; `times` are those of the strategy (`pipeline_times`).
PassPicture run_passes(PipelineSchedule schedule, PipelineShape const& shape, PipelineTimes times,
                       std::stop_token const& stop = {});
/// The same for a prediction with two stages or more.
PassPicture passes_of(Prediction const& prediction, CalibrationSet const& calibration,
                      std::stop_token const& stop = {});

/// How long a pass runs.
Ticks length_of(PassPicture const& picture, int stage, Pass const& pass);

/// Where the stages idle, as means over them: before their first pass, between passes, after their last.
struct Bubble {
    Seconds before, between, after;
    std::vector<double> share; ///< by stage: of the time from the first pass to the end of the last
    [[nodiscard]] Seconds total() const { return before + between + after; }
};
Bubble bubble_of(PassPicture const& picture);

/// "forward", "backward", "input gradient", "weight gradient".
std::string_view name_of_pass(PassKind kind);

/// The passes as a drawing, with the bubble in words. Empty where there are none.
std::vector<Block> schedule_drawing(PassPicture const& picture, Seconds step);

} // namespace headroom::cli
