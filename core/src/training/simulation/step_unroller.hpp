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

/// What a stage has written so far.
struct StageState {
    std::size_t next = 0;           ///< of its row
    laws::TaskId compute = no_task; ///< its last kernel
    laws::TaskId made = no_task;    ///< the same, but for waits for the host: what gradients and weights are made by
    laws::TaskId before_visit = no_task;           ///< its last kernel when the visit before this one began
    std::vector<laws::TaskId> host_waits;          ///< what the next launch waits for
    std::vector<laws::TaskId> pending;             ///< what the next kernel waits for beside the last one
    std::size_t kernels = 0, kernels_of_visit = 0; ///< run of the visit under way, and all of it
    std::size_t buckets = 1, buckets_sent = 0;     ///< that the visit fills, and those on their way
    std::vector<laws::TaskId> sent_blocking;       ///< transfers that the next pass waits for
    // gradients that wait for their bucket to be full
    Ticks bucket = 0, held_back = 0;
    Ticks bucket_of_visit = 0; ///< each of several that one visit fills
    double bucket_elements = 0.0;
    std::array<laws::TaskId, 2> leaving = {no_task,
                                           no_task}; ///< copies to the host of the last two blocks, the older first
    laws::TaskId data = no_task;                     ///< the last task of gradients
    bool updated = true;                             ///< weights since the last forward pass
    bool shows_weights = true;                       ///< updated ones have yet to be gathered before the next pass
    std::vector<laws::TaskId> update; ///< what weights wait for that are gathered after an update between micro-batches
    std::vector<std::vector<laws::TaskId>> gathers; ///< by chunk and unit: updated weights on their way
    std::size_t gathered = 0, visit = 0;            ///< of ZeRO 3: visits whose weights are on their way; visits begun
    std::vector<laws::TaskId> gather_tasks;         ///< by visit; none: it gathers nothing
};

/// Micro-batches of a run that shows what a step of a long one takes where no flush parts the steps (PipeDream): every stage
/// and every window of neighbours comes round to where it began after at most p micro-batches, so a multiple of p is told, after
/// as many as let the slowest window set the pace, and before those in which the stages drain.
struct LongRun {
    int before = 0, told = 0, after = 0;
    [[nodiscard]] int all() const { return before + told + after; }
};

/// Writes a step as tasks on streams: rows of passes, the tasks of a pass, and what data-parallel ranks send, each in a file
/// of its own.
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

    /// The pass of each place after which its gradients are whole, and the first forward pass.
    void find_last_passes(std::size_t places);

    [[nodiscard]] std::int64_t count_tasks() const;

    /// Weights that ZeRO 3 gathers, visit by visit in the order of the row.
    void list_visits();

    // ---- rows ------------------------------------------------------------------------------------------------------

    /// Writes every row as far as its inputs have been written, round and round: numbers are in an order of time.
    bool unroll();

    [[nodiscard]] std::size_t slot(std::size_t place, int micro_batch) const;

    [[nodiscard]] std::optional<ChunkPlace> source_of(int stage, Pass const& pass) const;

    [[nodiscard]] bool ready(int stage, Pass const& pass) const;

    /// Whether the next pass can be written; of two that run as one both.
    [[nodiscard]] bool row_is_ready(int stage, std::size_t next, std::size_t end) const;

    /// A pass, or two that run as one: they take all their inputs before and hand on what they made after both.
    void write_passes(int stage, StageState& state, std::size_t first, std::size_t count);

    /// The tasks that follow are of this pass.
    void note(Pass const& pass);

    void write_pass(int stage, StageState& state, std::size_t index);

    /// Whether a pass sends, copies and updates nothing: its price is the same each time.
    [[nodiscard]] bool is_plain(int stage, std::size_t index) const;

    /// A plain pass, for the recurrence: block by block the first time, then as one task.
    void write_plain_pass(int stage, StageState& state, std::size_t index);

    void write_blocks(int stage, StageState& state, std::size_t index);

    // ---- tasks -----------------------------------------------------------------------------------------------------

    [[nodiscard]] StreamId stream(int stage, Role role) const;
    laws::TaskId add(int stage, Role role, WorkKind kind, Ticks cost, std::uint32_t name);
    void wait(laws::TaskId task, laws::TaskId for_task);
    /// After the last kernel and all that the next one waits for.
    void wait_for_work(laws::TaskId task, StageState const& state);
    [[nodiscard]] Ticks scaled(Ticks cost) const;

    laws::TaskId kernel(int stage, StageState& state, WorkKind kind, Ticks cost, std::uint32_t name);

    void write_unit(int stage, StageState& state, UnitPass const& unit);

    void write_kernel(int stage, StageState& state, PassItem const& item);

    // ---- between stages --------------------------------------------------------------------------------------------

    void receive(int stage, StageState const& state, Pass const& pass);

    /// Both ends are busy with the transfer: it comes after all of the pass that made it, its collectives too, and
    /// after all of the pass before on this stage, which may send at the same time.
    laws::TaskId receive_blocking(int stage, StageState const& state, Role role, laws::TaskId made);

    /// Where the list begins of what sends the output of a pass that has just been written, and what that did last.
    laws::TaskId made_by(StageState const& state, laws::TaskId sent);

    void send(int stage, StageState& state, Pass const& pass);

    // ---- data parallel ---------------------------------------------------------------------------------------------

    [[nodiscard]] UnitTraffic const& unit_traffic(int stage, Pass const& pass, std::size_t unit) const;

    [[nodiscard]] Ticks of_all_units(int stage, Ticks UnitTraffic::*part) const;

    /// Activations of a block that a backward pass is about to need, from the begin of the visit before on.
    void bring_back(int stage, StageState& state, Pass const& pass, Ticks cost);

    /// Activations of a block that has just been computed. While two blocks' are on their way no third is computed.
    void take_away(int stage, StageState& state, Pass const& pass, Ticks cost);

    void begin_visit(int stage, StageState& state, std::size_t index, std::size_t unit);

    /// Weights of this visit and of those that may be gathered while it works.
    void gather_ahead(int stage, StageState& state);

    /// Updated weights, in the order in which the first passes need them: the exposed share before the first pass, the
    /// rest of each unit while those before it are computed.
    void gather_updated(int stage, StageState& state);

    void end_visit(int stage, StageState& state, std::size_t index, std::size_t unit);

    /// Gradients that a visit is about to make: a unit of several buckets sends them while it works.
    void expect_gradients(int stage, StageState& state, std::size_t index, std::size_t unit);

    /// Sends the buckets of the visit that are full after the kernels run so far.
    void send_full_buckets(int stage, StageState& state);

    /// Gradients of a unit that has ended: on their way when their bucket is full.
    void reduce(int stage, StageState& state, UnitTraffic const& traffic);

    /// Whether gradients leave after this pass.
    [[nodiscard]] bool reduces_after(int stage, std::size_t index) const;

    void send_bucket(int stage, StageState& state, Ticks cost, laws::TaskId ready);
    void flush(int stage, StageState& state);

    void accumulate(int stage, StageState& state, Pass const& pass);

    /// Updates of every micro-batch, where no flush parts the steps: they are written after what the backward pass hands on.
    void update_between(int stage, StageState& state, std::size_t index);

    /// Whether gradients are copied to the host after the last pass: copies block, or all of the reduction comes after it.
    [[nodiscard]] bool gradients_leave_last() const;

    /// What follows the last pass of a stage, or every backward pass where no flush parts the steps.
    void finish(int stage);

    StepSetting const& setting_;
    Strategy const& strategy_;
    SimulationOptions const& options_;
    StepRecurrence* recurrence_;             ///< reads the tasks as they are written; none: they are kept as a program
    std::unique_ptr<StepMessages> messages_; ///< where collectives are priced by them
    std::optional<LongRun> long_run_;        ///< where no flush parts the steps
    StepLayout layout_;
    BlockOrder blocks_;
    StepUnits units_;
    DataRules rules_;
    Ticks hop_;
    bool blocking_;                   ///< transfers between stages keep both ends busy
    bool copies_block_;               ///< kernels wait for copies to and from the host
    double last_share_, share_ = 1.0; ///< of a micro-batch: of the last one, of the one being written
    PipelineOrder order_;
    std::vector<std::vector<Unit const*>> chunk_units_; ///< by place, in the order of the forward pass
    std::vector<StageTraffic> traffic_;                 ///< by stage
    std::vector<StageState> stages_;
    /// By place and micro-batch: what brings its output; of transfers that block where its list in `made_` begins.
    std::vector<laws::TaskId> forward_, back_;
    std::vector<laws::TaskId> away_;     ///< by place and micro-batch: the last copy of its activations to the host
    std::vector<laws::TaskId> arriving_; ///< what the passes being written wait for beside their stage
    std::vector<laws::TaskId> made_;     ///< lists of tasks, each with no task at its end
    std::vector<bool> done_forward_, done_back_;
    std::vector<std::size_t> last_gradient_, first_forward_; ///< by place: index of a pass
    std::vector<std::vector<Ticks>> visits_;                 ///< of ZeRO 3: by stage and visit, what it gathers
    std::vector<laws::TaskId> beside_;
    struct Neighbours {
        std::optional<ChunkPlace> before, after; ///< in the forward direction
    };
    std::vector<Neighbours> neighbours_; ///< by place
    std::vector<PassPrice> plain_;       ///< by place and kind of pass
    TaskPlace at_;                       ///< what is being written
    std::uint32_t send_name_ = 0, back_name_ = 0, receive_name_ = 0, launch_name_ = 0, beside_name_ = 0;
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
    wait(task, state.compute);
    for (laws::TaskId const one : state.pending) { wait(task, one); }
}

inline Ticks Unroller::scaled(Ticks cost) const {
    return share_ == 1.0 ? cost : static_cast<Ticks>(static_cast<double>(cost) * share_);
}

inline laws::TaskId Unroller::kernel(int stage, StageState& state, WorkKind kind, Ticks cost, std::uint32_t name) {
    laws::TaskId const task = add(stage, Role::compute, kind, cost, name);
    for (laws::TaskId const one : state.pending) { wait(task, one); }
    state.pending.clear();
    state.compute = task;
    if (kind != WorkKind::launch) { state.made = task; }
    return task;
}

inline UnitTraffic const& Unroller::unit_traffic(int stage, Pass const& pass, std::size_t unit) const {
    return traffic_[static_cast<std::size_t>(stage)].units[pass.chunk][unit];
}

} // namespace headroom::training::simulation
