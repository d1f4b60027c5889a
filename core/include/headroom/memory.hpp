#pragma once

#include "headroom/step.hpp"

namespace headroom {

/// Memory of one accelerator of the fullest pipeline stage; the parts sum to `total()`.
struct MemoryUse {
    Bytes weights, gradients, optimizer, activations, buffers;
    int stage = 0;
    [[nodiscard]] Bytes total() const { return weights + gradients + optimizer + activations + buffers; }
};

/// Activation bytes that one block keeps for its backward pass, one micro-batch, one rank, counted
/// tensor by tensor. Plain blocks in 16 bits with sequence parallelism and fused attention give
/// 32 s b h / t without dropout (34 with its masks). Source: [Korthikanti2022]
Bytes block_activation_bytes(Model const& model, LayerShape const& shape, Framework const& framework);

/// Micro-batches whose activations the given stage holds at once (1F1B, interleaved), in units of
/// one stage's whole depth: min(m, p - i), times 1 + (p-1)/(p v) when interleaved.
double micro_batches_in_flight(Strategy const& strategy, int stage, int micro_batches);

/// Memory of the fullest stage. Source: [Rajbhandari2020], [Korthikanti2022]
MemoryUse memory_use(StepSetting const& setting, Strategy const& strategy);

/// What a process may use: capacity less context and collective buffers and allocator reserve.
Bytes usable_memory(Accelerator const& accelerator);

} // namespace headroom
