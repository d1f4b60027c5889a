#pragma once

#include "stage.hpp"

#include "headroom/training/memory.hpp"

#include <optional>
#include <span>

namespace headroom::training {

/// Activation bytes of a model's blocks, for one micro-batch on one rank.
struct BlockActivations {
    double kept = 0.0;       ///< kept, average of all blocks
    double trained = 0.0;    ///< kept, average of the blocks that have a backward pass
    double again = 0.0;      ///< temporary, while the largest of the blocks is recomputed
    double spared = 0.0;     ///< recomputed instead of kept, average block
    double recomputed = 0.0; ///< fraction of blocks that are recomputed
    double ahead = 0.0;      ///< of the multi-token-prediction blocks, on the last stage
    double gradients = 0.0;  ///< gradients of activations, at the peak of a backward pass
    double widest = 0.0;     ///< widest tensor that is allocated and freed in recomputation; 0 without
    double cache =
        0.0; ///< keys and values that stay until the forward pass has ended, of blocks that keep their input alone
};

/// Activations of the average block. Frozen blocks keep nothing; with partial recomputation the other blocks keep
/// everything.
BlockActivations block_activations(Model const& model, std::span<BlockRun const> runs, LayerShape const& shape,
                                   Framework const& framework);

/// Bytes of the logits in the working format on the stage with the head, and of the tensors that the loss keeps with
/// them. A tiled loss splits the logits into ceil(vocabulary / h) tiles. Source: [Hsu2024]
double logit_bytes(Model const& model, LayerShape const& shape, Framework const& framework);

/// Bytes of the 32-bit logits that live through the backward pass, where the framework holds a model's outputs.
double returned_logit_bytes(Model const& model, LayerShape const& shape, Framework const& framework);

/// Bytes of a mask of every score of a sequence that is made once for all blocks, as wide as what blocks add to.
double score_mask_bytes(Model const& model, LayerShape const& shape, Framework const& framework);

/// Bytes of the largest matrix of a quantised base in the working format: each product makes its matrix so. Source: [Dettmers2023]
double dequantised_bytes(Model const& model, LayerShape const& shape, Framework const& framework);

/// Share of the model on a stage: the blocks of its chunks, and the embedding and head if they are among them.
///
///     loop            stage i of `stage_layers`
///     V               the same depth, both ends on the first stage
///     bidirectional   part i and part p-1-i, both ends on the first and the last stage
///
/// `depth` is the number of blocks that keep activations of one micro-batch: those of one direction.
struct StageContent {
    StageShare share;
    double depth = 0.0;
    double versions = 1.0;               ///< of its weights
    std::optional<BlockSum> unlike = {}; ///< parameters of its blocks on all ranks, where blocks differ
    double copies = 1.0;                 ///< of the model on all stages; ZeRO shards state over them, too
};
StageContent stage_content(StepSetting const& setting, Strategy const& strategy, int stage, int micro_batches);

/// Activations that depend on the work inside a layer alone: equal for all strategies of one shape.
struct ShapeActivations {
    BlockActivations block;
    double logits = 0.0;
    double returned = 0.0;    ///< of them, those that live through the backward pass
    double mask = 0.0;        ///< of scores, through the step
    double dequantised = 0.0; ///< the largest matrix of a quantised base, as its product reads it
};
ShapeActivations shape_activations(StepSetting const& setting, LayerShape const& shape);

/// Inputs of the memory of every stage of a strategy.
struct StageTerms {
    ShapeActivations kept;
    int micro_batches = 1;
    TrainedParts trained;
    Shards shards, expert_shards;
    StateWidths widths;
};
StageTerms stage_terms(StepSetting const& setting, Strategy const& strategy);
StageTerms stage_terms(StepSetting const& setting, Strategy const& strategy, ShapeActivations const& kept);

/// `memory_use` of a strategy whose shape is known.
MemoryUse memory_use(StepSetting const& setting, Strategy const& strategy, ShapeActivations const& kept);

/// Parameters of a rank of a stage: of unlike blocks those that it holds.
StageParameters parameters_of(StepSetting const& setting, Strategy const& strategy, StageContent const& content);

/// Copies of a stage's weights: those of the update, and those that autocast narrows.
struct WeightCopies {
    Bytes updated, narrowed;
};

/// Weights, gradients, state of the optimizer and buffers of a stage; what of it lies in host memory.
WeightCopies add_state(MemoryUse& use, StepSetting const& setting, Strategy const& strategy, StageTerms const& of,
                       StageContent const& content);

/// Whether gradients are made by the backward pass, as activations go: one micro-batch a step, nothing kept from the last one.
inline bool makes_gradients(Framework const& framework, Strategy const& strategy, int micro_batches) {
    return framework.frees_gradients && strategy.pp == 1 && micro_batches == 1;
}

/// Activation bytes that `in_flight` micro-batches keep on a stage.
double kept_bytes(Strategy const& strategy, StageTerms const& of, StageContent const& content, double in_flight);

/// Micro-batches whose logits are held at once: all of them if every forward pass comes first (GPipe).
int heads_in_flight(Strategy const& strategy, int micro_batches);

/// Memory of one stage, with `micro_batches_in_flight` micro-batches.
MemoryUse stage_memory(StepSetting const& setting, Strategy const& strategy, StageTerms const& of, int stage);

/// Adds weights_bytes, gradients_bytes, optimizer_bytes and buffers_bytes to the terms of an explanation, of the parameters
/// of `memory_stage`.
void explain_state(TermBook& book, MemoryUse const& use, StepSetting const& setting, Strategy const& strategy,
                   StageTerms const& of, StageContent const& content);

/// Adds `logit_bytes` and what lives on of them to the terms of an explanation.
void explain_logits(TermBook& book, StepSetting const& setting, LayerShape const& shape, ShapeActivations const& kept);

/// Adds `block_activations` to the terms of an explanation, as kept_block_bytes, recomputed_block_bytes, spared_block_bytes and
/// gradient_block_bytes, and `logit_bytes`; tensor by tensor.
void explain_activations(TermBook& book, StepSetting const& setting, LayerShape const& shape,
                         ShapeActivations const& kept);

/// Whether every trained block is computed again as a whole.
bool recomputes_all(Strategy const& strategy, Model const& model);

} // namespace headroom::training
