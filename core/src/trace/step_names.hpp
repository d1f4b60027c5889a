#pragma once

#include "headroom/trace/rank_trace.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom::trace {

/// A range that frameworks put round each step, read from its name.
struct NamedStep {
    std::optional<std::int64_t> number;
    StepPhase phase;
};

/// "execute_context_2(512)_generation_3(3)" of vLLM, "step[DECODE bs=16]" and "step[EXTEND bs=1 toks=107]" of SGLang;
/// "iteration 12", "step_12", "train_step:12", "Train step 12" of training loops, NVTX and JAX. Empty for other names.
std::optional<NamedStep> named_step(std::string_view name);

/// Whether a name without a number means a step of training: "train_step", "Iteration". "step" alone may be the optimizer's.
bool names_training_step(std::string_view name);

} // namespace headroom::trace
