#pragma once

#include "step_recurrence.hpp"
#include "step_unroll.hpp"
#include "stream_order.hpp"

#include "headroom/training/step.hpp"

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace headroom::training::simulation {

// A visit is the run of one unit (`ChunkWork::units`) in one pass of a stage.

/// Last tasks on the compute stream of a stage.
struct LastKernels {
    laws::TaskId any = no_task;          ///< kernel or wait for a launch
    laws::TaskId made = no_task;         ///< kernel, no launch wait: gradients and weights are sent after it
    laws::TaskId before_visit = no_task; ///< `any` when the latest visit began
};

/// Gradients of a stage that wait for their bucket to be full.
struct Buckets {
    std::size_t kernels = 0, kernels_of_visit = 0; ///< of the current visit: run so far, and in total
    std::size_t count = 1, sent = 0;               ///< that the visit fills, and those already sent
    Ticks ticks = 0;                               ///< time to reduce the gradients in the bucket
    Ticks held_back = 0;                           ///< time to reduce those that are sent after the last pass
    Ticks of_visit = 0;                            ///< time of each bucket, if a visit fills several
    double elements = 0.0;
};

/// Weights of a stage under way.
struct Gathers {
    bool updated = true;                            ///< whether weights changed since the last forward pass
    bool due = true;                                ///< whether updated weights are still to be gathered
    std::vector<laws::TaskId> update;               ///< dependencies after an update between micro-batches
    std::vector<std::vector<laws::TaskId>> of_unit; ///< by chunk and unit: of updated weights
    std::size_t begun = 0, visit = 0;               ///< of ZeRO 3: visits whose gathers have begun; visits begun
    std::vector<laws::TaskId> of_visit;             ///< of ZeRO 3; `no_task`: it gathers nothing
};

/// Progress of unrolling one stage.
struct StageState {
    LastKernels last;
    std::vector<laws::TaskId> host_waits;    ///< dependencies of the next launch
    std::vector<laws::TaskId> pending;       ///< dependencies of the next kernel in addition to the last one
    std::vector<laws::TaskId> sent_blocking; ///< transfers that the next pass waits for
    std::array<laws::TaskId, 2> leaving{no_task,
                                        no_task}; ///< copies of the last two blocks to the host, the older first
    laws::TaskId data = no_task;                  ///< the last task of gradients
    Buckets buckets;
    Gathers weights;
};

/// Micro-batches of a run that measures one step of a long run without flush (PipeDream). The pattern of passes repeats
/// after at most p micro-batches on every stage and between neighbours. A multiple of p is measured, after a warm-up in
/// which the slowest stage sets the pace, and before the drain.
struct LongRun {
    int before = 0, measured = 0, after = 0;
    [[nodiscard]] int all() const { return before + measured + after; }
};

/// Unrolls a step into tasks on streams. The order of passes, the tasks of a pass, and data-parallel traffic each have
/// a source file.
class Unroller {
public:
    Unroller(StepSetting const& setting, Strategy const& strategy, LayerCosts const& costs,
             SimulationOptions const& options, StepRecurrence* recurrence);

    UnrolledStep run() &&;

private:
    void write();
    [[nodiscard]] Seconds transfer_time() const;

    // ---- streams and sizes -----------------------------------------------------------------------------------------

    void write_streams();
    void name_tasks();
    [[nodiscard]] std::size_t place_of(int stage, int chunk) const;
    void prepare();
    static bool makes_gradients(PassKind kind);

    /// Finds places of equal work, and those with gradients to send.
    void find_alike();

    /// Finds the pass of each place that completes its gradients, and its first forward pass.
    void find_last_passes(std::size_t places);
    [[nodiscard]] std::int64_t count_tasks() const;

    /// Lists the weights that ZeRO 3 gathers, visit by visit in the stage's order of passes.
    void list_visits();

    // ---- passes ----------------------------------------------------------------------------------------------------

    /// Unrolls the passes of every stage as far as their inputs have been written, round robin: task numbers are in an
    /// order of time.
    bool unroll();
    [[nodiscard]] std::size_t slot(std::size_t place, int micro_batch) const;

    /// A place next to another one in the model; `transfers`: on another stage.
    struct Neighbour {
        std::size_t place = nowhere;
        bool transfers = false;
    };
    static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
    [[nodiscard]] Neighbour source_of(int stage, Pass const& pass) const;
    [[nodiscard]] bool ready(int stage, Pass const& pass) const;

    /// Whether the inputs of the next pass have been written; of merged passes, those of both.
    [[nodiscard]] bool next_is_ready(int stage, std::size_t next, std::size_t end) const;

    /// Writes a pass, or two merged ones, which begin when all their inputs have arrived and hand on their outputs
    /// after both.
    void write_passes(int stage, StageState& state, std::size_t first, std::size_t count);

    /// Sets the pass that the following tasks belong to.
    void note(Pass const& pass);
    void write_pass(int stage, StageState& state, std::size_t index);

    /// Whether a pass overlaps with no gradients, weights or copies: its price is the same each time.
    [[nodiscard]] bool is_plain(int stage, std::size_t index) const;

    /// Adds a plain pass to the recurrence: block by block the first time, then as one task.
    void write_plain_pass(int stage, StageState& state, std::size_t index);
    void write_blocks(int stage, StageState& state, std::size_t index);

    /// Numbers the runs of equal units of every chunk: equal work and equal traffic.
    void find_runs();
    /// Whether visits of a pass may repeat: none of them waits for a task of its own from before the pass.
    [[nodiscard]] bool may_repeat(int stage, std::size_t index) const;
    /// Number of visits, from visit `i` of a pass on, that do as those before them did, within the run of equal units; they
    /// are added to the recurrence. The last one of the run is left, because the weights of the next unit are gathered in it.
    std::size_t repeated(int stage, StageState& state, std::size_t index, std::size_t i);

    // ---- tasks -----------------------------------------------------------------------------------------------------

    [[nodiscard]] StreamId stream(int stage, Role role) const;
    laws::TaskId add(int stage, Role role, WorkKind kind, Ticks cost, std::uint32_t name);
    void wait(laws::TaskId task, laws::TaskId for_task);
    /// Adds dependencies on the last kernel and on all that the next one waits for.
    void wait_for_work(laws::TaskId task, StageState const& state);
    [[nodiscard]] Ticks scaled(Ticks cost) const;
    laws::TaskId kernel(int stage, StageState& state, WorkKind kind, Ticks cost, std::uint32_t name);
    void write_unit(int stage, StageState& state, UnitPass const& unit);
    void write_kernel(int stage, StageState& state, PassItem const& item);

    // ---- between stages --------------------------------------------------------------------------------------------

    void receive(int stage, StageState& state, Pass const& pass);

    /// Receives by a blocking transfer, which occupies both ends. It follows all tasks of the pass that made the data,
    /// collectives included, and the stage's previous pass, which may send at the same time.
    laws::TaskId receive_blocking(int stage, StageState const& state, Role role, laws::TaskId made);

    /// Appends a list to `made_`: the transfer `sent` of the pass just written, and its last tasks. Result: its begin.
    laws::TaskId made_by(StageState const& state, laws::TaskId sent);
    void send(int stage, StageState& state, Pass const& pass);

    // ---- data parallel ---------------------------------------------------------------------------------------------

    [[nodiscard]] UnitTraffic const& unit_traffic(int stage, Pass const& pass, std::size_t unit) const;
    [[nodiscard]] Ticks of_all_units(int stage, Ticks UnitTraffic::*part) const;

    /// Copies a block's activations back for the next backward pass, from the begin of the previous visit on.
    void bring_back(int stage, StageState& state, Pass const& pass, Ticks cost);

    /// Copies a block's activations to host memory after its forward pass. While copies of two blocks are under way, a
    /// third does not compute.
    void take_away(int stage, StageState& state, Pass const& pass, Ticks cost);
    void begin_visit(int stage, StageState& state, std::size_t index, std::size_t unit);

    /// Gathers the weights of this visit, and of the next one if it is prefetched.
    void gather_ahead(int stage, StageState& state);

    /// Gathers updated weights in the order in which the first passes need them: the exposed share before the first
    /// pass, the rest of each unit while earlier units compute.
    void gather_updated(int stage, StageState& state);
    void end_visit(int stage, StageState& state, std::size_t index, std::size_t unit);

    /// Prepares the gradient buckets of a visit: a unit of several buckets sends them during the visit.
    void expect_gradients(int stage, StageState& state, std::size_t index, std::size_t unit);

    /// Sends the buckets that are full after the kernels run so far.
    void send_full_buckets(int stage, StageState& state);

    /// Adds a unit's gradients to the bucket, and sends it if it is full.
    void reduce(int stage, StageState& state, UnitTraffic const& traffic);

    /// Whether gradients are reduced after this pass.
    [[nodiscard]] bool reduces_after(int stage, std::size_t index) const;
    void send_bucket(int stage, StageState& state, Ticks cost, laws::TaskId ready);
    void flush(int stage, StageState& state);
    void accumulate(int stage, StageState& state, Pass const& pass);

    /// Updates weights after a micro-batch in schedules without a flush, after the backward pass has handed on its
    /// output.
    void update_between(int stage, StageState& state, std::size_t index);

    /// Whether gradients are copied to the host after the last pass: copies block, or all of the reduction comes after it.
    [[nodiscard]] bool gradients_leave_last() const;

    /// Writes the tasks after the last pass of a stage, or after every backward pass in schedules without a flush.
    void finish(int stage);

    StepSetting const& setting_;
    Strategy const& strategy_;
    SimulationOptions const& options_;
    StepRecurrence* recurrence_;             ///< reads the tasks as they are written; null: they are kept as a program
    std::unique_ptr<StepMessages> messages_; ///< if collectives are priced by messages
    std::optional<LongRun> long_run_;        ///< in schedules without a flush
    StepLayout layout_;
    BlockOrder blocks_;
    StepUnits units_;
    DataRules rules_;
    Ticks hop_;
    bool blocking_;                   ///< transfers between stages keep both ends busy
    bool copies_block_;               ///< kernels wait for copies to and from the host
    bool may_be_plain_;               ///< whether there are plain passes (`is_plain`)
    double last_share_, share_ = 1.0; ///< size over that of a whole micro-batch: of the last one, of the current one
    PipelineOrder order_;
    std::vector<std::vector<PassUnit const*>> chunk_units_; ///< by place, in the order of the forward pass
    std::vector<StageTraffic> traffic_;                     ///< by stage
    std::vector<StageState> stages_;
    std::vector<std::size_t> next_; ///< by stage: index of its next pass
    /// By place and micro-batch: the task that delivers its output; for blocking transfers the begin of its list in
    /// `made_`.
    std::vector<laws::TaskId> forward_, back_;
    std::vector<laws::TaskId> away_;     ///< by place and micro-batch: the last copy of its activations to the host
    std::vector<laws::TaskId> arriving_; ///< with blocking transfers: those that the current passes wait for
    std::vector<laws::TaskId> made_;     ///< lists of tasks, each ended by `no_task`
    std::vector<std::uint8_t> done_forward_, done_back_;
    std::vector<std::size_t> last_gradient_, first_forward_; ///< by place: index of a pass
    std::vector<std::vector<Ticks>> visits_;                 ///< of ZeRO 3: by stage and visit, time of its gather
    std::vector<laws::TaskId> overlapping_;
    struct Neighbours {
        Neighbour before, after; ///< in the forward direction
    };
    std::vector<Neighbours> neighbours_;         ///< by place
    std::vector<PassPrice> plain_;               ///< by place and kind of pass
    std::vector<std::size_t> alike_;             ///< by place: the first place of equal work
    std::vector<bool> sends_gradients_;          ///< by place
    std::vector<std::vector<std::size_t>> runs_; ///< by place and unit: number of its run of equal units
    std::array<ChipState, 3> visited_;           ///< states after the last visits of a run, the oldest first
    std::size_t visits_known_ = 0;               ///< of these
    std::vector<laws::TaskId> awaited_;          ///< by tasks of the next visits
    TaskPlace at_;                               ///< pass and layer being written
    std::uint32_t send_name_ = 0, back_name_ = 0, receive_name_ = 0, launch_name_ = 0, overlapping_name_ = 0;
    std::uint32_t reduce_name_ = 0, gather_name_ = 0, accumulate_name_ = 0, update_name_ = 0, compress_name_ = 0;
    std::uint32_t blocking_name_ = 0, out_name_ = 0, in_name_ = 0, host_name_ = 0;
    UnrolledStep result_;
};

// Called for every task.

inline std::size_t Unroller::place_of(int stage, int chunk) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(layout_.shape.chunks) +
           static_cast<std::size_t>(chunk);
}

inline bool Unroller::makes_gradients(PassKind kind) {
    return kind == PassKind::backward || kind == PassKind::weight_gradient;
}

inline std::size_t Unroller::slot(std::size_t place, int micro_batch) const {
    return place * static_cast<std::size_t>(layout_.shape.micro_batches) + static_cast<std::size_t>(micro_batch);
}

inline StreamId Unroller::stream(int stage, Role role) const {
    return result_.streams[static_cast<std::size_t>(stage)][static_cast<std::size_t>(role)];
}

inline laws::TaskId Unroller::add(int stage, Role role, WorkKind kind, Ticks cost, std::uint32_t name) {
    if (options_.places) { result_.places.push_back(at_); }
    if (recurrence_ != nullptr) { return recurrence_->add(stream(stage, role), kind, cost); }
    return result_.program.add(stream(stage, role), kind, cost, name);
}

inline void Unroller::wait(laws::TaskId task, laws::TaskId for_task) {
    if (for_task == no_task) { return; }
    if (recurrence_ != nullptr) { return recurrence_->wait_for(for_task); }
    result_.program.wait(task, for_task);
}

inline void Unroller::wait_for_work(laws::TaskId task, StageState const& state) {
    wait(task, state.last.any);
    for (laws::TaskId const one : state.pending) { wait(task, one); }
}

inline Ticks Unroller::scaled(Ticks cost) const {
    return share_ == 1.0 ? cost : static_cast<Ticks>(static_cast<double>(cost) * share_);
}

inline laws::TaskId Unroller::kernel(int stage, StageState& state, WorkKind kind, Ticks cost, std::uint32_t name) {
    laws::TaskId const task = add(stage, Role::compute, kind, cost, name);
    for (laws::TaskId const one : state.pending) { wait(task, one); }
    state.pending.clear();
    state.last.any = task;
    if (kind != WorkKind::launch) { state.last.made = task; }
    return task;
}

inline UnitTraffic const& Unroller::unit_traffic(int stage, Pass const& pass, std::size_t unit) const {
    return traffic_[static_cast<std::size_t>(stage)].units[pass.chunk][unit];
}

} // namespace headroom::training::simulation
