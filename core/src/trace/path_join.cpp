#include "trace/path_joiner.hpp"
#include "trace/wide_time.hpp"

#include <map>
#include <string>
#include <utility>

namespace headroom::trace::path {
namespace {

constexpr Ticks longest_step = Ticks{1} << 62; ///< as of graphs

} // namespace

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

void Joiner::add_meeting(Meeting meeting, Ticks transfer) {
    Ticks last_end = std::numeric_limits<Ticks>::min();
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

JoinedSteps join_steps(std::vector<StepGraph> const& ranks, std::vector<CollectiveLink> const& links,
                       std::vector<Ticks> const& clock_offset, Executor const& run) {
    Joiner joiner(ranks, clock_offset, true);
    joiner.meet(links);
    add_graph(joiner, joiner.joined(), run);
    if (!joiner.joined().vertices.empty() || links.empty()) { return std::move(joiner.joined()); }
    // runs that wait for each other in a circle, at the same moment: matches that cannot be
    Joiner alone(ranks, clock_offset, true);
    add_graph(alone, alone.joined(), run);
    alone.joined().notes.emplace_back("collectives of the ranks wait for each other in a circle: ranks are not joined");
    return std::move(alone.joined());
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

} // namespace headroom::trace::path
