#pragma once

#include "stage.hpp"

#include "headroom/training/memory.hpp"

#include <span>

namespace headroom::training {

/// What the blocks of one stack keep, one micro-batch on one rank.
struct BlockActivations {
    double kept = 0.0;       ///< the mean of all blocks
    double trained = 0.0;    ///< of those that have a backward pass
    double again = 0.0;      ///< alive besides while the largest of them is recomputed
    double spared = 0.0;     ///< of the mean block, what is computed again
    double recomputed = 0.0; ///< share of the blocks that are
    double ahead = 0.0;      ///< of the blocks that predict later tokens, on the last stage
    double gradients = 0.0;  ///< of activations, at the peak of a backward pass
    double widest = 0.0;     ///< tensor that comes and goes as a block is computed again; 0 where none is
};

/// The mean block. Frozen blocks keep nothing; of a partly recomputed stack the others keep everything.
BlockActivations block_activations(Model const& model, std::span<BlockRun const> runs, LayerShape const& shape,
                                   Framework const& framework);

/// Logits of the stage with the head in the working format, and what the loss keeps beside them. A tiled loss makes as many
/// tiles as the vocabulary is wider than the hidden vector. Source: [Hsu2024]
double logit_bytes(Model const& model, LayerShape const& shape, Framework const& framework);

/// What a stage holds of the model: the blocks of its chunks and the ends that are among them.
///
///     loop            stage i of `stage_layers`
///     V               the same depth, both ends on the first stage
///     bidirectional   part i and part p-1-i, both ends on the first and the last stage
///
/// `depth` is what one micro-batch keeps activations of: of two directions one.
struct StageContent {
    StageShare share;
    double depth = 0.0;
    double versions = 1.0; ///< of its weights
    double copies = 1.0;   ///< of the model on all stages: they share what ZeRO shards
};
StageContent stage_content(StepSetting const& setting, Strategy const& strategy, int stage, int micro_batches);

/// What follows from the work inside a layer alone: the same for all strategies of one shape.
struct ShapeActivations {
    BlockActivations block;
    double logits = 0.0;
};
ShapeActivations shape_activations(StepSetting const& setting, LayerShape const& shape);

/// What every stage of a strategy is made from.
struct StageTerms {
    ShapeActivations kept;
    int micro_batches = 1;
    TrainedParts trained;
    Shards shards, expert_shards;
};
StageTerms stage_terms(StepSetting const& setting, Strategy const& strategy);
StageTerms stage_terms(StepSetting const& setting, Strategy const& strategy, ShapeActivations const& kept);

/// `memory_use` of a strategy whose shape is known.
MemoryUse memory_use(StepSetting const& setting, Strategy const& strategy, ShapeActivations const& kept);

/// Weights, gradients, state of the optimizer and buffers of a stage.
void add_state(MemoryUse& use, StepSetting const& setting, Strategy const& strategy, StageTerms const& of,
               StageContent const& content);

/// Kept by `in_flight` micro-batches on a stage.
double kept_bytes(Strategy const& strategy, StageTerms const& of, StageContent const& content, double in_flight);

/// Micro-batches whose logits are there at once: all where every forward pass comes first.
int heads_in_flight(Strategy const& strategy, int micro_batches);

/// One stage, whole. Of `micro_batches_in_flight` micro-batches.
MemoryUse stage_memory(StepSetting const& setting, Strategy const& strategy, StageTerms const& of, int stage);

/// Adds weights_bytes, gradients_bytes, optimizer_bytes and buffers_bytes to the terms of an explanation, of the parameters
/// of `memory_stage`.
void explain_state(TermBook& book, MemoryUse const& use, StepSetting const& setting, Strategy const& strategy,
                   StageTerms const& of, StageContent const& content);

/// Adds `block_activations` to the terms of an explanation, as kept_block_bytes, recomputed_block_bytes, spared_block_bytes and
/// gradient_block_bytes, and `logit_bytes`; tensor by tensor.
void explain_activations(TermBook& book, StepSetting const& setting, LayerShape const& shape,
                         ShapeActivations const& kept);

} // namespace headroom::training
