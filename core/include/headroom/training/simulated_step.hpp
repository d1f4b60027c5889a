#pragma once

#include "headroom/training/pipeline.hpp"
#include "headroom/training/step.hpp"
#include "headroom/training/stream_simulation.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace headroom::training {

/// How a collective of the simulated step is priced.
enum class CollectiveDetail {
    operation, ///< one time each, as the price has it
    messages,  ///< its schedule of messages, with all groups of its dimension on the links of the cluster at once
};

/// How finely passes are cut into tasks.
enum class StepDetail {
    operation, ///< a task for each kernel and each collective
    block,     ///< one for each kind of work of a block's pass: fewer tasks, the same times
};

/// What the simulation does beyond what the strategy says.
struct SimulationOptions {
    CollectiveDetail collectives = CollectiveDetail::operation;
    StepDetail detail = StepDetail::operation;
    int gathered_ahead = 1;        ///< ZeRO 3: blocks whose weights are gathered before they are needed
    double bucket_elements = 40e6; ///< gradients of one reduction, at most [MegatronLM]
    int micro_batches = 0;         ///< of a shorter run; none: those of the workload
    int marked = -1; ///< first of three micro-batches, a round of the pipeline apart, whose backward passes are marked
    bool share_links = true; ///< groups whose traffic crosses the same adapter share its rate
    std::int64_t most_tasks = std::int64_t{1} << 24;
    bool places = false; ///< whether to note which pass and layer each task is of
    std::stop_token stop = {};
};

/// What a task of a step is of; gathering ahead counts to the pass that starts it.
struct TaskPlace {
    std::int32_t micro_batch = -1; ///< none: not of a pass (what ends the step)
    std::int32_t layer = -1;       ///< a block of the model; none: an end of it, a transfer, gradients of a whole chunk
    PassKind phase = PassKind::forward;
    std::uint8_t chunk = 0;
    bool operator==(TaskPlace const&) const = default;
};

/// One pipeline stage of a simulated step: the class of equal ranks that hold it.
struct SimulatedStage {
    Seconds computing; ///< kernels
    Seconds idle;      ///< nothing under way
    std::array<Seconds, work_kind_count> busy{}, exposed{};
};

/// A step, unrolled and run.
struct SimulatedStep {
    StepTime
        time; ///< parts of the stage that works longest, with what no graph holds: imbalance, stragglers, fixed time
    Seconds makespan; ///< of the graph alone
    std::vector<SimulatedStage> stages;
    std::array<Seconds, work_kind_count> critical{}; ///< share of the critical path by kind
    Seconds critical_stretch;                        ///< the part of the critical path that sharing and slowdown added
    StreamProgram program;                           ///< ticks are picoseconds
    StreamRun run;
    std::vector<TaskPlace> places; ///< by task, where they were asked for
    /// Why collectives that were to be priced by messages have one time each, in words, each reason once.
    std::vector<std::string> stood_in;
    std::string refused; ///< why it was not simulated, in words: too many tasks, a schedule that cannot run; else empty
    [[nodiscard]] Seconds step() const { return time.total(); }
};

/// Unrolls the step program of a strategy over its stages, micro-batches and layers and runs it.
///
/// Every stage is one class of equal ranks with streams for kernels, the host, tensor, context and expert collectives,
/// sending to the next and the previous stage, data-parallel traffic, and copies to the host.
/// Holds for:  every legal strategy whose passes and tasks are within bounds.
/// Assumes:    ranks of one stage are equal; what a stack does not hide of a collective stands in the way of kernels.
/// Source:     [Narayanan2021], [Li2020], [Zhao2023]
SimulatedStep simulate_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                            SimulationOptions const& options = {});

/// Times of every stage's passes for one micro-batch, picoseconds, with what exposed communication and the host add.
PipelineTimes pipeline_times(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs);

} // namespace headroom::training
