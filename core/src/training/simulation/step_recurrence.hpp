#pragma once

#include "stage_time.hpp"
#include "stream_order.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace headroom::training::simulation {

/// Price of one pass of a stage that overlaps with no gradients, weights or copies: the same each time.
struct PassPrice {
    StageTime time;
    Ticks kernels = 0;                    ///< from its begin to the end of its last kernel
    Ticks after = 0;                      ///< from its begin to the end of the last task that the next pass waits for
    WorkKind after_kind = WorkKind::gemm; ///< kind of that task
    bool known = false;
};

/// State of a chip between two visits, as far as later tasks depend on it. Times are ticks after the end of its last kernel,
/// unless they are absolute.
struct ChipState {
    std::vector<Ticks> waits; ///< ends of the tasks that later ones depend on, and traffic that is queued
    std::vector<Ticks> free;  ///< by stream of the chip: absolute end of its last task
    StageTime time;           ///< up to the last kernel
    Ticks compute = 0;        ///< absolute end of the last kernel
    laws::TaskId next = 0;    ///< number of tasks so far
    Ticks slack = 0; ///< least lead of a launch over its kernel since the state before; below 0: kernels waited
};

/// Price of a step: begin and end of each task by the recurrence over its streams, as the tasks are written.
///
///     begin = max(end of the previous task on its stream, ends of the tasks that it depends on)
///     end   = begin + cost                                        kernels, while gradients or weights are on the network:
///     cost  = integral from begin to end of (1 - slowdown b) dt   b(t) = 1 while the queue of the chip is busy, else 0
///
/// Gradients and weights are a queue of each chip. It and another transfer by the same NIC get half of the rate each.
///
/// Each task is added after the tasks that it depends on; gradients and weights before the kernels that they overlap with.
/// Dependencies are added after the task that has them.
/// Holds for:  equal to `run_streams` up to rounding where at most two transfers share a NIC at a time, one of them of the
///             queue.
/// Neglects:   a third transfer by the same NIC.
/// Source:     [Narayanan2021], [Li2020]
class StepRecurrence {
public:
    explicit StepRecurrence(double slowdown) : slowdown_{slowdown} {}

    void add_stream(Stream const& stream);
    void reserve(std::size_t tasks);
    laws::TaskId add(StreamId on, WorkKind kind, Ticks cost);
    /// Adds a dependency of the task that was added last.
    void wait_for(laws::TaskId task);

    /// Whether the queue of a chip is empty when its last kernel ends.
    [[nodiscard]] bool queue_is_empty(std::size_t chip);
    /// Begins to record the tasks of one pass of a chip.
    void begin_pass(std::size_t chip);
    /// Price of the tasks recorded since `begin_pass`; the next pass depends on `pending`.
    PassPrice end_pass(std::size_t chip, std::vector<laws::TaskId> const& pending);
    /// Adds a pass of known price as one task of the compute stream, and `after`, a task that the next pass depends on in
    /// addition; `no_task`: none.
    struct PricedPass {
        laws::TaskId kernels, after;
    };
    PricedPass add(StreamId on, PassPrice const& pass, std::vector<laws::TaskId> const& waits);

    /// State of a chip; `tasks` are those that later ones depend on, `made` the last kernel after which traffic is sent.
    ChipState state(std::size_t chip, std::span<laws::TaskId const> tasks, laws::TaskId made);
    /// Number of visits, at most `most`, that would each do as the last two did, between the three states; `host` is the stream
    /// of launches, and `waits` whether launches wait for kernels.
    [[nodiscard]] std::int64_t repeats(std::size_t chip, std::span<ChipState const, 3> last, StreamId host, bool waits,
                                       std::int64_t most) const;
    /// Adds so many visits like the last one: its tasks are moved to where those of the last of them would be, and so are the
    /// older ones of `tasks` that later ones depend on.
    void repeat(std::size_t chip, std::span<ChipState const, 3> last, std::span<laws::TaskId const> tasks,
                std::int64_t times);

    /// Records the times of a chip up to its last kernel: begin or end of a round, or of the measured part of a long run.
    /// `held_back`: gradients that are made but not yet sent.
    void mark(std::size_t chip, Ticks held_back = 0);

    /// Runs queued traffic to its end; no task is added after it.
    void finish();
    /// Times of a chip from the begin of the run to the end of the last task of all.
    [[nodiscard]] StageTime of_run(std::size_t chip) const;
    /// Times of a chip from its first kernel to its last task, and of the gathers and copies before that kernel, which every
    /// step needs.
    [[nodiscard]] StageTime of_span(std::size_t chip) const;
    /// Times of a chip between the marks `first` and `first` + 1.
    [[nodiscard]] StageTime of_marks(std::size_t chip, std::size_t first = 0) const;
    /// Traffic and copies of a chip that had not ended at a mark.
    [[nodiscard]] Ticks backlog(std::size_t chip, std::size_t mark) const {
        return chips_[chip].marks.at(mark).backlog;
    }
    /// Largest loss of lead over the compute stream, since the previous mark, among the other streams of a chip. It is not
    /// zero if, for instance, the CPU runs ahead of the GPU but launches more slowly than kernels run.
    [[nodiscard]] Ticks lost_lead(std::size_t chip, std::size_t mark) const;
    [[nodiscard]] std::size_t chips() const { return chips_.size(); }

private:
    struct Interval {
        Ticks begin = 0, end = 0;
    };
    /// Gradients or weights in the queue of a chip.
    struct Job {
        laws::TaskId task = 0;
        Ticks ready = 0, left = 0;
    };
    struct Task {
        Ticks begin = 0, end = 0;
        laws::TaskId because = 0; ///< dependency at whose end it begins; `no_task`: the previous task on its stream
        WorkKind kind = WorkKind::gemm;
    };
    /// The pass that is being priced.
    struct Recording {
        bool on = false;
        Ticks begin = -1; ///< none yet
        StageTime before;
    };
    /// Time before the first kernel of a chip.
    struct Start {
        bool over = false;
        StageTime waits;
        Ticks weights = 0, copies = 0; ///< latest ends of weights and copies that the kernel depends on
    };
    /// Gradients and weights on the network, one after the other.
    struct Queue {
        bool shares_link = false; ///< whether it uses the NIC
        std::vector<Job> jobs;    ///< all before `job` have ended
        std::size_t job = 0;
        Ticks end = 0;              ///< time up to which jobs were served
        std::vector<Interval> busy; ///< in order of time, from `first_busy` on
        std::size_t first_busy = 0;
    };
    struct Mark {
        StageTime time;
        Ticks backlog = 0;
        std::vector<Ticks> leads; ///< by stream: end of the last kernel less that of its last task
    };
    struct Chip {
        Ticks compute = 0;   ///< end of the last kernel
        Ticks accounted = 0; ///< time up to which `time` is complete
        StageTime time;
        Recording recording;
        Start start;
        std::pair<Ticks, WorkKind> last{0, WorkKind::gemm}; ///< end of the last task that is no transfer, and its kind
        Ticks slack = never; ///< least lead of a launch over its kernel since the last state
        Queue queue;
        std::vector<Mark> marks;
    };

    void close();
    void close_kernel(Chip& chip);
    void kernel_ended(Chip& chip, Ticks end);
    void close_transfer(Chip& chip, Stream const& stream);
    void ended(Chip& chip, WorkKind kind, Ticks end);
    /// Adds a chip's time up to the begin of a task to the kind of task that it waited for.
    void account(Chip& chip, laws::TaskId task);

    /// Appends the unserved jobs of a chip's queue to a state; `made`: end of the last kernel after which traffic is sent.
    void append_queue(Chip const& chip, Ticks made, std::vector<Ticks>& waits) const;
    /// End of work of `cost` that begins at `begin`. While the queue of the chip is busy, the work advances at `rate` and
    /// the queue at `shared`.
    Ticks serve_overlapped(Chip& chip, Ticks begin, Ticks cost, double rate, double shared);
    /// Serves the queue, with no other work, until a task has ended.
    void serve_until_through(Chip& chip, laws::TaskId task);
    /// Does `work` of the first job of the queue between two times.
    void serve(Chip& chip, Ticks work, Ticks from, Ticks until);

    double slowdown_;
    std::vector<Stream> streams_;
    std::vector<Ticks> free_; ///< by stream: end of its last task
    std::vector<Chip> chips_;
    std::vector<Task> tasks_;
    bool open_ = false;   ///< whether the last task still collects waits
    StreamId stream_ = 0; ///< of the open task
    Ticks cost_ = 0;      ///< of the open task
    Ticks makespan_ = 0;
};

} // namespace headroom::training::simulation
