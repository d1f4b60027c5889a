#pragma once

#include "headroom/training/framework.hpp"
#include "headroom/training/model.hpp"
#include "headroom/training/pipeline.hpp"
#include "headroom/training/step.hpp"
#include "headroom/training/strategy.hpp"

#include <optional>
#include <string>

namespace headroom::training {

/// Parameters that are trained over all parameters of a rank.
///
///     adapters     r (2 h + 2 a d + 2 (h + g d)) L / N    rank-r adapters on queries, keys, values and output
///     last layers  (n block + head + final norm) / N
///
/// Source: [Hu2021]
double trained_share(Strategy const& strategy, Model const& model, ParameterCount const& count);

/// The same of what a rank holds, routed experts apart: adapters are beside attention, and where experts are spread a
/// rank holds few of those but all of its attention.
struct TrainedParts {
    double dense = 1.0, experts = 1.0;
};
TrainedParts trained_parts(Strategy const& strategy, Model const& model, ParameterCount const& count);

/// Bytes a parameter of what a stack keeps and sends. In 32-bit arithmetic the weights are their own master copy: what
/// a record for 16-bit arithmetic says becomes
///
///     weights 4, gradients and their reduction at least 4, optimizer less the 4 of the master copy
struct StateWidths {
    double weights, gradients, reduced, optimizer;
};
StateWidths state_widths(Framework const& framework, Precision precision);

/// Bytes of a parameter as ZeRO gathers it: 32-bit shards are cast to the working format first.
double gathered_bytes(Framework const& framework, Precision precision);

/// Whether the host waits for the chip in every pass: it reads how many tokens each expert has, or waits for what stages
/// hand over. Else it runs ahead without bound.
bool host_waits(Model const& model, Strategy const& strategy);

/// Parameters of the output projection as its stage holds them: of tied embeddings a copy.
double output_parameters(Model const& model, ParameterCount const& count);

/// Where a stage stands in the pipeline; `whole` when there is none.
enum class StagePlace { whole, first, middle, last };

/// Blocks of a stage. Layers that the depth does not divide leave the ends lighter, for they have the embedding and
/// the output projection besides.
///
///     middle  n = ceil(L / p)
///     ends    n - floor((n p - L) / 2) first, n - ceil((n p - L) / 2) last, at least 1: then some of the middle have
///             fewer than n, the fullest still n
///
/// Source: [MegatronBridge]
int stage_layers(int layers, int pp, StagePlace place);

/// Which part of the model a place holds, in the model's order. With several chunks a stage there are as many parts as
/// places, with two directions as many as stages.
int part_of(PipelineShape const& shape, ChunkLayout layout, ChunkPlace place);

/// Blocks of every part in the model's order: those that `stage_layers` gives a stage, shared out over its chunks. What is
/// missing on the first and the last stage is missing at the ends of the model.
std::vector<int> blocks_of_parts(int blocks, PipelineShape const& shape, ChunkLayout layout);

/// Parameters of one rank of a stage before any data-parallel sharding: those in routed experts apart, for other ranks
/// hold the same ones.
struct StageParameters {
    double dense = 0.0, experts = 0.0;
    [[nodiscard]] double all() const { return dense + experts; }
};
StageParameters stage_parameters(StepSetting const& setting, Strategy const& strategy, StagePlace place);

/// What a stage holds of the model: blocks, and the ends.
struct StageShare {
    double blocks = 0.0;
    bool first = false; ///< the embedding
    bool last = false;  ///< the output projection, and blocks that predict later tokens
};
StageParameters stage_parameters(StepSetting const& setting, Strategy const& strategy, StageShare const& share);

/// What a stage holds of the model and how much of it is trained.
struct StageHolding {
    StageParameters held;
    TrainedParts trained;
    double frozen_blocks = 0.0, trained_blocks = 0.0;
};
/// Of a stage of the pipeline where only the last blocks are trained.
StageHolding holding_of_last_blocks(StepSetting const& setting, Strategy const& strategy, int stage);
/// The stage that has the first block of those that are trained: its backward pass is the last.
int stage_of_first_trained(StepSetting const& setting, Strategy const& strategy);
/// Whether blocks are frozen, all of them before those that are trained.
bool has_frozen_blocks(Model const& model, Strategy const& strategy);

/// Those of the stage that has the most.
StageParameters fullest_stage_parameters(StepSetting const& setting, Strategy const& strategy);

/// Ranks that what a rank keeps between micro-batches is split over.
///
///     weights    S under ZeRO 3, else 1        S is the shard group, dp cp unless given
///     gradients  S under ZeRO 3, dp cp under ZeRO 2, else 1
///     optimizer  S under ZeRO 3, dp cp under ZeRO 1 and 2, else 1
///
/// Experts have the expert-data ranks dp cp tp / (ep etp) in the place of dp cp, and S tp / (ep etp) of them in the place
/// of S.
/// Source: [Rajbhandari2020]
struct Shards {
    double weights = 1.0, gradients = 1.0, optimizer = 1.0;
};
Shards shards_of(Strategy const& strategy);
Shards expert_shards_of(Strategy const& strategy);

/// Adds degrees, the batch and bytes a parameter to the terms of an explanation.
void explain_strategy(TermBook& book, StepSetting const& setting, Strategy const& strategy);

/// Adds `stage_parameters` of a stage to the terms of an explanation, as NAME_dense_parameters and NAME_expert_parameters.
void explain_parameters(TermBook& book, std::string const& name, StepSetting const& setting, Strategy const& strategy,
                        double blocks, StageParameters const& held);

/// Formula of the parameters of NAME over the ranks that they are split over: "weights", "gradients" or "optimizer" shards.
/// `trained`: only those that are trained, as NAME_dense_trained and NAME_expert_trained say.
std::string explain_kept(TermBook& book, std::string const& name, Strategy const& strategy, std::string const& part,
                         std::optional<TrainedParts> const& trained);

} // namespace headroom::training
