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

/// What a stage does in one slot of its row.
enum class PassKind : std::uint8_t {
    forward,
    backward,        ///< gradients of inputs and weights in one
    input_gradient,  ///< the part that the stage before waits for
    weight_gradient, ///< the part that nobody waits for before the update
};

/// One slot: a pass of one chunk over one micro-batch.
struct Pass {
    PassKind kind = PassKind::forward;
    std::uint8_t chunk = 0;
    bool joined = false; ///< runs as one with the pass after it in the row, their communication behind the other's
                         ///< computation (DualPipe): they begin when the inputs of both are there and hand on what
                         ///< they made when both are through
    std::int32_t micro_batch = 0;
    bool operator==(Pass const&) const = default;
};

/// How many of what a schedule orders.
struct PipelineShape {
    int stages = 1;
    int chunks = 1; ///< of the model on each stage; those of DualPipe are its two directions
    int micro_batches = 1;
};

/// How the chunks of the stages make the whole model.
enum class ChunkLayout : std::uint8_t {
    loop,          ///< chunk c of stage s is part c p + s
    v,             ///< chunk 0 goes down the stages, chunk 1 comes back up
    bidirectional, ///< two whole models: chunk 0 goes down, chunk 1 up; a micro-batch uses one of them
};

/// The rows of rounds of a schedule: what each stage does, in order. Begins and ends follow from the times of passes.
struct PipelineOrder {
    PipelineShape shape;
    ChunkLayout layout = ChunkLayout::loop;
    std::vector<std::size_t> first; ///< row of stage s: passes[first[s]] up to passes[first[s + 1]]
    std::vector<Pass> passes;
    [[nodiscard]] std::span<Pass const> row(int stage) const {
        auto const s = static_cast<std::size_t>(stage);
        return std::span{passes}.subspan(first[s], first[s + 1] - first[s]);
    }
};

/// A place where a pass runs.
struct ChunkPlace {
    int stage = 0, chunk = 0;
    bool operator==(ChunkPlace const&) const = default;
};
/// The place that works after this one in the forward direction, and before it; empty at the ends of the model.
std::optional<ChunkPlace> next_place(PipelineShape const& shape, ChunkLayout layout, ChunkPlace place);
std::optional<ChunkPlace> previous_place(PipelineShape const& shape, ChunkLayout layout, ChunkPlace place);
/// Whether a micro-batch passes this chunk at all: with two directions the first half goes down, the second up.
bool passes_through(PipelineShape const& shape, ChunkLayout layout, int chunk, int micro_batch);

/// What one chunk of one stage needs for one micro-batch; a backward pass in one takes input + weight.
struct PassTicks {
    Ticks forward = 0;
    Ticks input = 0;  ///< gradients of inputs, with what is computed again for them
    Ticks weight = 0; ///< gradients of weights
};

/// The times that an order is run with.
struct PipelineTimes {
    std::vector<PassTicks> passes; ///< of stage s, chunk c at [s * chunks + c]
    std::vector<Ticks> hop; ///< as many as stages: from stage s to s + 1 and back; the last entry joins the last stage
                            ///< and the first, where a loop begins its next round. None: transfers take no time
    bool blocking = false;  ///< a stage computes neither while it sends nor while it receives; it may do both at once
};

/// What running an order comes to.
struct PipelineRun {
    Ticks makespan = 0;      ///< from the first pass to the end of the last
    Ticks period = 0;        ///< longest span of a stage, from its first pass to the end of its last: from step to step
                             ///< where stages do not wait for each other before the update
    std::vector<Ticks> busy; ///< by stage
    std::vector<Ticks> span; ///< by stage: from its first pass to the end of its last
    std::vector<int> chunks_held;    ///< by stage: most chunk activations at once, freed by the last backward part
    std::vector<double> depths_held; ///< the same in units of a stage's whole depth for one micro-batch
    std::vector<Ticks> begin;        ///< on request: of each pass, in the order of `PipelineOrder::passes`
    bool complete = true;            ///< whether nobody asked to stop; else the times are of no use
};

/// Runs the rows: a pass begins when the stage is through with the pass before it in its row and its inputs are there.
///
///     forward   after forward of the previous place + hop
///     backward  after forward of the same place, and input gradient (or backward) of the next place + hop
///     weight    after input gradient of the same place
///
/// Transfers that block stand in the stage's row: after a pass it sends what it made and receives what the next one takes,
/// both at once, and computes nothing; what it receives must have been made.
///
/// Holds for:  any rows; O(passes), 16 bytes a chunk and micro-batch beside the order, 8 more a pass with begins. Empty
///             where rows wait for each other in a circle.
std::optional<PipelineRun> run_pipeline(PipelineOrder const& order, PipelineTimes const& times,
                                        bool with_begins = false, std::stop_token const& stop = {});

/// Equal times of every stage, as the closed forms have them: whole stages (all chunks) for one micro-batch.
struct StageTimes {
    double forward = 1.0, input = 1.0, weight = 1.0;
    [[nodiscard]] double all() const { return forward + input + weight; }
};

/// What is known of a schedule: a row of the table.
struct ScheduleRow {
    PipelineSchedule id = PipelineSchedule::one_f_one_b;
    std::string_view name;   ///< as typed: "zb-h1"
    std::string_view title;  ///< as shown
    std::string_view source; ///< key of the bibliography
    ChunkLayout layout = ChunkLayout::loop;
    int chunks = 1;               ///< of a stage; 0: as many as asked for, two or more
    bool splits_backward = false; ///< weight gradients are passes of their own
    bool asynchronous = false;    ///< steps run into each other: the period counts, not the makespan
    bool validates_late = false;  ///< its bubble is that of the period: the update is checked afterwards
    double weight_copies = 1.0;   ///< of a stage's weights, beside their versions
    /// Why it cannot run, in words; empty when it can.
    std::string (*impossible)(PipelineShape const&) = nullptr;
    /// Rows of rounds; the shape must be possible.
    PipelineOrder (*order)(PipelineShape const&) = nullptr;
    /// Idle time in a step of equal stages without hops: of the stage that waits longest, from the first pass of all to
    /// the last; in its own period where it validates late. Exact; empty where no form is known for the shape and times.
    std::optional<double> (*bubble)(PipelineShape const&, StageTimes const&) = nullptr;
    /// Activations that a stage holds at once, in units of its whole depth for one micro-batch.
    double (*held)(PipelineShape const&, int stage) = nullptr;
    /// Versions of its weights that a stage keeps for micro-batches under way; none: one version.
    int (*versions)(PipelineShape const&, int stage) = nullptr;
    /// Updates between the weights of a micro-batch's passes on a stage and the newest, in the steady state.
    int (*staleness)(PipelineShape const&, int stage) = nullptr;
};
std::span<ScheduleRow const> pipeline_schedules();
ScheduleRow const& schedule_row(PipelineSchedule id);
std::optional<PipelineSchedule> schedule_from(std::string_view name);

/// Why a shape cannot run under a schedule: degrees that are not positive, what the schedule forbids, or more passes than
/// are unrolled (`most_passes`). Empty when it can.
std::string impossible_because(PipelineSchedule id, PipelineShape const& shape);
inline constexpr std::int64_t most_passes = std::int64_t{1} << 26;

} // namespace headroom::training
