#pragma once

#include "headroom/training/framework.hpp"
#include "headroom/training/model.hpp"

#include <optional>
#include <string>

namespace headroom::training {

/// State that an optimizer keeps for a trained parameter, bytes without the master copy: a record of the catalog.
struct Optimizer {
    std::string name, title;
    double mixed = 8.0;                                    ///< next to 32-bit master weights
    double pure = 4.0;                                     ///< next to weights that are 16-bit alone
    std::optional<double> ends_mixed = {}, ends_pure = {}; ///< of embedding and output projection, where they differ
    bool paged = false; ///< in memory that the accelerator and its host share, whose pages give way to all else
    int iterations = 0; ///< of Newton and Schulz, with which Muon makes the update of a block's matrix orthogonal
};

/// State that the user asks for, in the place of the framework's.
struct StateChoice {
    std::optional<Optimizer> optimizer = {};
    std::optional<bool> pure = {};           ///< weights, gradients and states in 16 bits, without a master copy
    std::optional<FrozenFormat> frozen = {}; ///< of frozen weights under LoRA
};

/// The framework with the state that the user states: bytes a parameter of weights, gradients, reduction, optimizer and
/// frozen weights, and the bytes that an update moves.
///
///     optimizer = master + state     master 4 with 16-bit weights that are not pure, else 0; state by the record,
///                                    mean over blocks and ends where these differ. A record with 16-bit weights and
///                                    no more than 4 bytes of state is pure unless that is switched off
///     frozen    = (blocks x format + ends x 2) / all
///     update    = (weights + gradients + 2 optimizer) / (the same of the record)
///
///     products  = iterations sum (4 a^2 b + 2 a^3) / parameters        FLOPs, over matrices a x b of blocks, a <= b
///
/// Holds for:  a choice that states nothing, which changes nothing but `frozen_bytes` from its default.
/// Source:     [Jordan2024Muon]
Framework with_state(Framework framework, StateChoice const& choice, Model const& model);

/// Whether frozen weights that are not quantised are 32-bit: PEFT makes them so next to int8 and nf4, not next to GPTQ's
/// int4. Source: [Peft2023]
bool widens_rest(Framework const& framework);

} // namespace headroom::training
