#pragma once

// Workers that take tasks from their own queue and, when it is empty, from each other's.

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace headroom::probe {

class Executor;

/// Tells the core that this thread is only looking around.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Something to run once. `depth` counts the spawns above it.
class QueuedTask {
public:
    explicit QueuedTask(int depth) : depth_{depth} {}
    QueuedTask(QueuedTask const&) = delete;
    QueuedTask& operator=(QueuedTask const&) = delete;
    virtual ~QueuedTask() = default;
    virtual void run() noexcept = 0;
    [[nodiscard]] int depth() const { return depth_; }

private:
    int depth_;
};

/// One thread of an executor and its queue.
///
/// The owner works at the back of the queue, thieves at the front, where the largest pieces are. A worker that waits
/// at depth d only runs what is deeper than d, which bounds its call stack by the nesting of the program; depths never
/// fall from front to back, so a look at both ends finds such a task where there is one. Among the workers that wait,
/// the one that waits deepest can therefore run what it waits for, or somebody is running it: no wait is forever.
class alignas(64) Worker {
public:
    explicit Worker(Executor& executor, std::size_t number) : executor_{executor}, number_{number} {}

    /// The worker that this thread is; null for a thread of nobody's.
    static Worker* current() { return current_; }

    [[nodiscard]] Executor& executor() const { return executor_; }
    [[nodiscard]] int depth() const { return depth_; }

    /// Whether there is anybody to share tasks with.
    [[nodiscard]] bool shares() const;
    /// Takes the task over, unless the queue is full or the task would break the order of depths.
    bool offer(std::unique_ptr<QueuedTask>& task);
    /// Runs a task here and now.
    void run(QueuedTask& task) {
        int const before = std::exchange(depth_, task.depth());
        task.run();
        depth_ = before;
    }
    /// Runs tasks until `done()`.
    template <class Done> void help_until(Done const& done);

private:
    friend class Executor;

    static constexpr std::size_t capacity = 1024; // more are run at once by who spawns them: memory stays bounded
    static constexpr int patience = 512;          // looks around, some 20 us, before a worker goes to sleep
    static inline constinit thread_local Worker* current_ = nullptr;

    std::unique_ptr<QueuedTask> pop(int above);
    std::unique_ptr<QueuedTask> steal(int above);
    std::unique_ptr<QueuedTask> find(int above);
    bool has_task(int above);
    [[nodiscard]] std::size_t slot(std::size_t index) const { return (first_ + index) % capacity; }

    Executor& executor_;
    std::size_t number_;
    int depth_ = 0;
    std::mutex mutex_;
    std::size_t first_ = 0;
    std::atomic<std::size_t> count_{0}; // written under the mutex; read without it only to pass an empty queue by
    std::array<std::unique_ptr<QueuedTask>, capacity> tasks_;
};

/// K workers: the thread that calls `run`, and K - 1 of its own. With one worker children run where they are
/// spawned, in the order of the serial program.
class Executor {
public:
    explicit Executor(int workers);
    Executor(Executor const&) = delete;
    Executor& operator=(Executor const&) = delete;
    ~Executor() { stop(); }

    [[nodiscard]] int workers() const { return static_cast<int>(workers_.size()); }

    /// Runs `body()` here, with the other workers ready to take what it spawns. One run at a time.
    template <class Body> void run(Body&& body);

    /// Has sleeping workers look around: something is ready that was not.
    void wake();

private:
    friend class Worker;

    void work(Worker& self);
    void stop();
    template <class Ready> void sleep_unless(Ready const& ready);

    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<std::thread> threads_;
    std::atomic<bool> running_{false};
    std::atomic<bool> stopping_{false};
    std::mutex sleep_;
    std::condition_variable woken_;
    std::uint64_t wakes_ = 0;
    std::atomic<int> sleepers_{0}; // written under sleep_
};

// ---- worker -------------------------------------------------------------------------------------------------------

inline bool Worker::shares() const { return executor_.workers() > 1; }

inline bool Worker::offer(std::unique_ptr<QueuedTask>& task) {
    {
        std::lock_guard const lock{mutex_};
        if (count_ == capacity) { return false; }
        if (count_ != 0 && tasks_[slot(count_ - 1)]->depth() > task->depth()) { return false; }
        tasks_[slot(count_)] = std::move(task);
        ++count_;
    }
    executor_.wake();
    return true;
}

inline std::unique_ptr<QueuedTask> Worker::pop(int above) {
    std::lock_guard const lock{mutex_};
    if (count_ == 0) { return nullptr; }
    std::unique_ptr<QueuedTask>& last = tasks_[slot(count_ - 1)];
    if (last->depth() <= above) { return nullptr; }
    --count_;
    return std::move(last);
}

inline std::unique_ptr<QueuedTask> Worker::steal(int above) {
    if (count_.load(std::memory_order_relaxed) == 0) { return nullptr; }
    {
        std::lock_guard const lock{mutex_};
        if (count_ == 0) { return nullptr; }
        if (tasks_[first_]->depth() > above) {
            std::unique_ptr<QueuedTask> task = std::move(tasks_[first_]);
            first_ = slot(1);
            --count_;
            return task;
        }
    }
    return pop(above); // the front is too shallow for a worker that waits; the back is deepest
}

inline std::unique_ptr<QueuedTask> Worker::find(int above) {
    if (auto own = pop(above)) { return own; }
    std::size_t const all = executor_.workers_.size();
    for (std::size_t step = 1; step < all; ++step) {
        if (auto stolen = executor_.workers_[(number_ + step) % all]->steal(above)) { return stolen; }
    }
    return nullptr;
}

inline bool Worker::has_task(int above) {
    std::lock_guard const lock{mutex_};
    return count_ != 0 && tasks_[slot(count_ - 1)]->depth() > above;
}

template <class Done> void Worker::help_until(Done const& done) {
    auto const ready = [&] {
        if (done()) { return true; }
        for (auto const& worker : executor_.workers_) {
            if (worker->has_task(depth_)) { return true; }
        }
        return false;
    };
    for (int looks = 0; !done();) {
        if (auto const task = find(depth_)) {
            run(*task);
            looks = 0;
        } else if (++looks < patience) {
            relax();
        } else {
            executor_.sleep_unless(ready);
            looks = 0;
        }
    }
}

// ---- executor -----------------------------------------------------------------------------------------------------

inline Executor::Executor(int workers) {
    constexpr int most = 1024;
    if (workers < 1 || workers > most) {
        throw std::invalid_argument("workers: '" + std::to_string(workers) + "' is not between 1 and " +
                                    std::to_string(most));
    }
    for (int number = 0; number < workers; ++number) {
        workers_.push_back(std::make_unique<Worker>(*this, static_cast<std::size_t>(number)));
    }
    try {
        for (int number = 1; number < workers; ++number) {
            threads_.emplace_back([this, number] { work(*workers_[static_cast<std::size_t>(number)]); });
        }
    } catch (...) {
        stop(); // the system has no more threads: those that were started must end before they are forgotten
        throw;
    }
}

inline void Executor::work(Worker& self) {
    Worker::current_ = &self;
    self.help_until([this] { return stopping_.load(); });
}

inline void Executor::stop() {
    stopping_ = true;
    wake();
    for (std::thread& thread : threads_) { thread.join(); }
    threads_.clear();
}

template <class Body> void Executor::run(Body&& body) {
    if (running_.exchange(true)) { throw std::logic_error("an executor runs one thing at a time"); }
    struct Guard {
        Executor& executor;
        Worker* before;
        ~Guard() {
            Worker::current_ = before;
            executor.running_ = false;
        }
    } const guard{*this, std::exchange(Worker::current_, workers_.front().get())};
    std::forward<Body>(body)();
}

/// Sleepers are counted before they look for the last time; a thread that has made something ready reads the count
/// after. So one of the two sees the other.
inline void Executor::wake() {
    if (sleepers_.load() == 0) { return; }
    {
        std::lock_guard const lock{sleep_};
        sleepers_ = 0; // they are as good as awake: whoever comes next need not wake them again
        ++wakes_;
    }
    woken_.notify_all();
}

template <class Ready> void Executor::sleep_unless(Ready const& ready) {
    std::unique_lock lock{sleep_};
    std::uint64_t const seen = wakes_;
    ++sleepers_;
    if (ready()) {
        --sleepers_; // nobody else wrote it: the lock was held
        return;
    }
    woken_.wait(lock, [&] { return wakes_ != seen; });
}

} // namespace headroom::probe
