#pragma once

#include "headroom/framework.hpp"
#include "headroom/model.hpp"
#include "headroom/strategy.hpp"

namespace headroom {

/// Share of the weights of a rank that has gradients and optimizer state.
double trained_share(Strategy const& strategy);

/// Bytes of a parameter as ZeRO gathers it: 32-bit shards are cast to the working format first.
double gathered_bytes(Framework const& framework, Precision precision);

/// Parameters of the output projection as its stage holds them: of tied embeddings a copy.
double output_parameters(Model const& model, ParameterCount const& count);

/// Ranks that what a rank keeps between micro-batches is split over.
///
///     weights    S under ZeRO 3, else 1        S is the shard group, dp cp unless given
///     gradients  S under ZeRO 3, dp cp under ZeRO 2, else 1
///     optimizer  S under ZeRO 3, dp cp under ZeRO 1 and 2, else 1
///
/// Source: [Rajbhandari2020]
struct Shards {
    double weights = 1.0, gradients = 1.0, optimizer = 1.0;
};
Shards shards_of(Strategy const& strategy);

} // namespace headroom
