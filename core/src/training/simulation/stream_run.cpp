#include "base/events/moments.hpp"
#include "stream_checks.hpp"
#include "stream_clocks.hpp"
#include "stream_order.hpp"

#include "headroom/error.hpp"
#include "headroom/training/stream_simulation.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace headroom::training {

using namespace headroom::laws;
using namespace simulation;

namespace {

/// A set of kinds.
using Kinds = std::uint32_t;
constexpr Kinds just(WorkKind kind) { return Kinds{1} << static_cast<unsigned>(kind); }
constexpr Kinds communication() {
    Kinds kinds = 0;
    for (std::size_t k = 0; k < work_kind_count; ++k) {
        auto const kind = static_cast<WorkKind>(k);
        kinds |= communicates(kind) ? just(kind) : 0;
    }
    return kinds;
}

/// State of a stream as time passes: busy with one kind of work, or idle.
class Cursor {
public:
    Cursor(StreamProgram const& program, StreamOrder const& order, StreamRun const& run, StreamId stream)
        : program_{program},
          order_{order},
          run_{run},
          computes_{program.streams[stream].computes},
          task_{order.head[stream]} {
        skip_empty();
    }

    /// Next time at which the stream becomes busy or idle.
    [[nodiscard]] Ticks next() const {
        if (task_ == no_task) { return never; }
        return is_busy_ ? run_.end[task_] : run_.begin[task_];
    }
    /// Moves on to the state after that time.
    void pass() {
        Ticks const now = next();
        if (is_busy_) {
            task_ = order_.next[task_];
            skip_empty();
        }
        is_busy_ = task_ != no_task && run_.begin[task_] == now;
    }
    [[nodiscard]] Kinds kinds() const { return is_busy_ ? just(program_.kind[task_]) : 0; }
    [[nodiscard]] bool computes() const { return is_busy_ && computes_ && !communicates(program_.kind[task_]); }

private:
    void skip_empty() {
        while (task_ != no_task && run_.begin[task_] == run_.end[task_]) { task_ = order_.next[task_]; }
    }

    StreamProgram const& program_;
    StreamOrder const& order_;
    StreamRun const& run_;
    bool computes_;
    bool is_busy_ = false;
    TaskId task_;
};

/// Kind of work that a moment without computation is attributed to.
std::size_t first_of(Kinds kinds) {
    Kinds const communicating = kinds & communication();
    return static_cast<std::size_t>(std::countr_zero(communicating != 0 ? communicating : kinds));
}

ChipUse use_of(std::vector<Cursor>& streams, Ticks makespan) {
    ChipUse use;
    for (Ticks now = 0; now < makespan;) {
        Ticks next = makespan;
        Kinds kinds = 0;
        bool computes = false;
        for (Cursor& stream : streams) {
            if (stream.next() == now) { stream.pass(); }
            kinds |= stream.kinds();
            computes |= stream.computes();
            next = std::min(next, stream.next());
        }
        Ticks const span = next - now;
        for (Kinds left = kinds; left != 0; left &= left - 1) {
            use.busy[static_cast<std::size_t>(std::countr_zero(left))] += span;
        }
        (computes ? use.computing : kinds != 0 ? use.exposed[first_of(kinds)] : use.idle) += span;
        now = next;
    }
    return use;
}

/// Time budget of every chip over a run; O(tasks x streams of a chip).
std::vector<ChipUse> use_of_chips(StreamProgram const& program, StreamOrder const& order, StreamRun const& run) {
    std::vector<std::vector<Cursor>> chips;
    for (std::size_t s = 0; s < program.streams.size(); ++s) {
        std::size_t const chip = program.streams[s].chip;
        if (chip >= chips.size()) { chips.resize(chip + 1); }
        chips[chip].emplace_back(program, order, run, static_cast<StreamId>(s));
    }
    std::vector<ChipUse> uses;
    uses.reserve(chips.size());
    for (auto& streams : chips) { uses.push_back(use_of(streams, run.makespan)); }
    return uses;
}

/// Asks for a stop request every 1024 tasks.
class Patience {
public:
    explicit Patience(std::stop_token const& stop) : stop_{stop} {}
    bool is_over() { return ++looked_ % 1024 == 0 && stop_.stop_requested(); }

private:
    std::stop_token const& stop_;
    std::uint64_t looked_ = 1023;
};

void require_all(StreamProgram const& program, std::size_t begun) {
    if (begun != program.size()) { throw ContractError{"tasks of a program wait for each other in a circle"}; }
}

/// Runs a program in which no task is ever slowed: a task's end is its begin plus its cost, so tasks are taken in any order
/// in which each comes after its dependencies.
bool run_unslowed(StreamProgram const& program, StreamOrder& order, StreamRun& run, std::stop_token const& stop) {
    Patience patience{stop};
    std::vector<TaskId> ready;
    auto const put = [&ready](TaskId task) { ready.push_back(task); };
    order.begin(put);
    std::size_t ended = 0;
    for (; !ready.empty(); ++ended) {
        if (patience.is_over()) { return false; }
        TaskId const task = ready.back();
        ready.pop_back();
        run.begin[task] = order.waiting[task].begin;
        run.end[task] = run.begin[task] + program.cost[task];
        run.makespan = std::max(run.makespan, run.end[task]);
        order.end(task, run.end[task], put);
    }
    require_all(program, ended);
    return true;
}

/// Runs a program by events. At each tick at which tasks end, all of them are removed, then the tasks that waited only for
/// them begin; tasks of no cost end at once. Then rates are set.
class StreamSimulation {
public:
    StreamSimulation(StreamProgram const& program, StreamOrder& order, StreamRun& run)
        : program_{program}, order_{order}, run_{run}, clocks_{program} {}

    /// Whether it came to the end.
    bool go(std::stop_token const& stop) {
        order_.begin([this](TaskId task) { ready_.push_back(task); });
        begin_ready();
        auto const ends = [this](std::uint32_t clock) { clocks_.take_ended(clock, now_, ended_); };
        if (!events::run_moments(clocks_.ends(), now_, stop, ends, [this] { follow(); })) { return false; }
        require_all(program_, begun_);
        run_.makespan = now_;
        return true;
    }

private:
    void follow() {
        for (TaskId const task : ended_) { end(task); }
        ended_.clear();
        begin_ready();
    }

    void end(TaskId task) {
        run_.end[task] = now_;
        order_.end(task, now_, [this](TaskId ready) { ready_.push_back(ready); });
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
                clocks_.begin(task, program_, now_);
            }
        }
        clocks_.settle(now_);
    }

    StreamProgram const& program_;
    StreamOrder& order_;
    StreamRun& run_;
    StreamClocks clocks_;
    std::vector<TaskId> ready_, ended_;
    std::size_t begun_ = 0;
    Ticks now_ = 0;
};

void trace_critical_path(StreamProgram const& program, StreamOrder const& order, StreamRun& run) {
    if (run.end.empty()) { return; }
    auto const last = std::ranges::find(run.end, run.makespan);
    for (auto task = static_cast<TaskId>(last - run.end.begin()); task != no_task; task = order.waiting[task].last) {
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
    StreamOrder order = order_of(program);
    StreamRun run;
    run.begin.resize(program.size());
    run.end.resize(program.size());
    run.complete = can_be_slowed(program) ? StreamSimulation{program, order, run}.go(stop)
                                          : run_unslowed(program, order, run, stop);
    if (!run.complete) { return run; }
    trace_critical_path(program, order, run);
    run.chips = use_of_chips(program, order, run);
    return run;
}

} // namespace headroom::training
