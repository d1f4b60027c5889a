#pragma once

#include "headroom/training/framework.hpp"
#include "headroom/training/model.hpp"
#include "headroom/training/pipeline.hpp"
#include "headroom/training/step.hpp"
#include "headroom/training/strategy.hpp"

#include <optional>
#include <string>

namespace headroom::training {

/// Trained parameters over all parameters.
///
///     LoRA         r sum(in + out) / N    rank r, over the projections with LoRA adapters: attention's, and of dense blocks
///                                         those of the feed-forward part
///     last layers  (n block + head + final norm) / N
///
/// Source:     [Hu2021]
double trained_share(Strategy const& strategy, Model const& model, ParameterCount const& count);

/// Trained fractions of a rank's dense parameters and of its routed experts, of which LoRA trains none.
struct TrainedParts {
    double dense = 1.0, experts = 1.0;
};
TrainedParts trained_parts(Strategy const& strategy, Model const& model, ParameterCount const& count);

/// Trained fractions in bytes of state. LoRA may train embedding and output projection whole. These are copies of 16-bit
/// frozen weights: if the framework's weights are 32-bit (no master copy), they count half, with gradients and states.
TrainedParts kept_parts(Strategy const& strategy, Model const& model, ParameterCount const& count,
                        Framework const& framework);

/// Bytes per parameter of each kind of state that a framework keeps and sends. In 32-bit arithmetic the weights are the
/// master copy, so the widths of a framework's record for 16 bits become
///
///     weights 4, gradients and their reduction at least 4, optimizer less the 4 of the master copy; where there is none,
///     moments as wide as the weights
///
/// Frozen weights under LoRA have no master copy and are kept in 16 bits or quantised: `frozen_bytes` of the framework.
struct StateWidths {
    double weights, gradients, reduced, optimizer;
    double frozen; ///< of weights that are not trained, under LoRA
};
StateWidths state_widths(Framework const& framework, Precision precision);

/// Bytes of a parameter as ZeRO gathers it: 32-bit shards are cast to the working format before the gather, quantised
/// weights are gathered as they are.
double gathered_bytes(Framework const& framework, Strategy const& strategy);

/// Whether the CPU waits for the GPU in every pass: it reads the number of tokens of each expert, or waits for
/// transfers between stages. Otherwise it runs ahead without bound.
bool host_waits(Model const& model, Strategy const& strategy);

/// Parameters of the output projection on its stage; with tied embeddings a copy.
double output_parameters(Model const& model, ParameterCount const& count);

/// Position of a stage in the pipeline; `whole` without a pipeline.
enum class StagePlace { whole, first, middle, last };

/// Number of blocks of a stage. If p does not divide L, the first and the last stage have fewer, because they also have
/// the embedding and the output projection.
///
///     middle  n = ceil(L / p)
///     ends    n - floor((n p - L) / 2) first, n - ceil((n p - L) / 2) last, at least 1: then some of the middle have
///             fewer than n, the fullest still n
///
/// Source: [MegatronBridge]
int stage_layers(int layers, int pp, StagePlace place);

/// Number of blocks of a stage of a model whose stages the user may have stated; of those in the middle the fullest.
int stage_layers(Model const& model, int pp, StagePlace place);

/// Number of blocks of stage `stage`: of the ends as above; of the stages in the middle, the last ones have one less if the
/// others do not divide evenly.
int layers_of_stage(int layers, int pp, int stage);
int layers_of_stage(Model const& model, int pp, int stage);

/// Whether the user stated the stages of such a pipeline.
inline bool states_stages(Model const& model, int pp) {
    return pp > 1 && model.layers_per_stage.size() == static_cast<std::size_t>(pp);
}

/// Index of the part of the model that a place holds, in the model's order. There are as many parts as places; with two
/// directions as many as stages.
int part_of(PipelineShape const& shape, ChunkLayout layout, ChunkPlace place);

/// Blocks of every part in the model's order: those of each stage (`stage_layers`), divided over its chunks. Parts at
/// the ends of the model have the fewer ones. The second form follows stages that the user stated.
std::vector<int> blocks_of_parts(int blocks, PipelineShape const& shape, ChunkLayout layout);
std::vector<int> blocks_of_parts(Model const& model, PipelineShape const& shape, ChunkLayout layout);

/// Parameters of the blocks of a stage on all ranks, if blocks differ: from `StepSetting::sums`.
BlockSum blocks_held(StepSetting const& setting, Strategy const& strategy, int stage);

/// Parameters of one rank of a stage before data-parallel sharding: dense ones and routed experts, which have data-parallel
/// groups of their own.
struct StageParameters {
    double dense = 0.0, experts = 0.0;
    [[nodiscard]] double all() const { return dense + experts; }
};
StageParameters stage_parameters(StepSetting const& setting, Strategy const& strategy, StagePlace place);

/// Share of the model on a stage: blocks, embedding, head.
struct StageShare {
    double blocks = 0.0;
    bool first = false; ///< has the embedding
    bool last = false;  ///< has the output projection and multi-token-prediction blocks
};
StageParameters stage_parameters(StepSetting const& setting, Strategy const& strategy, StageShare const& share);

/// Parameters of a stage and the trained share of them.
struct StageHolding {
    StageParameters held;
    TrainedParts trained;
    double frozen_blocks = 0.0;
};
/// Parameters of stage `stage` of a pipeline in which only the last blocks are trained.
StageHolding holding_of_last_blocks(StepSetting const& setting, Strategy const& strategy, int stage);
/// Whether the model has frozen blocks, all of them before the trained ones.
bool has_frozen_blocks(Model const& model, Strategy const& strategy);

/// Parameters of a rank of the stage that has the most.
StageParameters fullest_stage_parameters(StepSetting const& setting, Strategy const& strategy);

/// Number of ranks over which ZeRO shards each kind of state.
///
///     weights    S under ZeRO 3, else 1        S is the shard group, dp cp unless given
///     gradients  S under ZeRO 2 and 3 without a pipeline, else 1
///     optimizer  S under ZeRO 1, 2 and 3, else 1
///
/// With a pipeline, whole gradients are summed over the micro-batches and reduced after the last one.
///
/// Experts have the expert-data ranks dp cp tp / (ep etp) in place of dp cp, and S tp / (ep etp) of them in place of S.
/// Source:     [Rajbhandari2020]
struct Shards {
    double weights = 1.0, gradients = 1.0, optimizer = 1.0;
};
Shards shards_of(Strategy const& strategy);
Shards expert_shards_of(Strategy const& strategy);

/// Whether both copies of a stage's model, with two directions, share one set of shards of the optimizer.
bool shards_over_copies(Strategy const& strategy);

/// Adds degrees, the batch and bytes a parameter to the terms of an explanation.
void explain_strategy(TermBook& book, StepSetting const& setting, Strategy const& strategy);

/// Adds bytes and products of the update of a parameter to the terms of an explanation; the formula of its seconds.
std::string explain_update(TermBook& book, StepSetting const& setting, Strategy const& strategy);

/// Adds `stage_parameters` of a stage to the terms of an explanation, as NAME_dense_parameters and NAME_expert_parameters.
void explain_parameters(TermBook& book, std::string const& name, StepSetting const& setting, Strategy const& strategy,
                        double blocks, StageParameters const& held, std::optional<BlockSum> const& unlike = {});

/// Formula of the parameters of NAME over the ranks that they are split over: "weights", "gradients" or "optimizer" shards.
/// `trained`: only those that are trained, as NAME_dense_trained and NAME_expert_trained state.
std::string explain_kept(TermBook& book, std::string const& name, Strategy const& strategy, std::string const& part,
                         std::optional<TrainedParts> const& trained);

} // namespace headroom::training
