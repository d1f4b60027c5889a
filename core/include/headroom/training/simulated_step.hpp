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

/// Pricing of a collective in the simulated step.
enum class CollectiveDetail {
    operation, ///< one duration each, as in the price
    messages,  ///< its schedule of messages, with all groups of its dimension on the links of the cluster at once
};

/// Granularity of the tasks of a pass.
enum class StepDetail {
    operation, ///< a task for each kernel and each collective
    block,     ///< one task for each kind of work of a block's pass: fewer tasks, equal times
};

/// Options of the simulation that are not part of the strategy.
struct SimulationOptions {
    CollectiveDetail collectives = CollectiveDetail::operation;
    StepDetail detail = StepDetail::operation;
    int micro_batches = 0; ///< of a shorter run; 0: the micro-batches of the workload
    int marked =
        -1; ///< first of three micro-batches, p apart, after whose backward passes times are recorded; -1: none
    bool share_links = true; ///< transfers that use one NIC at a time share its rate
    std::int64_t most_tasks = std::int64_t{1} << 24;
    bool places = false; ///< whether to record the `TaskPlace` of each task
    std::stop_token stop = {};
};

/// Pass and layer that a task belongs to; a prefetch belongs to the pass that starts it.
struct TaskPlace {
    std::int32_t micro_batch = -1; ///< -1: of no pass (the end of the step)
    std::int32_t layer = -1;       ///< a block of the model; -1: embedding or head, a transfer, gradients of a whole
                                   ///< chunk
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
    /// Parts of the stage that works longest, with imbalance, stragglers and fixed time, which no task has.
    StepTime time;
    Seconds makespan; ///< of the tasks alone
    std::vector<SimulatedStage> stages;
    std::array<Seconds, work_kind_count> critical{}; ///< time on the critical path by kind
    Seconds critical_stretch;                        ///< time that sharing and slowdown added to the critical path
    StreamProgram program;                           ///< ticks are picoseconds
    StreamRun run;
    std::vector<TaskPlace> places; ///< by task, on request
    /// Reasons why some collectives have the duration of a closed form in place of their messages; each reason once.
    std::vector<std::string> stood_in;
    std::string refused; ///< reason why the step was not simulated: too many tasks, a schedule that cannot run; else
                         ///< empty
    [[nodiscard]] Seconds step() const { return time.total(); }
};

/// Simulates a step: unrolls the strategy's step program over stages, micro-batches and layers, and runs it.
///
/// Every stage is one class of equal ranks. It has streams for kernels, kernel launch, tensor, context and expert
/// collectives, sends to the next and the previous stage, data-parallel traffic, and copies to and from the host.
/// Holds for:  every legal strategy whose passes and tasks are within bounds.
/// Assumes:    ranks of one stage are equal; the exposed share of a collective, which the framework determines, blocks
///             kernels.
/// Source:     [Narayanan2021], [Li2020], [Zhao2023]
SimulatedStep simulate_step(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
                            SimulationOptions const& options = {});

/// Durations of every stage's passes for one micro-batch, picoseconds, with exposed communication and waits for
/// launches.
PipelineTimes pipeline_times(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs);

} // namespace headroom::training
