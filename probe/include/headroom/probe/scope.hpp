#pragma once

#include "headroom/probe/executor.hpp"
#include "headroom/probe/meter.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace headroom::probe {

/// Children that run in parallel with the code that spawns them, until a sync.
///
///     Scope scope;
///     scope.spawn([&] { left = count(first, middle); });
///     right = count(middle, last);
///     scope.sync();                       // left is there
///
/// Scopes nest, in one function and through calls. A scope is synced by the task that made it; tasks below it may
/// spawn into it too. Declare it after everything that its children use: its end waits for them.
/// What children throw is thrown by `sync`: of several, what the child spawned first threw. The others run to
/// their end. Outside of `Executor::run` and `record` children run where they are spawned, unmeasured.
template <class Recording> class BasicScope {
public:
    BasicScope() = default;
    BasicScope(BasicScope const&) = delete;
    BasicScope& operator=(BasicScope const&) = delete;

    /// Waits, and throws as `sync` does unless something is being thrown already.
    ~BasicScope() noexcept(false) {
        wait();
        if (thrown_ && std::uncaught_exceptions() == exceptions_) { std::rethrow_exception(thrown_); }
    }

    template <class Function> void spawn(Function&& function) {
        using Kept = Child<std::decay_t<Function>>;
        auto const fork = Recording::fork();
        struct Resume {
            ~Resume() { Recording::resume(); }
        } const resume;
        Worker* const worker = Worker::current();
        int const depth = worker == nullptr ? 0 : worker->depth() + 1;
        if (worker == nullptr || !worker->shares()) {
            Kept child{depth, *this, fork, std::forward<Function>(function)};
            start(worker, child);
            return;
        }
        std::unique_ptr<QueuedTask> child =
            std::make_unique<Kept>(depth, *this, fork, std::forward<Function>(function));
        if (!worker->offer(child)) { start(worker, *child); }
    }

    /// Waits for every child spawned so far.
    void sync() {
        wait();
        if (thrown_) { std::rethrow_exception(std::exchange(thrown_, nullptr)); }
    }

private:
    template <class Function> class Child;

    static void start(Worker* worker, QueuedTask& child) {
        if (worker == nullptr) {
            child.run();
        } else {
            worker->run(child);
        }
    }

    void wait() {
        if (spawned_.load() == 0) { return; } // nothing to wait for: the strand goes on
        auto* const waiting = Recording::begin_wait();
        auto const done = [this] { return running_.load() == 0; };
        if (Worker* const worker = Worker::current()) {
            worker->help_until(done);
        } else {
            while (!done()) { std::this_thread::yield(); }
        }
        spawned_ = 0;
        Recording::end_wait(waiting, join_);
    }

    void keep(std::uint64_t number, std::exception_ptr thrown) {
        std::lock_guard const lock{mutex_};
        if (!thrown_ || number < thrown_by_) {
            thrown_ = std::move(thrown);
            thrown_by_ = number;
        }
    }

    /// The scope may be gone as soon as its last child has been counted out.
    void count_out() {
        if (running_.fetch_sub(1) == 1) {
            if (Worker* const worker = Worker::current()) { worker->executor().wake(); }
        }
    }

    int exceptions_ = std::uncaught_exceptions();
    std::atomic<std::uint64_t> spawned_{0}; // since the last sync
    std::atomic<std::uint64_t> running_{0};
    std::mutex mutex_;
    std::exception_ptr thrown_;
    std::uint64_t thrown_by_ = 0;
    [[no_unique_address]] typename Recording::Join join_;
};

template <class Recording> template <class Function> class BasicScope<Recording>::Child final : public QueuedTask {
public:
    template <class Given>
    Child(int depth, BasicScope& scope, typename Recording::Fork const& fork, Given&& function)
        : QueuedTask{depth}, scope_{scope}, fork_{fork}, function_{std::in_place, std::forward<Given>(function)} {
        number_ = scope_.spawned_++;
        ++scope_.running_;
    }

    void run() noexcept override {
        {
            typename Recording::Task meter{fork_};
            try {
                (*function_)();
            } catch (...) { scope_.keep(number_, std::current_exception()); }
            function_.reset(); // what was captured goes before the scope stops waiting
            meter.end(scope_.join_);
        }
        scope_.count_out();
    }

private:
    BasicScope& scope_;
    std::uint64_t number_ = 0;
    [[no_unique_address]] typename Recording::Fork fork_;
    std::optional<Function> function_;
};

} // namespace headroom::probe
