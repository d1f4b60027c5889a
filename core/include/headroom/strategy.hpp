#pragma once

#include "headroom/precision.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// What the backward pass computes again instead of keeping it.
enum class Recompute {
    none,      ///< everything is kept
    selective, ///< the attention core, whose scores are large and cheap [Korthikanti2022]
    full,      ///< whole blocks; only their inputs are kept
};
/// From what costs the least time to what needs the least memory.
inline constexpr std::array recomputations{Recompute::none, Recompute::selective, Recompute::full};
/// Whether data-parallel communication may run behind computation.
enum class Overlap { off, on };
/// Which weights are trained: all of them, or low-rank adapters beside frozen ones (LoRA).
enum class Trained { all, adapters };

std::string_view name_of(Recompute recompute);

/// One way to spread a step over ranks: dp * tp * pp * cp accelerators.
struct Strategy {
    int dp = 1;          ///< replicas that share out the batch
    int tp = 1;          ///< ranks that share out every matrix product
    int pp = 1;          ///< stages that share out the layers
    int virtual_pp = 1;  ///< model chunks per pipeline stage
    int cp = 1;          ///< ranks that share out one sequence
    int ep = 1;          ///< ranks that share out the experts of a layer; inside dp
    int zero = 0;        ///< ZeRO stage 0..3; 3 is FSDP
    int shard = 0;       ///< ranks that one ZeRO-3 shard group spans (HSDP); 0 means all of dp
    int micro_batch = 1; ///< sequences per micro-batch
    bool sequence_parallel = false;
    Recompute recompute = Recompute::none;
    Precision precision = Precision::bf16;
    Overlap overlap = Overlap::on;
    Trained trained = Trained::all;
    [[nodiscard]] int workers() const { return dp * tp * pp * cp; }
    /// Ranks that sum their gradients: context ranks see different tokens too.
    [[nodiscard]] int data_ranks() const { return dp * cp; }
    /// Ranks that hold one copy of a ZeRO-3 state.
    [[nodiscard]] int shard_ranks() const { return shard > 0 && shard < data_ranks() ? shard : data_ranks(); }
    bool operator==(Strategy const&) const = default;
};

/// A strategy with gaps; `assume` fills them.
struct PartialStrategy {
    std::optional<int> dp = {}, tp = {}, pp = {}, virtual_pp = {}, cp = {}, ep = {}, zero = {}, shard = {};
    std::optional<int> micro_batch = {}, grad_accum = {};
    std::optional<bool> sequence_parallel = {};
    std::optional<Recompute> recompute = {};
    std::optional<Precision> precision = {};
    std::optional<Overlap> overlap = {};
    std::optional<Trained> trained = {};
};

/// What is trained on in one optimizer step.
struct Workload {
    int sequence_length = 0;
    int global_batch = 0; ///< sequences
};

/// Micro-batches that one replica works through in a step, at least one; fractional when they do not
/// divide (published runs with a ragged last one).
double micro_batch_count(Strategy const& strategy, Workload const& workload);

/// Those counted whole, a ragged last one too: what a schedule counts and memory holds.
int whole_micro_batches(Strategy const& strategy, Workload const& workload);

/// "tp8 sp pp4 dp16 zero1 mb1 selective": how a strategy is written in a table. Degrees of 1 are left out, dp
/// and the micro-batch never are; what is off (ZeRO 0, no recomputation) is left out.
std::string short_name(Strategy const& strategy);

} // namespace headroom
