#pragma once

#include "stage_time.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace headroom::training::simulation {

/// Price of one pass of a stage that overlaps with no traffic: it is the same whenever the pass begins.
struct PassPrice {
    StageTime time;
    Ticks kernels = 0;                    ///< from its begin to the end of its last kernel
    Ticks after = 0;                      ///< to the end of the last task that the next pass waits for
    WorkKind after_kind = WorkKind::gemm; ///< of that
    bool known = false;
};

/// Price of a step: begin and end of each task by the recurrence over its streams, as the tasks are written.
///
///     begin = max(end of the task before on its stream, ends of the tasks waited for)
///     end   = begin + cost                                   and for kernels that overlap with traffic of their chip
///     cost  = integral from begin to end of (1 - slowdown [traffic]) dt
///
/// Network traffic of gradients and weights is a queue of each chip. Another transfer by the same NIC and the queue have
/// half of its rate each.
///
/// Tasks are added in an order in which each follows the tasks it waits for, and traffic of a chip before the kernels it
/// overlaps with. Waits follow the task that has them.
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
    /// The tasks from here on are of one pass of a chip.
    void begin_pass(std::size_t chip);
    /// Price of the tasks since then; the next pass waits for `pending`.
    PassPrice end_pass(std::size_t chip, std::vector<laws::TaskId> const& pending);
    /// A pass of known price as one task of the compute stream, and the task that the next pass waits for after it, if
    /// any.
    struct PricedPass {
        laws::TaskId kernels, after;
    };
    PricedPass add(StreamId on, PassPrice const& pass, std::vector<laws::TaskId> const& waits);

    /// Remembers the times of a chip up to its last kernel: where a steady part of a long run begins and ends.
    /// `held_back`: traffic that is written later.
    void mark(std::size_t chip, Ticks held_back = 0);

    /// Runs queued traffic to its end; no task is added after it.
    void finish();
    /// Times of a chip from the begin of the run to the end of the last task of all.
    [[nodiscard]] StageTime of_run(std::size_t chip) const;
    /// From its first kernel on, with the weights and copies that this one waits for in every step.
    [[nodiscard]] StageTime of_span(std::size_t chip) const;
    /// Between a mark and the next one.
    [[nodiscard]] StageTime of_marks(std::size_t chip, std::size_t first = 0) const;
    /// Traffic and copies of a chip that were not through at a mark.
    [[nodiscard]] Ticks backlog(std::size_t chip, std::size_t mark) const {
        return chips_[chip].marks.at(mark).backlog;
    }
    /// Most that another stream of a chip lost between a mark and the one before of its lead over the compute stream: a host
    /// that got ahead while kernels waited, and is slower than they are.
    [[nodiscard]] Ticks lost_lead(std::size_t chip, std::size_t mark) const;
    [[nodiscard]] std::size_t chips() const { return chips_.size(); }

private:
    struct Interval {
        Ticks begin = 0, end = 0;
    };
    /// Traffic that waits for its turn.
    struct Job {
        laws::TaskId task = 0;
        Ticks ready = 0, left = 0;
    };
    struct Task {
        Ticks begin = 0, end = 0;
        laws::TaskId because = 0; ///< the task whose end is its begin; none: the one before on its stream
        WorkKind kind = WorkKind::gemm;
    };
    /// The pass that is being priced.
    struct Recording {
        bool on = false;
        Ticks begin = -1; ///< none yet
        StageTime before;
    };
    /// Until the first kernel, and what it waits for.
    struct Start {
        bool over = false;
        StageTime waits;
        Ticks weights = 0, copies = 0; ///< ends of traffic and copies
    };
    /// Gradients and weights on the network, one after the other.
    struct Queue {
        bool shares_link = false; ///< it leaves by the NIC
        std::vector<Job> jobs;    ///< all before `job` are through
        std::size_t job = 0;
        Ticks end = 0;              ///< of the last job that is through, or time up to which one was served
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
        Ticks accounted = 0; ///< time up to which `time` has everything
        StageTime time;
        Recording recording;
        Start start;
        std::pair<Ticks, WorkKind> last{0, WorkKind::gemm}; ///< end of the last task that is no transfer, and its kind
        Queue queue;
        std::vector<Mark> marks;
    };

    void close();
    void close_kernel(Chip& chip);
    void kernel_ended(Chip& chip, Ticks end);
    void close_transfer(Chip& chip, Stream const& stream);
    void ended(Chip& chip, WorkKind kind, Ticks end);
    /// Accounts for a chip's time up to the begin of a task, by the kind of the task that it waited for.
    void account(Chip& chip, laws::TaskId task);

    /// End of work that overlaps with the queue of a chip: it advances at `rate`, the queue at `shared`. The work is of
    /// `cost` that begins at `begin`.
    Ticks serve_overlapped(Chip& chip, Ticks begin, Ticks cost, double rate, double shared);
    /// Serves the queue alone until a task is through.
    void serve_until_through(Chip& chip, laws::TaskId task);
    /// Does so much of the first job of the queue meanwhile.
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
