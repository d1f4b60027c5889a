#pragma once

#include "headroom/training/operation.hpp"

namespace headroom::training {

/// Treatment of a block's activations and weights in the backward pass.
enum class BlockTraining {
    kept,       ///< everything is kept for the backward pass
    recomputed, ///< as the strategy's recomputation says
    frozen,     ///< no backward pass runs through it
};

/// The program of one block of `kind`, one micro-batch, one rank.
BlockProgram block_program(Model const& model, BlockKind const& kind, LayerShape const& shape,
                           Framework const& framework, BlockTraining training);

/// The program of one operator of a list, its samples on one rank.
BlockProgram operator_program(Operator const& one, double samples, LayerShape const& shape);

} // namespace headroom::training
