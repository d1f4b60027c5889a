#include "step_recurrence.hpp"
#include "stream_order.hpp"

#include <algorithm>

// Visits that repeat: blocks of one kind follow each other in a pass, and after a few of them each takes as long as the one
// before. Ticks are whole numbers, so states that are equal lead to equal times.

namespace headroom::training::simulation {

using namespace headroom::laws;

namespace {

constexpr Ticks none = -1, queued = -2; ///< in a state: no task, and the first of those that have not ended

} // namespace

void StepRecurrence::append_queue(Chip const& chip, Ticks made, std::vector<Ticks>& waits) const {
    Queue const& queue = chip.queue;
    waits.push_back(std::max(queue.end, made) - chip.compute);
    for (std::size_t i = queue.job; i < queue.jobs.size(); ++i) {
        waits.push_back(std::max(queue.jobs[i].ready, queue.end) - chip.compute);
        waits.push_back(queue.jobs[i].left);
    }
    for (std::size_t i = queue.first_busy; i < queue.busy.size(); ++i) {
        auto const [begin, end] = queue.busy[i];
        if (end <= made) { continue; }
        waits.push_back(std::max(begin, made) - chip.compute);
        waits.push_back(end - chip.compute);
    }
}

ChipState StepRecurrence::state(std::size_t index, std::span<TaskId const> tasks, TaskId made) {
    close();
    Chip& chip = chips_[index];
    Queue const& queue = chip.queue;
    ChipState now{.waits = {},
                  .free = {},
                  .time = chip.time,
                  .compute = chip.compute,
                  .next = static_cast<TaskId>(tasks_.size()),
                  .slack = std::exchange(chip.slack, never)};
    Ticks const last_made = made == no_task ? chip.compute : tasks_[made].end;
    now.waits = {last_made - chip.compute, chip.last.first - chip.compute, static_cast<Ticks>(chip.last.second)};
    for (TaskId const task : tasks) {
        Ticks after = none;
        if (task != no_task && tasks_[task].end != never) {
            after = std::max<Ticks>(0, tasks_[task].end - chip.compute);
        } else if (task != no_task) {
            auto const first = queue.jobs.begin() + static_cast<std::ptrdiff_t>(queue.job);
            after = queued - (std::ranges::find(first, queue.jobs.end(), task, &Job::task) - first);
        }
        now.waits.push_back(after);
    }
    append_queue(chip, last_made, now.waits);
    for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
        if (streams_[stream].chip == index) { now.free.push_back(free_[stream]); }
    }
    return now;
}

std::int64_t StepRecurrence::repeats(std::size_t chip, std::span<ChipState const, 3> last, StreamId host, bool waits,
                                     std::int64_t most) const {
    auto const &first = last[0], &before = last[1], &now = last[2];
    Ticks const visit = now.compute - before.compute;
    bool const alike = before.compute - first.compute == visit && now.waits == before.waits &&
                       now.time - before.time == before.time - first.time;
    if (!alike) { return 0; }
    std::size_t at = 0;
    for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
        if (streams_[stream].chip != chip) { continue; }
        Ticks const moved = now.free[at] - before.free[at];
        if (moved != before.free[at] - first.free[at]) { return 0; }
        ++at;
        if (moved == visit || (stream != host && moved == 0)) { continue; }
        if (stream != host || waits || now.slack < 0) { return 0; }
        if (moved > visit) { most = std::min(most, now.slack / (moved - visit)); } // until kernels wait for launches
    }
    return most;
}

void StepRecurrence::repeat(std::size_t index, std::span<ChipState const, 3> last, std::span<TaskId const> tasks,
                            std::int64_t times) {
    auto const &first = last[0], &before = last[1], &now = last[2];
    Chip& chip = chips_[index];
    Ticks const later = times * (now.compute - before.compute);
    Ticks const passed = now.compute + now.waits.front(); // nothing later depends on what ended before
    Ticks const since =
        before.compute + before.waits.front(); // traffic that was served after it belongs to the last visit
    auto const move = [&](TaskId id) {
        Task& task = tasks_[id];
        task.begin += later;
        if (task.end != never) {
            task.end += later;
            makespan_ = std::max(makespan_, task.end);
        }
    };
    std::vector<TaskId> older;
    for (TaskId const task : tasks) {
        bool const is_older = task != no_task && task < before.next;
        if (is_older && (task >= first.next || tasks_[task].end > passed)) { older.push_back(task); }
    }
    for (Job& job : std::span{chip.queue.jobs}.subspan(chip.queue.job)) {
        job.ready += later;
        if (job.task < before.next) { older.push_back(job.task); }
    }
    std::ranges::sort(older);
    older.erase(std::unique(older.begin(), older.end()), older.end());
    for (TaskId const task : older) { move(task); }
    for (TaskId task = before.next; task < now.next; ++task) { move(task); }
    if (chip.queue.end > since) { chip.queue.end += later; }
    for (std::size_t i = chip.queue.first_busy; i < chip.queue.busy.size(); ++i) {
        auto& [begin, end] = chip.queue.busy[i];
        if (end <= since) { continue; }
        if (begin > since) { begin += later; }
        end += later;
    }
    std::size_t at = 0;
    for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
        if (streams_[stream].chip != index) { continue; }
        free_[stream] += times * (now.free[at] - before.free[at]);
        ++at;
    }
    StageTime visit = now.time - before.time;
    chip.time += visit *= static_cast<double>(times);
    chip.compute += later, chip.accounted += later, chip.last.first += later;
    makespan_ = std::max(makespan_, chip.last.first);
}

} // namespace headroom::training::simulation
