#pragma once

// Recording of programs that use oneTBB's task_group: put `RecordedTaskGroup` where `tbb::task_group` was. Needs oneTBB
// (Debian: libtbb-dev); nothing else of these headers does.

#include "headroom/probe/fork_join.hpp"

#include <atomic>
#include <cstdint>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <utility>

namespace headroom::probe {

/// A `tbb::task_group` whose tasks are measured inside of `record`. As there, functions are called as constants, and
/// after an exception tasks that have not begun are dropped: what they would have taken is then not in the record.
/// Other forms of parallelism of the library are not seen: a `parallel_for` counts as one strand.
template <class Recording> class BasicTaskGroup {
public:
    template <class Function> void run(Function&& function) {
        auto const fork = Recording::fork();
        struct Resume {
            ~Resume() { Recording::resume(); }
        } const resume;
        ++spawned_;
        group_.run([this, fork, kept = std::forward<Function>(function)] {
            typename Recording::Task meter{fork};
            struct End {
                typename Recording::Task& meter;
                typename Recording::Join& join;
                ~End() { meter.end(join); }
            } const end{meter, join_};
            kept();
        });
    }

    tbb::task_group_status wait() {
        if (spawned_ == 0) { return group_.wait(); }
        struct Waiting {
            typename Recording::Task* task;
            typename Recording::Join& join;
            ~Waiting() { Recording::end_wait(task, join); }
        } const waiting{Recording::begin_wait(), join_};
        spawned_ = 0;
        return group_.wait();
    }

    void cancel() { group_.cancel(); }

private:
    [[no_unique_address]] typename Recording::Join join_;
    std::atomic<std::uint64_t> spawned_{0}; // since the last wait
    tbb::task_group group_;                 // goes first: it waits
};

using RecordedTaskGroup = BasicTaskGroup<Recording<SteadyClock>>;
using PlainTaskGroup = BasicTaskGroup<NoRecording>;

/// K threads of oneTBB, in the place of an `Executor`: `record<SteadyClock, TaskArena>(body, {.workers = 2})`.
class TaskArena {
public:
    explicit TaskArena(int workers) : arena_{workers} {}
    template <class Body> void run(Body&& body) { arena_.execute(std::forward<Body>(body)); }

private:
    tbb::task_arena arena_;
};

} // namespace headroom::probe
