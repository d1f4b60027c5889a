#pragma once

#include "headroom/training/pipeline.hpp"
#include "headroom/training/step.hpp"

#include <string>
#include <vector>

namespace headroom::training {

/// Memory of one accelerator of one pipeline stage, term by term. What tensors hold sums to `total()`, with what the
/// allocator loses to `reserved()`, with what lies outside it to `footprint()`.
struct MemoryUse {
    Bytes weights, gradients, optimizer;
    Bytes activations;   ///< kept for the backward passes of the micro-batches in flight
    Bytes logits;        ///< of the stage with the head and the loss's copies of them, beyond the temporaries
    Bytes temporaries;   ///< at the peak: the recomputed block, gradients of its activations
    Bytes buffers;       ///< gathered weights, gradient buckets, the error of compressed gradients
    Bytes fragmentation; ///< memory that the allocator holds and cannot hand out
    Bytes runtime;       ///< context, buffers of the collective library, workspaces
    Bytes update_copies; ///< of the buffers: copies of the update beyond activations, which are gone by then
    Bytes host;          ///< host memory of the process: what is offloaded
    int stage = 0;
    [[nodiscard]] Bytes state() const { return weights + gradients + optimizer; }
    [[nodiscard]] Bytes all_activations() const { return activations + logits + temporaries; }
    [[nodiscard]] Bytes total() const { return state() + all_activations() + buffers; }
    [[nodiscard]] Bytes reserved() const { return total() + fragmentation; }
    [[nodiscard]] Bytes footprint() const { return reserved() + runtime; }
};

/// Activation bytes that one block keeps for its backward pass, one micro-batch, one rank, counted
/// tensor by tensor.
///
///     bytes = T [(4 e + 2 n) h/h_t + e (2 a d + 2 max(1, g/t) t d)/t + (e (G + 1) + c) f/t + scores + 2 h/h_t masks]
///
/// T tokens, e bytes an element, h_t = t with sequence parallelism, else 1, G = 2 gated, 1 plain; scores are
/// (2 e + 1) a s/t unfused, 4 a/t fused; masks only where the framework drops out. Where norms and activations are
/// kernels of their own, RMS norms keep a 32-bit copy of their input in its place and the normalised one (n = 4 for
/// 2-byte elements), gated blocks the output of the activation (c = e); else n = c = 0. Inputs of linear layers without
/// trained weights or LoRA matrices are not kept. Selective recomputation drops unfused scores, full keeps T e h/h_t, with
/// 32-bit vectors between blocks four bytes.
/// Holds for:  plain dense blocks in 16 bits: s b h (10 + 24/t + 5 a s/(h t)), with sequence parallelism and fused
///             attention 34 s b h / t, to the byte with dropout, two bytes of the 34 less without.
/// Assumes:    the kernels of the framework keep each tensor once, in the working format.
/// Source:     [Korthikanti2022]
Bytes block_activation_bytes(Model const& model, LayerShape const& shape, Framework const& framework);

/// Micro-batches whose activations stage i holds at once, in units of one stage's whole depth.
///
///     min(m, p - i)                                       1F1B
///     min(m, max(1, ((v-1) p + 1 + 2 (p-1-i)) / v))       interleaved; p (1 + (p-1)/(p v)) on the first stage
///     the schedule's own formula                          every other schedule
///
/// Holds for:  m a multiple of p when interleaved.
/// Source:     [Narayanan2021], [Korthikanti2022], [Qi2024]
double micro_batches_in_flight(Strategy const& strategy, int stage, int micro_batches);

/// Memory of every stage: state per parameter as the framework keeps it over the ranks that share it, activations of
/// the micro-batches in flight, logits with the head, gathered blocks or a gradient bucket as buffers; with the head
/// the blocks that predict later tokens, with a token table. Of unlike blocks the largest is computed again; where
/// activations are with the host, or a stage has less than one of them, the mean.
///
///     weights        versions x parameters: p - i of PipeDream; both directions of a model that runs from both ends
///     activations    blocks x kept x in flight
///     temporaries    the recomputed block + T e (h/h_t + n f/t), n = 2 where gated and not written in place, else 1
///     logits         max(0, T V/t (e + c) - temporaries), c the bytes of the loss's copies; whole those of other
///                    micro-batches; in tiles of T / ceil(V/h) tokens
///     fragmentation  3/97 of all that, and the framework's share of what is not state; of allocators that cut and blocks computed again no less than
///                    activations (w / (i floor(w/i)) - 1) + w/2, w the widest tensor, i a block's input
///
/// Assumes:    logits are gone before the last block is recomputed: the head's backward pass frees them.
/// Source:     [Rajbhandari2020], [Korthikanti2022], [Harlap2018]
std::vector<MemoryUse> memory_by_stage(StepSetting const& setting, Strategy const& strategy);

/// The fullest of `memory_by_stage`, the first of equals; no heap, for it is asked millions of times.
/// Assumes:    1F1B and interleaved: the fullest stage is the first, the second or the last, for those between hold fewer
///             micro-batches and no ends.
MemoryUse memory_use(StepSetting const& setting, Strategy const& strategy);

/// Memory outside the allocator: context, collective buffers and workspaces. A guess: 2 GiB, or 1 GiB on
/// accelerators of up to 24 GiB.
Bytes runtime_of(Accelerator const& accelerator);

/// Memory that a process may use: (capacity - 2 GiB) 0.97, with 1 GiB in place of 2 on accelerators of up to 24 GiB.
/// The rest is context, collective buffers and workspaces, then fragmentation. Both are guesses, see
/// docs/guide/memory.md.
Bytes usable_memory(Accelerator const& accelerator);

/// Memory that a process may use, given one use: the least of the above and of the capacity less its fragmentation. It
/// fits when `total()` is no more, that is when `footprint()` is no more than the capacity.
Bytes usable_memory(Accelerator const& accelerator, MemoryUse const& use);

/// Memory that offloaded state takes of a machine's host: that of one process, times the processes of a machine.
Bytes host_need(MemoryUse const& use, Cluster const& cluster, int workers);
/// Whether the host has it; true where its memory is not known.
bool host_holds(MemoryUse const& use, Cluster const& cluster, int workers);

/// Adds one use of memory to the terms of an explanation, from total_bytes and footprint_bytes down to facts.
void explain_memory(TermBook& book, StepSetting const& setting, Strategy const& strategy, MemoryUse const& use);

/// Memory of one stage in the course of a step: bytes from each time on.
struct StageMemoryCurve {
    std::vector<Ticks> times;
    std::vector<Bytes> level; ///< `total()` from times[i] until times[i + 1]
    Bytes base;               ///< state and buffers: bytes without activations
    Bytes peak;
};

/// The curves of every stage, of an order that was run with these times and with begins.
///
///     level(t) = state + buffers + kept(passes held at t) + (backward under way: temporaries) + logits
///
/// A chunk of a micro-batch is held from the begin of its forward pass to the end of its last backward part; logits from
/// the forward pass of the part with the head until its input gradient.
/// Holds for:  the order of the strategy's schedule and micro-batches; then the peak is `memory_by_stage`'s total.
/// Errors:     none; a run without begins gives curves without times, at their base.
std::vector<StageMemoryCurve> memory_over_time(StepSetting const& setting, Strategy const& strategy,
                                               PipelineOrder const& order, PipelineTimes const& times,
                                               PipelineRun const& run);

/// A change that makes a strategy fit, with its step time.
struct MemoryRemedy {
    std::string change; ///< in words: "sequence parallelism"
    Strategy strategy;
    Seconds step;
    Bytes memory, footprint; ///< `total()` and `footprint()` of the fullest stage
};

} // namespace headroom::training
