#pragma once

#include "measure/measure.hpp"

#include "headroom/io/gpu_answer.hpp"

namespace headroom::cli {

/// What headroom-gpu, beside this program, says; an answer without a device and with the reason where it is not there or
/// fails.
io::GpuAnswer ask_gpu();

/// Keeps its repetitions as points of the campaign, unless they are there from an earlier call.
void keep(io::GpuAnswer const& answer, Recorder& recorder);

} // namespace headroom::cli
