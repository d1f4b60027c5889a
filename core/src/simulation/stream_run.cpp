#include "simulation/chip_use.hpp"
#include "simulation/stream_checks.hpp"
#include "simulation/stream_clocks.hpp"
#include "simulation/stream_order.hpp"

#include "headroom/stream_simulation.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace headroom {
namespace {

using namespace simulation;

/// What a task still waits for.
struct Waiting {
    Ticks begin = 0;         ///< the last end so far among what it waits for
    std::uint32_t tasks = 0; ///< that have not ended
    TaskId last = no_task;   ///< of those that ended at `begin` the smallest number
};

/// Time goes from one end of a task to the next. At each tick all tasks that end are taken off, then what waited only for
/// them begins; tasks that cost nothing end at once. Then rates are settled.
class Simulation {
public:
    Simulation(StreamProgram const& program, StreamRun& run)
        : program_{program}, run_{run}, order_{order_of(program)}, clocks_{program} {
        waiting_ = std::make_unique<Waiting[]>(program.size());
        for (std::size_t v = 0; v < program.size(); ++v) { waiting_[v].tasks = order_.waits_for[v]; }
        run_.begin.resize(program.size());
        run_.end.resize(program.size());
    }

    void go(std::stop_token const& stop) {
        for (TaskId const task : order_.head) {
            if (task != no_task && waiting_[task].tasks == 0) { ready_.push_back(task); }
        }
        begin_ready();
        for (std::size_t ticks = 0; clocks_.next() != never; ++ticks) {
            if (ticks % 1024 == 0 && stop.stop_requested()) {
                run_.complete = false;
                return;
            }
            now_ = clocks_.next();
            clocks_.take_ended(now_, ended_);
            for (TaskId const task : ended_) { end(task); }
            ended_.clear();
            begin_ready();
        }
        if (begun_ != program_.size()) { throw_circle(program_); }
        run_.makespan = now_;
    }

    [[nodiscard]] StreamOrder const& order() const { return order_; }
    /// The task for which `task` waited longest.
    [[nodiscard]] TaskId before(TaskId task) const { return waiting_[task].last; }

private:
    void end(TaskId task) {
        run_.end[task] = now_;
        for (std::uint32_t e = order_.first[task]; e < order_.first[task + std::size_t{1}]; ++e) {
            release(order_.waiting[e], task);
        }
        if (order_.next[task] != no_task) { release(order_.next[task], task); }
    }

    void release(TaskId task, TaskId ended) {
        Waiting& waiting = waiting_[task];
        if (waiting.begin < now_) {
            waiting.begin = now_;
            waiting.last = ended;
        }
        waiting.last = std::min(waiting.last, ended);
        if (--waiting.tasks == 0) { ready_.push_back(task); }
    }

    void begin_ready() {
        while (!ready_.empty()) {
            TaskId const task = ready_.back();
            ready_.pop_back();
            ++begun_;
            run_.begin[task] = now_;
            if (program_.cost[task] == 0) {
                end(task);
            } else {
                clocks_.begin(task, program_.stream[task], program_.cost[task], now_);
            }
        }
        clocks_.settle(now_);
    }

    StreamProgram const& program_;
    StreamRun& run_;
    StreamOrder order_;
    StreamClocks clocks_;
    std::unique_ptr<Waiting[]> waiting_;
    std::vector<TaskId> ready_, ended_;
    std::size_t begun_ = 0;
    Ticks now_ = 0;
};

void trace_critical_path(StreamProgram const& program, Simulation const& simulation, StreamRun& run) {
    if (run.end.empty()) { return; }
    auto const last = std::ranges::find(run.end, run.makespan);
    auto task = static_cast<TaskId>(last - run.end.begin());
    for (; task != no_task; task = simulation.before(task)) {
        Ticks const took = run.end[task] - run.begin[task];
        run.critical_path.push_back(task);
        run.critical[static_cast<std::size_t>(program.kind[task])] += took;
        run.critical_stretch += took - program.cost[task];
    }
    std::ranges::reverse(run.critical_path);
}

} // namespace

StreamRun run_streams(StreamProgram const& program, std::stop_token const& stop) {
    check_program(program);
    StreamRun run;
    Simulation simulation{program, run};
    simulation.go(stop);
    if (!run.complete) { return run; }
    trace_critical_path(program, simulation, run);
    run.chips = use_of_chips(program, simulation.order(), run);
    return run;
}

} // namespace headroom
