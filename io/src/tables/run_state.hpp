#pragma once

#include "tables/run_cells.hpp"

#include "headroom/training/strategy.hpp"

namespace headroom::io {

/// Adds the state that a row keeps where no column states it, by whole phrases in either case; a phrase after "no", "not", "without", "than", "vs" or
/// "instead of" states nothing. What no phrase states is left to the framework.
///
///     optimizer   adamw-8bit: "8-bit Adam", "8-bit AdamW", "adamw_8bit", "paged_adamw_8bit"; paged-adamw: "paged AdamW",
///                 "paged_adamw_32bit"; adafactor; lion; muon; lamb
///     pure        "pure_bf16", "pure bf16", "pure 16-bit"; with moments in 16 bits (adamw-bf16): "AdamW states" with "bf16",
///                 "in bf16", "16-bit" or "in 16 bits"
///     frozen      with LoRA: "nf4 base", "int4 base", "int8 base" in the precision, else in the notes; QLoRA alone is nf4
///     modules     with LoRA: "all linear", "all attention and MLP projections", "attention input projection" (q+k+v), "q,v",
///                 "q,k,v", "q,k,v,o"; with "embedding and output layer trained too" the tables
void add_noted_state(RunCells const& row, training::PartialStrategy& partial);

} // namespace headroom::io
