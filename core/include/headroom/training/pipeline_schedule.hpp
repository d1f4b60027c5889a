#pragma once

#include <cstdint>
#include <string_view>

namespace headroom::training {

/// Order in which the stages of a pipeline work on micro-batches and chunks of the model.
enum class PipelineSchedule : std::uint8_t {
    one_f_one_b, ///< one forward, one backward (PipeDream-flush)
    interleaved, ///< 1F1B with several model chunks a stage
    gpipe,       ///< all forward passes, then all backward passes
    zb_h1,       ///< zero bubble, memory of 1F1B
    zb_2p,       ///< zero bubble, twice the memory
    zbv,         ///< zero bubble, two chunks laid out as a V, memory of 1F1B
    v_half,      ///< two chunks laid out as a V, half the memory of 1F1B
    v_min,       ///< two chunks laid out as a V, a third of the memory of 1F1B
    dualpipe,    ///< micro-batches from both ends over two copies of the model
    dualpipe_v,  ///< DualPipe, folded: half the stages, one copy of the weights
    pipedream,   ///< 1F1B without a flush: stages keep several versions of their weights
    count_,
};
inline constexpr int pipeline_schedule_count = static_cast<int>(PipelineSchedule::count_);

/// Name as typed: "zb-h1".
std::string_view name_of(PipelineSchedule id);

} // namespace headroom::training
