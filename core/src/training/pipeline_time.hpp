#pragma once

#include "pipeline/run_beside.hpp"

#include "headroom/training/pipeline.hpp"
#include "headroom/training/step.hpp"

#include <vector>

namespace headroom::training {

/// Times of one kind of layer and micro-batch by pass, each not faster than the host issues it; a whole backward pass in
/// proportion to its halves. Exposed traffic stands in the forward pass and before gradients of inputs, which what is
/// computed again belongs to. `total` is that of the layer.
StageTimes passes_of(LayerCost const& cost, double total);

/// What making gradients of weights takes; the host has as much to issue as for a forward pass.
PassCost weight_pass(LayerCost const& cost);

/// The same where gradients of inputs and of weights are passes of their own, each not faster than the host issues it.
StageTimes split_passes_of(LayerCost const& cost);

/// Rows of a pipeline that are run for the closed form have so many passes at most.
inline constexpr double most_passes_run = 1 << 16;

/// A pipeline as the closed form sees it. `micro_batches` may be fractional.
struct PipelineWork {
    ScheduleRow const& schedule;
    int stages = 1, chunks = 1;
    double micro_batches = 1.0;
    StageTimes slowest;                  ///< of the slowest stage for one micro-batch
    StageTimes others;                   ///< the mean of the other stages
    std::vector<StageTimes> places = {}; ///< of every chunk of every stage for one micro-batch; none: rows are not run
    TrafficBeside beside = {};           ///< of the same places, in seconds; none: not run with it
    double update = 0.0;                 ///< seconds of it that count elsewhere
};

/// Time that the slowest stage waits for the others, transfers not counted.
///
///     sum of the other stages / v      1F1B, GPipe, interleaved; exact where no stage behind the slowest is faster
///     its rows run                     others, with every stage as it is; of more passes than `most_passes_run` the
///                                      schedule's own form (`ScheduleRow::bubble`) for the mean of the other stages
///
/// Source:     [Narayanan2021], [Qi2024], [Qi2024b], [DualPipe]
double pipeline_bubble_seconds(PipelineWork const& work);

/// Rows that are run with every place as it is: what the slowest stage waits for other stages, what transfers add to that,
/// and what data-parallel traffic beside the passes adds to both, updates behind it as they differ from stage to stage.
struct RowsRun {
    double bubble = 0.0, transfers = 0.0, data = 0.0;
};
RowsRun run_of_rows(PipelineWork const& work, double hop, bool blocking);

/// How many transfers between stages show one after the other where all stages take equally long (`ScheduleRow::hops`);
/// a part of one that hides is a fraction.
struct PipelineHops {
    double filling = 0.0; ///< before the slowest stage begins and after it ends
    double steady = 0.0;  ///< in between; stages that are faster than the slowest make up for it
    double spare = 0.0;   ///< micro-batches over which they do
};
PipelineHops pipeline_hops(PipelineWork const& work, double hop, bool blocking);

} // namespace headroom::training
