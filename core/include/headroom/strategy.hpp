#pragma once

#include "headroom/precision.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class Recompute { none, selective, full };
enum class Overlap { off, on };
/// Which weights are trained: all of them, or low-rank adapters beside frozen ones (LoRA).
enum class Trained { all, adapters };

std::string_view name_of(Recompute recompute);

/// One way to spread a step over ranks: dp * tp * pp * cp accelerators.
struct Strategy {
    int dp = 1;
    int tp = 1;
    int pp = 1;
    int virtual_pp = 1; ///< model chunks per pipeline stage
    int cp = 1;
    int ep = 1;
    int zero = 0;        ///< ZeRO stage 0..3; 3 is FSDP
    int shard = 0;       ///< ranks that one ZeRO-3 shard group spans (HSDP); 0 means all of dp
    int micro_batch = 1; ///< sequences per micro-batch
    bool sequence_parallel = false;
    Recompute recompute = Recompute::none;
    Precision precision = Precision::bf16;
    Overlap overlap = Overlap::on;
    Trained trained = Trained::all;
    [[nodiscard]] int workers() const { return dp * tp * pp * cp; }
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

/// "tp8 pp4 dp16 zero1 mb1 selective": how a strategy is written in a table.
std::string short_name(Strategy const& strategy);

} // namespace headroom
