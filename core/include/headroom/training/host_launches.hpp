#pragma once

#include "headroom/training/calibration.hpp"
#include "headroom/training/framework.hpp"
#include "headroom/training/operation.hpp"

#include <optional>
#include <string>

namespace headroom::training {

/// Kernels of a run as they are stated, in the place of what the framework's record says.
struct KernelChoice {
    std::optional<bool> compiled = {}; ///< by torch.compile; of no effect on software without that switch
    std::optional<bool> fused = {};    ///< norms, activations and alike are kernels of a library
    std::optional<AttentionKernel> attention = {};
    std::optional<Fp8Recipe> fp8_recipe = {};
};

/// The framework with kernels as they are stated. Compiled blocks are issued as modern ones are, with element-wise work
/// in few kernels; without the compiler each primitive is a kernel that Python issues.
Framework with_kernels(Framework framework, KernelChoice const& choice);

/// Kernels that a host issues one by one for a forward pass of a block.
///
///     n = norms + projections + core + feed-forward + sums + casts + LoRA + dequantisation
///
/// RMS norm in primitives is 7 kernels (convert, square, mean, root, two products, convert back), layer norm 1; rotary
/// positions 10; a core 3 fused, 11 in products; a gated feed-forward part 5, a plain one 4; dropout 2; autocast
/// converts each matrix, its bias and its input; each matrix with LoRA 8 (convert,
/// dropout, two products, scale, sum, convert), of DoRA 13 more; each quantised matrix 3, of GPTQ 6.
///
/// Holds for:  software whose blocks are lines of PyTorch, and is counted from these.
/// Assumes:    a launch costs the host the same whatever it launches.
double forward_launches(Model const& model, BlockKind const& kind, LayerShape const& shape, Framework const& framework);

/// Launches of a forward pass besides those of its blocks, which bear them alike: both ends of the model, and what a loop in Python
/// does once a micro-batch. By the step of Qwen-1.8B, 7B and 14B on one accelerator against their depth: 12 ms a micro-batch, as in BERT-large.
///
/// Holds for:  software whose blocks are lines of PyTorch.
/// Assumes:    what Python does takes as long as 150 launches a pass.
double launches_between_blocks();

/// Bytes that a pass moves for each quantised weight before it multiplies.
///
///     nf4   3   half a byte read, the 16-bit copy written, scales
///     int8  3   a byte read, the copy written
///     int4  16.5  GPTQ in lines of PyTorch: shift to 32 bits 4.5, narrow to 8 bits 5, mask 2, subtract the zero 2,
///                 multiply by the scale 3
///
/// Assumes:    the copy is not kept between passes, but that of int4 from the forward to the backward pass
///             (`keeps_dequantised`): the product saves it.
/// Source:     [AutoGptq]
double dequantised_bytes(Framework const& framework);

/// Whether the backward pass reads the copies that the forward pass made of quantised weights.
bool keeps_dequantised(Framework const& framework);

/// Bytes that an update on the accelerator moves, over those of one kernel that updates AdamW with a master copy.
/// Operation by operation it makes 20 passes over 32-bit arrays, in one kernel 7; clipping and zeroing, 3, come on top of
/// both: (20 + 3) / (7 + 3).
double update_share(Framework const& framework);

/// Whether blocks are primitives of PyTorch, each of which reads and writes memory.
bool in_primitives(Framework const& framework);
/// Factor on the element-wise traffic of a framework's blocks, over that of old eager kernels.
double elementwise_factor(Framework const& framework, Calibration const& constants);
/// Adds that factor to the terms of an explanation. Result: " * NAME"; empty where it is 1.
std::string explain_elementwise(TermBook& book, Framework const& framework, Calibration const& constants);

/// Whether autocast converts matrices and their inputs in each pass. FSDP gathers what it has converted already.
bool autocasts(Framework const& framework, Precision precision);

/// Kernels that an update issues tensor by tensor while the accelerator waits.
///
///     n = update_launches * tensors
///
/// Tensors are the matrices, norms and biases of all blocks.
/// Holds for:  16-bit floats with loss scaling: the host reads whether a gradient overflowed before it issues the update. In other
///             formats the host issues the update while the accelerator is still in its backward pass: 0.
/// Assumes:    all weights are trained; embedding and output projection are few tensors.
/// Source:     [TransformersDeepSpeed]
double update_launches(Model const& model, Framework const& framework, Precision precision);

/// Cost of a launch on the host of a machine over that on a host of 2019: a thread becomes 6 % faster a year.
double launch_cost(int host_year);

} // namespace headroom::training
