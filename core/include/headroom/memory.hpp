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
/// tensor by tensor.
///
///     bytes = T [4 e h/h_t + e (2 a d + 2 max(1, g/t) t d)/t + e (G + 1) f/t + scores]
///
/// T tokens, e bytes an element, h_t = t with sequence parallelism, else 1, G = 2 gated, 1 plain; scores are
/// (2 e + 1) a s/t unfused, 4 a/t fused. Selective recomputation drops unfused scores, full keeps T e h/h_t.
/// Holds for:  dense blocks without dropout; plain ones in 16 bits with sequence parallelism and fused attention
///             give 32 s b h / t (34 with the masks of dropout).
/// Assumes:    the kernels of the framework keep each tensor once, in the working format.
/// Source:     [Korthikanti2022]
Bytes block_activation_bytes(Model const& model, LayerShape const& shape, Framework const& framework);

/// Micro-batches whose activations stage i holds at once, in units of one stage's whole depth.
///
///     min(m, p - i)                                       1F1B
///     min(m, max(1, ((v-1) p + 1 + 2 (p-1-i)) / v))       interleaved; p (1 + (p-1)/(p v)) on the first stage
///
/// Holds for:  m a multiple of p when interleaved.
/// Source:     [Narayanan2021], [Korthikanti2022]
double micro_batches_in_flight(Strategy const& strategy, int stage, int micro_batches);

/// Memory of the fuller of the first and the last stage: state per parameter as the framework keeps it over the
/// ranks that share it, activations of the micro-batches in flight, logits on the last stage, gathered blocks or
/// a gradient bucket as buffers; on the last stage blocks that predict later tokens, with a token table. Of unlike blocks
/// the largest is computed again; where activations are with the host, or a stage has less than one of them, the mean.
/// Assumes:    stages between the two are never fuller: they hold fewer micro-batches than the first and no ends.
/// Source:     [Rajbhandari2020], [Korthikanti2022]
MemoryUse memory_use(StepSetting const& setting, Strategy const& strategy);

/// What a process may use: (capacity - 2 GiB) 0.97, with 1 GiB on parts of up to 24 GiB: context, collective buffers
/// and workspaces, then fragmentation. Both are guesses, see docs/guide/step-model.md.
Bytes usable_memory(Accelerator const& accelerator);

} // namespace headroom
