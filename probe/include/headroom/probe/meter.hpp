#pragma once

// Work and span of fork-join code, measured while it runs.
//
// A strand is code without a spawn or a sync in it. Strands and what waits for what are a graph:
//
//     spawn    strand -> first strand of the child,  strand -> the strand after the spawn
//     sync     last strand of each child -> the strand after the sync,  strand -> the strand after the sync
//
// Every task carries the length of the longest path from the beginning of the run to where it stands, so a child
// that ends anywhere, in any order, only has to leave its length with the scope that waits for it.

#include "headroom/probe/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>

namespace headroom::probe {

/// Time subtracted from each strand, and time added by each edge of the burdened path.
struct MeterSettings {
    Nanoseconds clock_cost = 0;
    Nanoseconds burden = 0;
};

/// The longest path from the beginning of the run, without and with the burden of its edges.
struct PathLength {
    Nanoseconds plain = 0;
    Nanoseconds burdened = 0;

    void at_least(PathLength const& other) {
        plain = std::max(plain, other.plain);
        burdened = std::max(burdened, other.burdened);
    }
};

/// Sums over a task and all that it waited for.
struct Totals {
    Nanoseconds work = 0;
    std::uint64_t spawns = 0;
    std::uint64_t syncs = 0; ///< that had children to wait for

    void add(Totals const& other) {
        work += other.work;
        spawns += other.spawns;
        syncs += other.syncs;
    }
};

/// The policy that measures: what a scope calls around its spawns and syncs.
template <class Clock> class Recording {
public:
    class Task;

    /// Where a child begins. Without settings nobody is recording.
    struct Fork {
        PathLength start;
        MeterSettings const* settings = nullptr;
    };

    /// Results of the children of a scope, for its sync.
    class Join {
    public:
        void merge(PathLength const& end, Totals const& totals) {
            std::lock_guard const lock{mutex_};
            end_.at_least(end);
            totals_.add(totals);
        }
        std::pair<PathLength, Totals> take() {
            std::lock_guard const lock{mutex_};
            return {std::exchange(end_, {}), std::exchange(totals_, {})};
        }

    private:
        std::mutex mutex_;
        PathLength end_;
        Totals totals_;
    };

    /// Ends the strand of the running task at a spawn; `resume` begins the next.
    static Fork fork() {
        Task* const task = current_;
        return task == nullptr ? Fork{} : task->fork();
    }
    static void resume() {
        if (current_ != nullptr) { current_->begin_strand(); }
    }

    /// Ends the strand at a sync. Until `end_wait` the thread may run other tasks.
    static Task* begin_wait() {
        if (current_ != nullptr) { current_->end_strand(); }
        return std::exchange(current_, nullptr);
    }
    static void end_wait(Task* waiting, Join& children) {
        current_ = waiting;
        if (waiting == nullptr) { return; }
        waiting->join(children);
        waiting->begin_strand();
    }

private:
    static inline constinit thread_local Task* current_ = nullptr;
};

/// The meter of one task, for as long as the task runs on this thread.
template <class Clock> class Recording<Clock>::Task {
public:
    /// A run from its beginning.
    explicit Task(MeterSettings const& settings) : Task(Fork{.start = {}, .settings = &settings}) {}
    /// A child. Its first strand begins when this returns.
    explicit Task(Fork const& fork)
        : settings_{fork.settings},
          path_{fork.start},
          before_{std::exchange(current_, fork.settings == nullptr ? nullptr : this)} {
        if (settings_ != nullptr) { begin_strand(); }
    }
    Task(Task const&) = delete;
    Task& operator=(Task const&) = delete;
    ~Task() { current_ = before_; }

    /// Ends the last strand of the run itself.
    std::pair<PathLength, Totals> end() {
        end_strand();
        return {path_, totals_};
    }
    /// Ends the last strand of a child, and leaves what it came to with the scope that waits for it.
    void end(Join& scope) {
        if (settings_ == nullptr) { return; }
        end_strand();
        path_.burdened += settings_->burden;
        scope.merge(path_, totals_);
    }

private:
    friend class Recording;

    void begin_strand() { strand_ = Clock::now(); }
    void end_strand() {
        Nanoseconds const lasted = std::max<Nanoseconds>(0, Clock::now() - strand_ - settings_->clock_cost);
        totals_.work += lasted;
        path_.plain += lasted;
        path_.burdened += lasted;
    }
    Fork fork() {
        end_strand();
        ++totals_.spawns;
        path_.burdened += settings_->burden; // of the edge to the child, and of the one to what follows
        return {.start = path_, .settings = settings_};
    }
    void join(Join& children) {
        auto const [end, totals] = children.take();
        path_.burdened += settings_->burden;
        path_.at_least(end);
        totals_.add(totals);
        ++totals_.syncs;
    }

    MeterSettings const* settings_;
    PathLength path_;
    Totals totals_;
    Nanoseconds strand_ = 0;
    Task* before_;
};

/// The policy that measures nothing and leaves no trace in the program.
struct NoRecording {
    struct Fork {};
    struct Join {};
    class Task {
    public:
        explicit Task(Fork /*fork*/) {}
        void end(Join& /*scope*/) {}
    };
    static Fork fork() { return {}; }
    static void resume() {}
    static Task* begin_wait() { return nullptr; }
    static void end_wait(Task* /*waiting*/, Join& /*children*/) {}
};

} // namespace headroom::probe
