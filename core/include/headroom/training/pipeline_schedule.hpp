#pragma once

#include <cstdint>
#include <string_view>

namespace headroom::training {

/// In which order the stages of a pipeline work on micro-batches and chunks of the model.
enum class PipelineSchedule : std::uint8_t {
    one_f_one_b, ///< one forward, one backward (PipeDream-flush)
    interleaved, ///< 1F1B with several model chunks a stage
    gpipe,       ///< all forward passes, then all backward passes
    zb_h1,       ///< zero bubble, memory of 1F1B
    zb_2p,       ///< zero bubble, twice the memory
    zbv,         ///< zero bubble, two chunks laid out as a V, memory of 1F1B
    v_half,      ///< the V with half the memory
    v_min,       ///< the V with the least memory
    dualpipe,    ///< micro-batches from both ends over two copies of the model
    dualpipe_v,  ///< DualPipe, folded: half the stages, one copy of the weights
    pipedream,   ///< no flush: weights are of several versions
    count_,
};
inline constexpr int pipeline_schedule_count = static_cast<int>(PipelineSchedule::count_);

/// As it is typed: "zb-h1".
std::string_view name_of(PipelineSchedule id);

} // namespace headroom::training
