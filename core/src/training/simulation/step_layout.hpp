#pragma once

#include "training/block_program.hpp"
#include "training/stage.hpp"

#include "headroom/training/pipeline.hpp"
#include "headroom/training/step.hpp"

#include <cstddef>
#include <vector>

namespace headroom::training::simulation {

/// Units of one chunk of a stage: consecutive blocks of the model, and its embedding or output projection.
struct ChunkWork {
    int first_block = 0, blocks = 0;
    bool embedding = false, head = false;
    [[nodiscard]] int units() const { return blocks + (embedding ? 1 : 0) + (head ? 1 : 0); }
};

/// Layers of the chunks of every stage: of stage s, chunk c at [s * chunks + c].
struct StepLayout {
    PipelineShape shape;
    ChunkLayout layout = ChunkLayout::loop;
    std::vector<ChunkWork> chunks;
    [[nodiscard]] ChunkWork const& at(int stage, int chunk) const {
        return chunks[static_cast<std::size_t>(stage) * static_cast<std::size_t>(shape.chunks) +
                      static_cast<std::size_t>(chunk)];
    }
    /// Number of blocks of a stage; with two directions those of both copies of the model.
    [[nodiscard]] int blocks_of(int stage) const;
};

/// Every stage has the blocks that `stage_layers` gives it, shared out over its chunks.
StepLayout step_layout(StepSetting const& setting, Strategy const& strategy);

/// A kind of block and its treatment in the backward pass.
struct BlockVariant {
    BlockKind kind;
    BlockTraining training = BlockTraining::kept;
    int operation = -1; ///< of a list of operators: its index
    bool operator==(BlockVariant const&) const = default;
};

/// The blocks of the model one by one. Frozen blocks are the first ones; recomputed ones are spread over
/// the trained ones.
struct BlockOrder {
    std::vector<BlockVariant> variants;  ///< the different ones
    std::vector<std::size_t> variant_of; ///< by block
};
BlockOrder block_order(StepSetting const& setting, Strategy const& strategy);

} // namespace headroom::training::simulation
