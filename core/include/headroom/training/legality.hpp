#pragma once

#include "headroom/training/model.hpp"
#include "headroom/training/strategy.hpp"

#include <optional>
#include <string>

namespace headroom::training {

/// Rules that a strategy can break.
enum class LegalityRule {
    operators,      ///< a list of operators runs data parallel only
    model_parallel, ///< heads, widths and layers over tp, pp and chunks
    sequence,       ///< the sequence over context ranks
    experts,        ///< experts over ranks
    micro_batch,    ///< dp x micro-batch divides the global batch
    schedule,       ///< stages, chunks and micro-batches of a pipeline schedule
    sharding,       ///< ZeRO and sequence parallelism
    savings,        ///< trained layers, recomputation, compression, servers, local updates
};

/// A rule that is broken, with the degrees in words.
struct Illegality {
    LegalityRule rule = LegalityRule::operators;
    std::string words;
};

/// The first rule that a strategy breaks; empty where it can run. The rules are listed at `illegal_because`.
std::optional<Illegality> illegality_of(Strategy const& strategy, Model const& model, Workload const& workload);

/// Why a complete strategy cannot run this model and batch, by the first rule that it breaks; empty when it can.
///
///   tp divides the heads and the feed-forward width, and one of tp and kv_heads divides the other;
///   pp is at most the layers, virtual_pp divides the layers of the fullest stage (1 when pp = 1);
///   2 cp divides the sequence (each context rank takes a piece from either end, so that causal work is equal);
///   dp divides the global batch, the micro-batch divides a replica's share of it;
///   virtual_pp > 1 needs a number of micro-batches that is a multiple of pp;
///   a schedule other than 1F1B needs pp > 1, interleaved virtual_pp > 1, the others virtual_pp = 1; V-shaped ones cut
///   the layers in 2 pp equal chunks; further requirements of a schedule are in `pipeline_schedules`;
///   sequence parallelism needs tp > 1, and tp divides the sequence length over cp;
///   ZeRO 2 and 3 need pp = 1; a shard group divides the dp cp data ranks and belongs to ZeRO 3;
///   ep > 1 needs experts and divides them; etp is 1 or tp and divides their width; ep etp divides dp cp tp;
///   an operator list runs data parallel only; tp divides the heads of a state space;
///   context parallelism by all-to-all needs cp tp to divide the heads;
///   compressed gradients and parameter servers need ZeRO 0, local updates ZeRO 0 or shard groups of ZeRO 3.
///
/// Memory is not considered (see `memory_use`).
/// Source:     [Narayanan2021], [Korthikanti2022], [Rajbhandari2020]
std::string illegal_because(Strategy const& strategy, Model const& model, Workload const& workload);

/// Parts of a block that this model has and that can be recomputed alone, as a sum of `recompute_module`.
unsigned recompute_parts(Model const& model);

/// Why the schedule and the chunks that are given exclude each other, whatever the rest; empty when they do not.
std::string contradiction_of(PartialStrategy const& partial);

/// The fewest chunks, two or more, that the layers of the fullest stage can be cut in equally; 1 when there are none.
int fewest_chunks(int pp, Model const& model);

/// Sets the schedule and the chunks that follow from it: 1F1B has one, interleaved keeps those that the strategy has or
/// takes the fewest, others have theirs (virtual_pp 1). Where there are none to interleave `illegal_because` says so.
void set_schedule(Strategy& strategy, PipelineSchedule schedule, Model const& model);

} // namespace headroom::training
