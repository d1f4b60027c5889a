#include "trace/path_join.hpp"

#include "trace/merge_runs.hpp"
#include "trace/wide_time.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace headroom::path {
namespace {

constexpr Ticks never = std::numeric_limits<Ticks>::min();
constexpr Ticks longest_step = Ticks{1} << 62; ///< as of graphs

/// Where ranks meet.
struct Meeting {
    std::vector<std::uint32_t> tasks; ///< of all ranks' tasks
    Ticks at = never;                 ///< last arrival, on the common clock
    Ticks transfer_from = never;      ///< later where ranks that are not there came later
};

/// A vertex on its way to its number: tasks, then meetings.
struct Item {
    Ticks time = 0;
    std::uint32_t order = 0; ///< of equal times: meetings, what goes on after one, everything else
    std::uint32_t thing = 0;
};

class Joiner {
public:
    Joiner(std::vector<StepGraph> const& ranks, std::vector<Ticks> const& clock_offset, bool together);
    void meet(std::vector<CollectiveLink> const& links);
    JoinedSteps run();
    /// How long the step of a rank lasts whose tasks wait for no other rank; less than nothing: too long.
    [[nodiscard]] Ticks alone(std::size_t rank) const;

private:
    /// What waits for what: calls `visit(thing before, delay, why)`.
    template <class Visit> void each_before(std::uint32_t thing, Visit const& visit) const;
    template <class Visit> void each_of_task(std::uint32_t task, Visit const& visit) const;
    [[nodiscard]] std::vector<Item> order() const;
    [[nodiscard]] Vertex vertex_of(std::uint32_t thing) const;
    [[nodiscard]] Ticks cost_of(std::uint32_t thing) const;
    [[nodiscard]] Ticks begin_of(std::uint32_t task) const;
    [[nodiscard]] Ticks end_of(std::uint32_t task) const;
    [[nodiscard]] std::size_t most_delays() const;
    [[nodiscard]] bool is_meeting(std::uint32_t thing) const { return thing >= joined_.first_task.back(); }
    void find_first_edges();
    void set_clocks(std::vector<Ticks> const& clock_offset);
    void add_meeting(Meeting meeting, Ticks transfer);
    void count_meetings();

    std::vector<StepGraph> const& ranks_;
    bool together_;
    std::vector<Ticks> shift_;                           ///< of each rank's times onto the common clock
    std::vector<std::vector<std::uint32_t>> first_edge_; ///< by rank and task
    std::vector<Meeting> meetings_;
    std::vector<std::uint32_t> meeting_of_; ///< by task; `no_task`: it waits for no other rank
    JoinedSteps joined_;
};

Joiner::Joiner(std::vector<StepGraph> const& ranks, std::vector<Ticks> const& clock_offset, bool together)
    : ranks_(ranks), together_(together) {
    joined_.first_task.push_back(0);
    for (std::uint32_t r = 0; r < ranks.size(); ++r) {
        joined_.rank.insert(joined_.rank.end(), ranks[r].cost.size(), r);
        joined_.first_task.push_back(joined_.rank.size());
    }
    meeting_of_.assign(joined_.rank.size(), no_task);
    find_first_edges();
    set_clocks(clock_offset);
}

void Joiner::find_first_edges() {
    for (auto const& rank : ranks_) {
        std::vector<std::uint32_t> first(rank.cost.size() + 1);
        for (auto const& edge : rank.edges) { ++first[edge.to + 1]; }
        for (std::size_t i = 1; i < first.size(); ++i) { first[i] += first[i - 1]; }
        first_edge_.push_back(std::move(first));
    }
}

/// Times of all ranks count from the earliest begin of a step.
void Joiner::set_clocks(std::vector<Ticks> const& clock_offset) {
    Ticks first_begin = 0, last_begin = 0, first_end = 0;
    std::vector<Ticks> ends; // of ranks, on their own clocks
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
        auto const& rank = ranks_[r];
        Ticks const offset = r < clock_offset.size() ? clock_offset[r] : 0;
        shift_.push_back(-offset);
        Ticks end = rank.step.begin;
        for (std::size_t i = 0; i < rank.cost.size(); ++i) { end = std::max(end, rank.begin[i] + rank.cost[i]); }
        ends.push_back(end);
        Ticks const begin = rank.step.begin + shift_[r];
        first_begin = r == 0 ? begin : std::min(first_begin, begin);
        last_begin = r == 0 ? begin : std::max(last_begin, begin);
        first_end = r == 0 ? end + shift_[r] : std::min(first_end, end + shift_[r]);
    }
    bool const apart = last_begin > first_end;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
        shift_[r] = apart || !together_ ? -ranks_[r].step.begin : shift_[r] - first_begin;
    }
    if (apart) {
        joined_.notes.emplace_back("steps of the ranks do not meet in time: they are taken to begin together");
    }
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
        joined_.measured = std::max(joined_.measured, ends[r] + shift_[r]);
    }
}

Ticks Joiner::begin_of(std::uint32_t task) const {
    auto const r = joined_.rank[task];
    return ranks_[r].begin[task - joined_.first_task[r]] + shift_[r];
}
Ticks Joiner::end_of(std::uint32_t task) const {
    auto const r = joined_.rank[task];
    return begin_of(task) + ranks_[r].cost[task - joined_.first_task[r]];
}

void Joiner::add_meeting(Meeting meeting, Ticks transfer) {
    Ticks last_end = never;
    for (auto const task : meeting.tasks) {
        meeting.at = std::max(meeting.at, begin_of(task));
        last_end = std::max(last_end, end_of(task));
    }
    meeting.transfer_from = transfer > 0 ? std::max(meeting.at, last_end - transfer) : meeting.at;
    auto const number = static_cast<std::uint32_t>(meetings_.size());
    for (auto const task : meeting.tasks) {
        if (end_of(task) >= meeting.at) { meeting_of_[task] = number; }
    }
    meetings_.push_back(std::move(meeting));
}

void Joiner::meet(std::vector<CollectiveLink> const& links) {
    std::vector<std::vector<std::uint32_t>> task_of(ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
        for (std::uint32_t task = 0; task < ranks_[r].collective.size(); ++task) {
            auto const run = ranks_[r].collective[task];
            if (run < 0) { continue; }
            auto const place = static_cast<std::size_t>(run);
            if (place >= task_of[r].size()) { task_of[r].resize(place + 1, no_task); }
            task_of[r][place] = static_cast<std::uint32_t>(joined_.first_task[r] + task);
        }
    }
    std::map<std::uint32_t, std::pair<Meeting, Ticks>> found;
    for (auto const& link : links) {
        if (link.rank >= ranks_.size() || link.run < 0) { continue; }
        auto const run = static_cast<std::size_t>(link.run);
        if (run >= task_of[link.rank].size() || task_of[link.rank][run] == no_task) { continue; }
        auto& [meeting, transfer] = found[link.matched];
        meeting.tasks.push_back(task_of[link.rank][run]);
        transfer = link.transfer;
    }
    for (auto& [matched, meeting] : found) {
        if (meeting.first.tasks.size() > 1) { add_meeting(std::move(meeting.first), meeting.second); }
    }
    count_meetings();
}

void Joiner::count_meetings() {
    joined_.joined = meetings_.size();
    std::size_t alone = 0;
    for (auto const& meeting : meetings_) {
        for (auto const task : meeting.tasks) { alone += meeting_of_[task] == no_task ? 1 : 0; }
    }
    if (alone > 0 && together_) {
        joined_.notes.push_back(std::to_string(alone) +
                                " runs of collectives end before the last rank has arrived: they wait for nobody");
    }
}

template <class Visit> void Joiner::each_of_task(std::uint32_t task, Visit const& visit) const {
    auto const r = joined_.rank[task];
    auto const first = static_cast<std::uint32_t>(joined_.first_task[r]);
    auto const& rank = ranks_[r];
    for (auto edge = first_edge_[r][task - first]; edge < first_edge_[r][task - first + 1]; ++edge) {
        visit(first + rank.edges[edge].from, rank.edge_delay[edge], rank.edge_kind[edge]);
    }
}

template <class Visit> void Joiner::each_before(std::uint32_t thing, Visit const& visit) const {
    if (is_meeting(thing)) {
        for (auto const task : meetings_[thing - joined_.first_task.back()].tasks) { each_of_task(task, visit); }
        return;
    }
    auto const number = meeting_of_[thing];
    if (number == no_task) {
        each_of_task(thing, visit);
        return;
    }
    auto const& meeting = meetings_[number];
    Ticks const later = std::min(meeting.transfer_from, end_of(thing)) - meeting.at;
    visit(static_cast<std::uint32_t>(joined_.first_task.back()) + number, later, TraceEdge::collective);
}

Ticks Joiner::cost_of(std::uint32_t thing) const {
    if (is_meeting(thing)) { return 0; }
    auto const number = meeting_of_[thing];
    if (number == no_task) { return ranks_[joined_.rank[thing]].cost[thing - joined_.first_task[joined_.rank[thing]]]; }
    Ticks const end = end_of(thing);
    return end - std::min(end, meetings_[number].transfer_from);
}

Vertex Joiner::vertex_of(std::uint32_t thing) const {
    if (is_meeting(thing)) { return {}; }
    auto const r = joined_.rank[thing];
    return {.task = thing, .kind = ranks_[r].kind[thing - joined_.first_task[r]]};
}

std::vector<Item> Joiner::order() const {
    auto const tasks = static_cast<std::uint32_t>(joined_.rank.size());
    std::vector<Item> items;
    items.reserve(tasks + meetings_.size());
    std::vector<std::size_t> runs{0};
    auto const earlier = [](Item const& a, Item const& b) {
        return std::tie(a.time, a.order) < std::tie(b.time, b.order);
    };
    auto const end_sorted = [&] {
        std::stable_sort(items.begin() + static_cast<std::ptrdiff_t>(runs.back()), items.end(), earlier);
        runs.push_back(items.size());
    };
    for (std::uint32_t m = 0; m < meetings_.size(); ++m) { items.push_back({meetings_[m].at, 0, tasks + m}); }
    end_sorted();
    for (std::uint32_t task = 0; task < tasks; ++task) {
        if (meeting_of_[task] != no_task) { items.push_back({meetings_[meeting_of_[task]].at, 1, task}); }
    }
    end_sorted();
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
        for (auto task = static_cast<std::uint32_t>(joined_.first_task[r]); task < joined_.first_task[r + 1]; ++task) {
            if (meeting_of_[task] == no_task) { items.push_back({begin_of(task), 2, task}); }
        }
        runs.push_back(items.size());
    }
    merge_runs(items, std::move(runs), earlier);
    return items;
}

std::size_t Joiner::most_delays() const {
    std::size_t most = ranks_.size() + meetings_.size();
    for (auto const& rank : ranks_) { most += rank.edges.size(); }
    for (auto const& meeting : meetings_) { most += meeting.tasks.size(); }
    return most;
}

Ticks Joiner::alone(std::size_t rank) const {
    auto const first = static_cast<std::uint32_t>(joined_.first_task[rank]);
    std::vector<Ticks> finish(ranks_[rank].cost.size());
    Ticks last = 0;
    for (std::uint32_t task = 0; task < finish.size(); ++task) {
        Ticks ready = task == 0 ? std::max(Ticks{0}, begin_of(first)) : 0;
        each_of_task(first + task, [&](std::uint32_t before, Ticks delay, TraceEdge) {
            ready = std::max(ready, wide_sum(finish[before - first], std::max(Ticks{0}, delay)));
        });
        finish[task] = wide_sum(ready, cost_of(first + task));
        last = std::max(last, finish[task]);
    }
    return last <= longest_step ? last : -1;
}

JoinedSteps Joiner::run() {
    auto const items = order();
    std::vector<std::uint32_t> vertex(joined_.rank.size() + meetings_.size(), no_task);
    std::vector<Ticks> costs;
    auto const most = vertex.size() + most_delays(); // what is not written to is not held
    costs.reserve(most);
    joined_.vertices.reserve(most);
    // a step that begins later than the first rank's: a delay before its begin
    auto const begins_late = [&](std::uint32_t thing) {
        return !is_meeting(thing) && thing == joined_.first_task[joined_.rank[thing]] ? begin_of(thing) : Ticks{0};
    };
    auto const add_delay = [&](std::uint32_t thing, Ticks delay, TraceEdge why) {
        costs.push_back(delay);
        joined_.vertices.push_back({.task = is_meeting(thing) ? no_task : thing, .delay = true, .edge = why});
    };
    for (auto const& item : items) {
        if (Ticks const late = begins_late(item.thing); late > 0) { add_delay(item.thing, late, TraceEdge::handover); }
        each_before(item.thing, [&](std::uint32_t, Ticks delay, TraceEdge why) {
            ++joined_.edges;
            if (delay > 0) { add_delay(item.thing, delay, why); }
        });
        vertex[item.thing] = static_cast<std::uint32_t>(costs.size());
        costs.push_back(cost_of(item.thing));
        joined_.vertices.push_back(vertex_of(item.thing));
    }
    std::vector<Edge> edges;
    edges.reserve(costs.size() + joined_.edges);
    std::uint32_t next = 0;
    for (auto const& item : items) {
        auto const to = vertex[item.thing];
        if (begins_late(item.thing) > 0) { edges.push_back({next++, to}); }
        each_before(item.thing, [&](std::uint32_t before, Ticks delay, TraceEdge) {
            if (delay > 0) {
                edges.push_back({vertex[before], next});
                edges.push_back({next++, to});
            } else {
                edges.push_back({vertex[before], to});
            }
        });
        next = to + 1;
    }
    joined_.tasks = joined_.rank.size();
    auto result = build_dag(std::move(costs), edges);
    joined_.dag = std::move(result.dag);
    if (result.fault) { joined_.vertices.clear(); }
    return std::move(joined_);
}

} // namespace

JoinedSteps join_steps(std::vector<StepGraph> const& ranks, std::vector<CollectiveLink> const& links,
                       std::vector<Ticks> const& clock_offset) {
    Joiner joiner(ranks, clock_offset, true);
    joiner.meet(links);
    auto joined = joiner.run();
    if (!joined.vertices.empty() || links.empty()) { return joined; }
    // runs that wait for each other in a circle, at the same moment: matches that cannot be
    Joiner alone(ranks, clock_offset, true);
    auto apart = alone.run();
    apart.notes.emplace_back("collectives of the ranks wait for each other in a circle: ranks are not joined");
    return apart;
}

std::vector<Ticks> steps_alone(std::vector<StepGraph> const& ranks, std::vector<CollectiveLink> const& links) {
    Joiner joiner(ranks, {}, false);
    joiner.meet(links);
    std::vector<Ticks> steps;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        steps.push_back(joiner.alone(rank));
        if (steps.back() < 0) { return {}; }
    }
    return steps;
}

} // namespace headroom::path
