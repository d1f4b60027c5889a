#include "headroom/laws/schedule.hpp"

#include "base/events/event_queue.hpp"
#include "base/events/moments.hpp"
#include "number_set.hpp"
#include "paths.hpp"
#include "ready_lists.hpp"
#include "walk.hpp"

#include "headroom/error.hpp"
#include "headroom/laws/dag.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace headroom::laws {

using namespace graph;

namespace {

/// A graph whose tasks are numbered by what goes first: by pool, then the longest way to the end of the graph, then the
/// number in the graph it was made of. A schedule runs through such numbers nearly in order, and so through its memory.
struct Renumbered {
    std::vector<TaskId> original; ///< by new number
    std::vector<Ticks> costs;
    std::vector<std::uint16_t> resource_of; ///< empty: there is one pool
    std::vector<std::uint32_t> waits_for;   ///< predecessors
    std::vector<std::uint32_t> first;
    std::vector<TaskId> successors;
};

/// One pass of a stable sort: tasks by a small number of theirs.
template <class Key>
void sort_by(std::vector<TaskId>& tasks, std::vector<TaskId>& sorted, std::span<std::uint32_t> next, Key const& key) {
    std::ranges::fill(next, 0U);
    for (TaskId const task : tasks) { ++next[key(task)]; }
    std::exclusive_scan(next.begin(), next.end(), next.begin(), std::uint32_t{0});
    for (TaskId const task : tasks) { sorted[next[key(task)]++] = task; }
    tasks.swap(sorted);
}

/// Digit by digit, the least first, which takes a few reads of each task however many tie.
std::vector<TaskId> in_order(Dag const& dag, std::size_t pools, PoolOf pool_of) {
    constexpr int digit_bits = 11;
    std::vector<std::uint32_t> next(std::size_t{1} << digit_bits);
    std::vector<TaskId> tasks(dag.size()), sorted(dag.size());
    std::iota(tasks.begin(), tasks.end(), TaskId{0});
    if (tasks.empty()) { return tasks; }
    auto const longest = longest_paths<From::sinks, Ticks>(dag, OwnCost{dag.costs().data()});
    Ticks const top = *std::max_element(longest.get(), longest.get() + dag.size());
    for (int shift = 0; shift < 63 && top >> shift > 0; shift += digit_bits) {
        sort_by(tasks, sorted, next, [&](TaskId task) {
            return static_cast<std::size_t>((top - longest[task]) >> shift) & (next.size() - 1);
        });
    }
    if (pools > 1) {
        next.resize(pools);
        sort_by(tasks, sorted, next, pool_of);
    }
    return tasks;
}

Renumbered by_longest_path(Dag const& dag, std::size_t pools, PoolOf pool_of) {
    std::size_t const tasks = dag.size();
    Renumbered to{.original = in_order(dag, pools, pool_of),
                  .costs = {},
                  .resource_of = {},
                  .waits_for = {},
                  .first = {},
                  .successors = {}};
    std::vector<std::uint32_t> number(tasks);
    for (std::size_t i = 0; i < tasks; ++i) { number[to.original[i]] = static_cast<std::uint32_t>(i); }
    to.costs.resize(tasks);
    to.first.assign(tasks + 1, 0);
    to.waits_for.assign(tasks, 0);
    to.successors.reserve(dag.edge_count());
    Neighbours const after = dag.successors();
    for (std::size_t i = 0; i < tasks; ++i) {
        if (i + 2 * tasks_ahead < tasks) { fetch(&after.first[to.original[i + 2 * tasks_ahead]]); }
        if (i + tasks_ahead < tasks) {
            TaskId const soon = to.original[i + tasks_ahead];
            fetch(after[soon].data());
            fetch(&dag.costs()[soon]);
        }
        TaskId const task = to.original[i];
        to.costs[i] = dag.cost(task);
        for (TaskId const next : after[task]) {
            to.successors.push_back(number[next]);
            ++to.waits_for[number[next]];
        }
        to.first[i + 1] = static_cast<std::uint32_t>(to.successors.size());
    }
    if (!pool_of.resource_of.empty()) {
        for (TaskId const task : to.original) { to.resource_of.push_back(pool_of.resource_of[task]); }
    }
    return to;
}

/// Equal workers, one of which each task of the pool needs. Of the free ones the lowest is taken, so that no more
/// have to be remembered than ever work at once.
class Pool {
public:
    /// `tasks`: how many it will ever run.
    Pool(std::int64_t capacity, std::size_t tasks)
        : most_(std::min(static_cast<std::uint64_t>(capacity), static_cast<std::uint64_t>(tasks))), freed_(most_) {}

    [[nodiscard]] bool has_free() const { return used_ < most_ || !freed_.empty(); }
    std::uint32_t take() { return freed_.empty() ? used_++ : freed_.take_smallest(); }
    void give_back(std::uint32_t worker) { freed_.insert(worker); }
    /// Workers that ever worked.
    [[nodiscard]] std::uint32_t used() const { return used_; }

private:
    std::uint64_t most_;
    std::uint32_t used_ = 0;
    NumberSet freed_; ///< of the used ones
};

struct Running {
    TaskId task;
    std::uint32_t worker;
};

/// Tasks to be scheduled: costs, order and pools of workers.
struct Job {
    std::span<Ticks const> costs;
    Neighbours successors;
    PoolOf pool_of;
    std::span<Resource const> pools;
};

struct Outcome {
    Ticks makespan = 0;
    std::vector<std::uint32_t> used; ///< by pool: workers that ever worked
};

/// Time goes from one end of a task to the next. At each, all tasks that end are taken off, then what became ready is
/// put into the lists by number, then workers are handed out. A task that costs nothing ends when it starts, after
/// that: its successors become ready at the same time, one round later.
template <class Lists> class Simulation {
public:
    /// `waits_for`: by task, its predecessors. The timeline, if any, is written with workers of their pools as lanes.
    Simulation(Job const& job, std::vector<std::uint32_t> waits_for, Timeline* timeline)
        : Simulation{job, std::move(waits_for), timeline,
                     pool_begins(job.costs.size(), job.pools.size(), job.pool_of)} {}

    Outcome run() {
        begin();
        start_tasks();
        events::run_moments(
            running_, now_, {}, [this](Running const& ended) { end(ended); }, [this] { follow(); });
        Outcome outcome{.makespan = now_, .used = {}};
        for (Pool const& pool : pools_) { outcome.used.push_back(pool.used()); }
        return outcome;
    }

private:
    Simulation(Job const& job, std::vector<std::uint32_t> waits_for, Timeline* timeline,
               std::vector<std::uint32_t> const& begins)
        : job_{job},
          timeline_{timeline},
          ready_{begins, job.pool_of},
          waits_for_{std::move(waits_for)},
          released_(job.costs.size() + 1),
          is_touched_(job.pools.size(), false) {
        pools_.reserve(job.pools.size());
        for (std::size_t pool = 0; pool < job.pools.size(); ++pool) {
            pools_.emplace_back(job.pools[pool].capacity, begins[pool + 1] - begins[pool]);
        }
    }

    void begin() {
        for (std::size_t v = 0; v < waits_for_.size(); ++v) {
            released_[released_count_] = static_cast<TaskId>(v);
            released_count_ += waits_for_[v] == 0 ? 1 : 0;
        }
        enlist();
    }

    void end(Running const& ended) {
        std::uint32_t const pool = job_.pool_of(ended.task);
        pools_[pool].give_back(ended.worker);
        touch(pool);
        ended_.push_back(ended.task);
        fetch_waiting(ended.task);
    }

    void follow() {
        if (!running_.empty()) { fetch_waiting(running_.first().task); } // next, unless a shorter one is started
        for (TaskId const task : ended_) { release_after(task); }
        ended_.clear();
        enlist();
        start_tasks();
    }

    void fetch_waiting(TaskId task) const {
        for (TaskId const next : job_.successors[task]) { fetch_to_write(&waits_for_[next]); }
    }

    void release_after(TaskId task) {
        for (TaskId const next : job_.successors[task]) {
            released_[released_count_] =
                next; // taken only if this was the last it waited for: no branch to guess wrong
            released_count_ += --waits_for_[next] == 0 ? 1 : 0;
        }
    }

    void enlist() {
        std::span<TaskId> const released{released_.data(), released_count_};
        if (Lists::keeps_order && released.size() > 1) { std::ranges::sort(released); }
        for (TaskId const task : released) {
            ready_.put(task);
            touch(job_.pool_of(task));
        }
        released_count_ = 0;
    }

    /// Only where a worker or a task came free can one be started.
    void start_tasks() {
        if (touched_.size() > 1) { std::ranges::sort(touched_); }
        for (std::uint32_t const pool : touched_) {
            is_touched_[pool] = false;
            while (!ready_.empty(pool) && pools_[pool].has_free()) {
                start(ready_.take(pool), pools_[pool].take());
                if (!ready_.empty(pool)) { fetch_task(ready_.later(pool)); }
            }
        }
        touched_.clear();
    }

    void start(TaskId task, std::uint32_t worker) {
        fetch_successors(task);
        Ticks const end = now_ + job_.costs[task];
        running_.put(end, {task, worker});
        if (timeline_ == nullptr) { return; }
        timeline_->begin.push_back(now_);
        timeline_->end.push_back(end);
        timeline_->lane.push_back(worker);
        timeline_->name.push_back(task);
    }

    void fetch_task(TaskId task) const {
        fetch(&job_.costs[task]);
        fetch(&job_.successors.first[task]);
    }

    /// The list of successors now, and what is kept of them once the list is here, some starts later.
    void fetch_successors(TaskId task) {
        fetch(job_.successors[task].data());
        TaskId& place = started_[starts_++ % started_.size()];
        fetch_waiting(place);
        place = task;
    }

    void touch(std::uint32_t pool) {
        if (is_touched_[pool]) { return; }
        is_touched_[pool] = true;
        touched_.push_back(pool);
    }

    Job job_;
    Timeline* timeline_;
    Lists ready_;
    std::vector<std::uint32_t> waits_for_; ///< by task: predecessors that have not ended
    std::vector<Pool> pools_;
    /// By end. All of one end are taken off before anything is made of them.
    events::EventQueue<Ticks, Running, events::Ties::any> running_;
    std::vector<TaskId> ended_;    ///< now
    std::vector<TaskId> released_; ///< became ready now: so many in front
    std::size_t released_count_ = 0;
    std::vector<std::uint32_t> touched_;
    std::vector<bool> is_touched_;
    std::array<TaskId, 16> started_{}; ///< the last ones
    std::size_t starts_ = 0;
    Ticks now_ = 0;
};

/// Makes lanes of workers: those that worked, pool after pool.
void name_lanes(Timeline& timeline, std::span<Resource const> resources, std::span<std::uint32_t const> used,
                PoolOf pool_of) {
    std::vector<std::uint32_t> first_lane;
    for (std::size_t pool = 0; pool < used.size(); ++pool) {
        first_lane.push_back(static_cast<std::uint32_t>(timeline.lanes.size()));
        bool const alone = resources[pool].capacity == 1;
        for (std::uint32_t worker = 0; worker < used[pool]; ++worker) {
            timeline.lanes.push_back(alone ? resources[pool].name
                                           : resources[pool].name + " " + std::to_string(worker));
        }
    }
    for (std::size_t i = 0; i < timeline.size(); ++i) { timeline.lane[i] += first_lane[pool_of(timeline.name[i])]; }
}

Outcome run_by_arrival(Dag const& dag, Job const& job, Timeline* timeline) {
    std::vector<std::uint32_t> waits_for(dag.size());
    for (std::size_t v = 0; v < dag.size(); ++v) {
        waits_for[v] = static_cast<std::uint32_t>(dag.predecessors(static_cast<TaskId>(v)).size());
    }
    return Simulation<ArrivalLists>{job, std::move(waits_for), timeline}.run();
}

Outcome run_by_longest_path(Dag const& dag, Job job, Timeline* timeline) {
    Renumbered by_priority = by_longest_path(dag, job.pools.size(), job.pool_of);
    job.costs = by_priority.costs;
    job.successors = {by_priority.first, by_priority.successors};
    job.pool_of = {by_priority.resource_of};
    Outcome outcome = Simulation<NumberLists>{job, std::move(by_priority.waits_for), timeline}.run();
    if (timeline != nullptr) {
        for (std::uint32_t& task : timeline->name) { task = by_priority.original[task]; }
    }
    return outcome;
}

ScheduleResult schedule(Dag const& dag, std::span<Resource const> resources, PoolOf pool_of, ListOrder order,
                        bool with_timeline) {
    Job const job{.costs = dag.costs(), .successors = dag.successors(), .pool_of = pool_of, .pools = resources};
    ScheduleResult result;
    Timeline* const timeline = with_timeline ? &result.timeline : nullptr;
    Outcome const outcome =
        order == ListOrder::arrival ? run_by_arrival(dag, job, timeline) : run_by_longest_path(dag, job, timeline);
    if (with_timeline) { name_lanes(result.timeline, resources, outcome.used, pool_of); }
    result.makespan = outcome.makespan;
    if (result.makespan > 0) {
        double workers = 0.0;
        for (Resource const& resource : resources) { workers += static_cast<double>(resource.capacity); }
        Ticks const busy = std::accumulate(dag.costs().begin(), dag.costs().end(), Ticks{0});
        result.utilization = static_cast<double>(busy) / (workers * static_cast<double>(result.makespan));
    }
    return result;
}

} // namespace

std::string_view name_of(ListOrder order) { return order == ListOrder::arrival ? "arrival" : "longest-path"; }

ScheduleResult greedy_schedule(Dag const& dag, std::int64_t workers, ListOrder order, bool with_timeline) {
    if (workers < 1) { throw ContractError{"a schedule needs at least one worker"}; }
    Resource const pool{.name = workers == 1 ? "worker 0" : "worker", .capacity = workers};
    return schedule(dag, {&pool, 1}, PoolOf{}, order, with_timeline);
}

ScheduleResult greedy_schedule(Dag const& dag, std::span<Resource const> resources,
                               std::span<std::uint16_t const> resource_of, ListOrder order, bool with_timeline) {
    if (resource_of.size() != dag.size()) { throw ContractError{"every task names its resource"}; }
    for (Resource const& resource : resources) {
        if (resource.capacity < 1) { throw ContractError{"a resource runs at least one task at once"}; }
    }
    for (std::uint16_t const resource : resource_of) {
        if (resource >= resources.size()) { throw ContractError{"a task names a resource that is not there"}; }
    }
    return schedule(dag, resources, PoolOf{resource_of}, order, with_timeline);
}

} // namespace headroom::laws
