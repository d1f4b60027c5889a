#include "step_recurrence.hpp"

#include "stream_order.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::training::simulation {

using namespace headroom::laws;

void StepRecurrence::add_stream(Stream const& stream) {
    streams_.push_back(stream);
    free_.push_back(0);
    if (chips_.size() <= stream.chip) { chips_.resize(stream.chip + 1U); }
    if (stream.network) { chips_[stream.chip].queue.shares_link = stream.link != no_link; }
}

void StepRecurrence::reserve(std::size_t tasks) { tasks_.reserve(tasks); }

TaskId StepRecurrence::add(StreamId on, WorkKind kind, Ticks cost) {
    close();
    open_ = true;
    stream_ = on;
    cost_ = cost;
    tasks_.push_back({.begin = free_[on], .end = never, .because = no_task, .kind = kind});
    return static_cast<TaskId>(tasks_.size() - 1);
}

void StepRecurrence::wait_for(TaskId task) {
    Chip& chip = chips_[streams_[stream_].chip];
    if (tasks_[task].end == never) { serve_until_through(chip, task); }
    Ticks const end = tasks_[task].end;
    bool const launches = tasks_[task].kind == WorkKind::launch && streams_[stream_].computes;
    if (launches) { chip.slack = std::min(chip.slack, tasks_.back().begin - end); }
    WorkKind const waits = tasks_.back().kind; // the first kernel may wait by way of an exposed collective
    if (!chip.start.over && waits != WorkKind::data && waits != WorkKind::offload) {
        if (tasks_[task].kind == WorkKind::data) { chip.start.weights = std::max(chip.start.weights, end); }
        if (tasks_[task].kind == WorkKind::offload) { chip.start.copies = std::max(chip.start.copies, end); }
    }
    if (end > tasks_.back().begin) { tasks_.back().begin = end, tasks_.back().because = task; }
}

void StepRecurrence::close() {
    if (!open_) { return; }
    open_ = false;
    Stream const& stream = streams_[stream_];
    Chip& chip = chips_[stream.chip];
    Task const& task = tasks_.back();
    if (chip.recording.on && chip.recording.begin < 0 && task.kind != WorkKind::launch) {
        account(chip, static_cast<TaskId>(tasks_.size() - 1));
        chip.recording.begin = task.begin;
        chip.recording.before = chip.time;
    }
    if (stream.computes) {
        close_kernel(chip);
    } else {
        close_transfer(chip, stream);
    }
}

void StepRecurrence::close_transfer(Chip& chip, Stream const& stream) {
    Task& task = tasks_.back();
    if (stream.network) {
        chip.queue.jobs.push_back({.task = static_cast<TaskId>(tasks_.size() - 1), .ready = task.begin, .left = cost_});
        return;
    }
    bool const shares = stream.link != no_link && chip.queue.shares_link;
    task.end = shares ? serve_overlapped(chip, task.begin, cost_, 0.5, 0.5) : task.begin + cost_;
    free_[stream_] = task.end;
    ended(chip, task.kind, task.end);
}

void StepRecurrence::ended(Chip& chip, WorkKind kind, Ticks end) {
    makespan_ = std::max(makespan_, end);
    if (kind == WorkKind::pipeline || kind == WorkKind::launch || end <= chip.last.first) { return; }
    chip.last = {end, kind};
}

void StepRecurrence::close_kernel(Chip& chip) {
    Task& task = tasks_.back();
    account(chip, static_cast<TaskId>(tasks_.size() - 1));
    if (!chip.start.over) { chip.start.over = true, chip.start.waits = chip.time; }
    bool const slowed = slowdown_ > 0.0 && task.kind != WorkKind::launch;
    task.end = slowed ? serve_overlapped(chip, task.begin, cost_, 1.0 - slowdown_, 1.0) : task.begin + cost_;
    switch (task.kind) {
    case WorkKind::optimizer: chip.time.optimizer += cost_; break;
    case WorkKind::launch: chip.time[WorkKind::launch] += cost_; break;
    default: chip.time.work += cost_; break;
    }
    chip.time.slowed += task.end - task.begin - cost_;
    kernel_ended(chip, task.end);
}

void StepRecurrence::kernel_ended(Chip& chip, Ticks end) {
    free_[stream_] = chip.compute = chip.accounted = end;
    makespan_ = std::max(makespan_, end);
    if (end >= chip.last.first) { chip.last = {end, WorkKind::gemm}; }
}

void StepRecurrence::account(Chip& chip, TaskId task) {
    auto& exposed = chip.time.exposed;
    TaskId at = task;
    for (Ticks until = tasks_[task].begin; until > chip.accounted;) {
        TaskId const because = tasks_[at].because;
        Task const* const cause = because == no_task ? nullptr : &tasks_[because];
        bool const waits_for_work = cause != nullptr && (communicates(cause->kind) || cause->kind == WorkKind::launch ||
                                                         cause->kind == WorkKind::offload);
        if (!waits_for_work || cause->begin >= until) {
            chip.time.idle += until - chip.accounted;
            break;
        }
        Ticks const from = std::max(cause->begin, chip.accounted);
        exposed[static_cast<std::size_t>(cause->kind)] += until - from;
        until = from, at = because;
    }
    chip.accounted = std::max(chip.accounted, tasks_[task].begin);
}

bool StepRecurrence::queue_is_empty(std::size_t index) {
    close();
    Chip& chip = chips_[index];
    while (chip.queue.job < chip.queue.jobs.size()) {
        Job const& job = chip.queue.jobs[chip.queue.job];
        Ticks const start = std::max(job.ready, chip.queue.end);
        if (start + job.left > chip.compute) { return false; }
        serve(chip, job.left, start, start + job.left);
    }
    return chip.queue.end <= chip.compute;
}

void StepRecurrence::begin_pass(std::size_t chip) {
    close();
    chips_[chip].recording = {.on = true, .begin = -1, .before = {}};
}

PassPrice StepRecurrence::end_pass(std::size_t index, std::vector<TaskId> const& pending) {
    close();
    Chip& chip = chips_[index];
    chip.recording.on = false;
    PassPrice price{.time = chip.time - chip.recording.before,
                    .kernels = chip.compute - chip.recording.begin,
                    .known = chip.recording.begin >= 0};
    for (TaskId const task : pending) {
        Ticks const after = tasks_[task].end - chip.recording.begin;
        if (after > price.after) { price.after = after, price.after_kind = tasks_[task].kind; }
    }
    if (price.after <= price.kernels) { price.after = 0; }
    return price;
}

StepRecurrence::PricedPass StepRecurrence::add(StreamId on, PassPrice const& pass, std::vector<TaskId> const& waits) {
    PricedPass result{.kernels = add(on, WorkKind::gemm, pass.kernels), .after = no_task};
    for (TaskId const task : waits) { wait_for(task); }
    open_ = false;
    Chip& chip = chips_[streams_[on].chip];
    Task& task = tasks_.back();
    account(chip, result.kernels);
    if (!chip.start.over) { chip.start.over = true, chip.start.waits = chip.time; }
    chip.time += pass.time;
    task.end = task.begin + pass.kernels;
    kernel_ended(chip, task.end);
    if (pass.after == 0) { return result; }
    Ticks const begin = task.begin;
    result.after = static_cast<TaskId>(tasks_.size());
    tasks_.push_back({.begin = begin, .end = begin + pass.after, .because = no_task, .kind = pass.after_kind});
    ended(chip, pass.after_kind, begin + pass.after);
    return result;
}

Ticks StepRecurrence::serve_overlapped(Chip& chip, Ticks begin, Ticks cost, double rate, double shared) {
    Ticks at = begin, left = cost;
    auto const overlap = [&](Ticks until) { // work that overlaps with the queue, until either ends
        auto const done = static_cast<Ticks>(static_cast<double>(until - at) * rate);
        if (left <= done) { until = at + static_cast<Ticks>(std::ceil(static_cast<double>(left) / rate)); }
        left = std::max<Ticks>(0, left - done);
        at = until;
    };
    // traffic that was already served, together with another transfer
    while (chip.queue.first_busy < chip.queue.busy.size() && chip.queue.busy[chip.queue.first_busy].end <= begin) {
        ++chip.queue.first_busy;
    }
    for (std::size_t i = chip.queue.first_busy; i < chip.queue.busy.size() && left > 0 && rate != shared; ++i) {
        auto const [from, until] = chip.queue.busy[i];
        Ticks const alone = std::clamp<Ticks>(from - at, 0, left);
        at += alone, left -= alone;
        if (left > 0) { overlap(until); }
    }
    for (; left > 0 && chip.queue.job < chip.queue.jobs.size();) {
        Job& job = chip.queue.jobs[chip.queue.job];
        Ticks const start = std::max(job.ready, chip.queue.end);
        if (start < at) { // before this work
            serve(chip, std::min(job.left, at - start), start, std::min(start + job.left, at));
            continue;
        }
        if (start >= at + left) { break; }
        left -= start - at, at = start;
        auto const through = static_cast<Ticks>(std::ceil(static_cast<double>(job.left) / shared));
        overlap(start + through);
        Ticks const spent = at - start;
        serve(chip, spent >= through ? job.left : static_cast<Ticks>(static_cast<double>(spent) * shared), start, at);
    }
    return at + left;
}

void StepRecurrence::serve(Chip& chip, Ticks work, Ticks from, Ticks until) {
    Job& job = chip.queue.jobs[chip.queue.job];
    if (until > from) {
        if (!chip.queue.busy.empty() && chip.queue.busy.back().end == from) {
            chip.queue.busy.back().end = until;
            chip.queue.first_busy = std::min(chip.queue.first_busy, chip.queue.busy.size() - 1);
        } else {
            chip.queue.busy.push_back({from, until});
        }
    }
    job.left -= work;
    chip.queue.end = until;
    if (job.left > 0) { return; }
    tasks_[job.task].end = until;
    ended(chip, WorkKind::data, until);
    ++chip.queue.job;
}

void StepRecurrence::serve_until_through(Chip& chip, TaskId task) {
    while (tasks_[task].end == never) {
        Job const& job = chip.queue.jobs[chip.queue.job];
        Ticks const start = std::max(job.ready, chip.queue.end);
        serve(chip, job.left, start, start + job.left);
    }
}

void StepRecurrence::finish() {
    close();
    for (Chip& chip : chips_) {
        if (chip.queue.job < chip.queue.jobs.size()) { serve_until_through(chip, chip.queue.jobs.back().task); }
    }
}

void StepRecurrence::mark(std::size_t index, Ticks held_back) {
    close();
    Chip& chip = chips_[index];
    Queue const& queue = chip.queue;
    Mark mark{.time = chip.time, .backlog = held_back + std::max<Ticks>(0, queue.end - chip.compute), .leads = {}};
    for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
        if (streams_[stream].chip != index) { continue; }
        mark.backlog += std::max<Ticks>(0, free_[stream] - chip.compute);
        mark.leads.push_back(chip.compute - free_[stream]);
    }
    for (std::size_t i = queue.job; i < queue.jobs.size(); ++i) { mark.backlog += queue.jobs[i].left; }
    chip.marks.push_back(std::move(mark));
}

StageTime StepRecurrence::of_run(std::size_t index) const {
    Chip const& chip = chips_[index];
    StageTime time = chip.time;
    if (chip.last.first > chip.compute) { time[chip.last.second] += chip.last.first - chip.compute; }
    time.idle += makespan_ - std::max(chip.last.first, chip.compute);
    return time;
}

StageTime StepRecurrence::of_span(std::size_t index) const {
    Chip const& chip = chips_[index];
    StageTime time = of_run(index) - chip.start.waits;
    time.idle -= makespan_ - std::max(chip.last.first, chip.compute);
    time[WorkKind::data] += chip.start.weights;
    time[WorkKind::offload] += std::max<Ticks>(0, chip.start.copies - chip.start.weights);
    return time;
}

Ticks StepRecurrence::lost_lead(std::size_t chip, std::size_t mark) const {
    auto const &now = chips_[chip].marks.at(mark).leads, &before = chips_[chip].marks.at(mark - 1).leads;
    Ticks lost = 0;
    for (std::size_t i = 0; i < now.size(); ++i) { lost = std::max(lost, before[i] - now[i]); }
    return lost;
}

StageTime StepRecurrence::of_marks(std::size_t chip, std::size_t first) const {
    auto const& marks = chips_[chip].marks;
    return marks.at(first + 1).time - marks.at(first).time;
}

} // namespace headroom::training::simulation
