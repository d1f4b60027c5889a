#pragma once

#include "headroom/laws/dag.hpp"
#include "headroom/training/pipeline_schedule.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::training {

/// Work of a stage in one slot of its schedule.
enum class PassKind : std::uint8_t {
    forward,
    backward,        ///< gradients of inputs and weights in one pass
    input_gradient,  ///< gradient of inputs, which the previous stage waits for
    weight_gradient, ///< gradient of weights, which nothing waits for before the update
};

/// One slot: a pass of one chunk over one micro-batch.
struct Pass {
    PassKind kind = PassKind::forward;
    std::uint8_t chunk = 0;
    bool joined = false; ///< merged with the next pass of the stage (DualPipe): both begin when the inputs of both have
                         ///< arrived, and hand on their outputs when both have ended
    std::int32_t micro_batch = 0;
    bool operator==(Pass const&) const = default;
};

/// Numbers of stages, chunks and micro-batches that a schedule orders.
struct PipelineShape {
    int stages = 1;
    int chunks = 1; ///< model chunks on each stage; DualPipe has one for each of its two directions
    int micro_batches = 1;
};

/// Assignment of the model's parts to the chunks of the stages.
enum class ChunkLayout : std::uint8_t {
    loop,          ///< chunk c of stage s is part c p + s of the model
    v,             ///< chunk 0 goes down the stages, chunk 1 comes back up
    bidirectional, ///< two copies of the model: chunk 0 goes down, chunk 1 up; a micro-batch uses one of them
};

/// Schedule of a pipeline: each stage's passes in order. Begins and ends follow from the durations of the passes.
struct PipelineOrder {
    PipelineShape shape;
    ChunkLayout layout = ChunkLayout::loop;
    std::vector<std::size_t> first; ///< order of stage s: passes[first[s]] up to passes[first[s + 1]]
    std::vector<Pass> passes;
    [[nodiscard]] std::span<Pass const> row(int stage) const {
        auto const s = static_cast<std::size_t>(stage);
        return std::span{passes}.subspan(first[s], first[s + 1] - first[s]);
    }
};

/// Place of a chunk of the model: its stage, and its number on that stage.
struct ChunkPlace {
    int stage = 0, chunk = 0;
    bool operator==(ChunkPlace const&) const = default;
};
/// Places that follow and precede this one in the forward direction; empty at the ends of the model.
std::optional<ChunkPlace> next_place(PipelineShape const& shape, ChunkLayout layout, ChunkPlace place);
std::optional<ChunkPlace> previous_place(PipelineShape const& shape, ChunkLayout layout, ChunkPlace place);

/// Durations of the passes of one chunk of one stage for one micro-batch; an unsplit backward pass takes input +
/// weight.
struct PassTicks {
    Ticks forward = 0;
    Ticks input = 0;  ///< gradients of inputs, recomputation included
    Ticks weight = 0; ///< gradients of weights
    [[nodiscard]] Ticks of(PassKind kind) const {
        switch (kind) {
        case PassKind::forward: return forward;
        case PassKind::backward: return input + weight;
        case PassKind::input_gradient: return input;
        case PassKind::weight_gradient: break;
        }
        return weight;
    }
};

/// Durations with which a schedule is run.
struct PipelineTimes {
    std::vector<PassTicks> passes; ///< of stage s, chunk c at [s * chunks + c]
    std::vector<Ticks> hop; ///< transfer times, one for each stage: from stage s to s + 1 and back. The last entry
                            ///< joins the last stage to the first, where interleaved chunks continue. Empty: transfers
                            ///< take no time
    bool blocking = false;  ///< a stage does not compute while it sends or receives; it may do both at once
};

/// Result of running a schedule.
struct PipelineRun {
    Ticks makespan = 0;      ///< from the first pass to the end of the last
    Ticks period = 0;        ///< longest span of a stage, from its first pass to the end of its last: the time from
                             ///< step to step where stages do not wait for each other before the update
    std::vector<Ticks> busy; ///< by stage
    std::vector<Ticks> span; ///< by stage: from its first pass to the end of its last
    std::vector<int> chunks_held; ///< by stage: peak number of chunk activations held; the last backward pass frees
                                  ///< them
    std::vector<Ticks> begin;     ///< on request: begin of each pass, in the order of `PipelineOrder::passes`
    bool complete = true;         ///< false if a stop was requested: the times are then invalid
};

/// Runs a schedule. A pass begins when the stage has ended its previous pass and the inputs have arrived.
///
///     forward   after forward of the previous place + hop
///     backward  after forward of the same place, and input gradient (or backward) of the next place + hop
///     weight    after input gradient of the same place
///
/// With blocking transfers a stage does not compute while it sends or receives: after a pass it sends the output and
/// receives the input of its next pass, both at once, as soon as that input exists.
///
/// Holds for:  any order of passes. Empty where stages wait for each other in a circle.
/// Cost:       O(passes) time; 16 bytes a chunk and micro-batch in addition to the order, 8 more a pass with begins.
std::optional<PipelineRun> run_pipeline(PipelineOrder const& order, PipelineTimes const& times,
                                        bool with_begins = false, std::stop_token const& stop = {});

/// Durations of the passes of a stage, all chunks, for one micro-batch: of the closed forms for equal stages.
struct StageTimes {
    double forward = 1.0, input = 1.0, weight = 1.0;
    [[nodiscard]] double all() const { return forward + input + weight; }
    [[nodiscard]] double sum(StageTimes const& of) const {
        return forward * of.forward + input * of.input + weight * of.weight;
    }
};

/// Properties of a schedule: one row of the table of schedules.
struct ScheduleRow {
    PipelineSchedule id = PipelineSchedule::one_f_one_b;
    std::string_view name;   ///< as typed: "zb-h1"
    std::string_view title;  ///< as printed
    std::string_view source; ///< key of the bibliography
    ChunkLayout layout = ChunkLayout::loop;
    int chunks = 1;               ///< chunks of a stage; 0: two or more, as the user states
    bool splits_backward = false; ///< weight gradients are separate passes
    bool asynchronous = false;    ///< steps overlap (PipeDream): a step takes the period, not the makespan
    bool validates_late = false;  ///< a stage updates without waiting for the others; the update is validated
                                  ///< afterwards, so a step takes the period
    double weight_copies = 1.0;   ///< copies of a stage's weights, without the versions that `versions` counts
    /// Reason why a shape cannot run; empty when it can.
    std::string (*impossible)(PipelineShape const&) = nullptr;
    /// Order of passes of every stage; the shape must be possible.
    PipelineOrder (*order)(PipelineShape const&) = nullptr;
    /// Bubble of the screen, for equal stages: (p - 1)/v max(0, a t_F + b t_Bin + c t_W) + m max(0, d t_F + e t_Bin + f t_W),
    /// a to c from `bubble`, d to f from `drift`. The forms of the schedules' docstrings, linear in p and of one chain.
    StageTimes bubble{0.0, 0.0, 0.0}, drift{0.0, 0.0, 0.0};
    /// Peak activations of a stage, in units of the activations of a whole stage for one micro-batch.
    double (*held)(PipelineShape const&, int stage) = nullptr;
    /// Number of versions of its weights that a stage keeps for micro-batches in flight; null: one.
    int (*versions)(PipelineShape const&, int stage) = nullptr;
    /// Number of updates by which a stage's weights lag behind the newest in the passes of a micro-batch, in the steady
    /// state.
    int (*staleness)(PipelineShape const&, int stage) = nullptr;
};
std::span<ScheduleRow const> pipeline_schedules();
ScheduleRow const& schedule_row(PipelineSchedule id);
std::optional<PipelineSchedule> schedule_from(std::string_view name);

/// Reason why a shape cannot run under a schedule: degrees that are not positive, a limit of the schedule, or more
/// passes than are unrolled (`most_passes`). Empty when it can.
std::string impossible_because(PipelineSchedule id, PipelineShape const& shape);
inline constexpr std::int64_t most_passes = std::int64_t{1} << 26;

} // namespace headroom::training
