#pragma once

#include "trace/path_join.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace headroom::trace::path {

/// Where ranks meet.
struct Meeting {
    std::vector<std::uint32_t> tasks;                        ///< of all ranks' tasks
    Ticks at = std::numeric_limits<Ticks>::min();            ///< last arrival, on the common clock
    Ticks transfer_from = std::numeric_limits<Ticks>::min(); ///< later where ranks that are not there came later
};

/// Builder of a joined graph: its nodes (the tasks of all ranks, then the meetings) and their dependencies.
class Joiner {
public:
    Joiner(std::vector<StepGraph> const& ranks, std::vector<Ticks> const& clock_offset, bool together);
    void meet(std::vector<CollectiveLink> const& links);
    /// Duration of the step of a rank whose tasks wait for no other rank; negative: too long.
    [[nodiscard]] Ticks alone(std::size_t rank) const;
    /// Properties known before there is a graph.
    [[nodiscard]] JoinedSteps& joined() { return joined_; }

    [[nodiscard]] std::vector<StepGraph> const& ranks() const { return ranks_; }
    [[nodiscard]] std::vector<Meeting> const& meetings() const { return meetings_; }
    [[nodiscard]] std::uint32_t tasks() const { return static_cast<std::uint32_t>(joined_.rank.size()); }
    [[nodiscard]] std::uint32_t first_task(std::size_t rank) const {
        return static_cast<std::uint32_t>(joined_.first_task[rank]);
    }
    [[nodiscard]] bool is_meeting(std::uint32_t thing) const { return thing >= tasks(); }
    /// The number of the meeting that a task waits for; `no_task`: none.
    [[nodiscard]] std::uint32_t meeting_of(std::uint32_t task) const { return meeting_of_[task]; }
    [[nodiscard]] Ticks shift(std::size_t rank) const { return shift_[rank]; }
    [[nodiscard]] Ticks begin_of(std::uint32_t task) const {
        auto const r = joined_.rank[task];
        return ranks_[r].begin[task - joined_.first_task[r]] + shift_[r];
    }
    [[nodiscard]] Ticks end_of(std::uint32_t task) const {
        auto const r = joined_.rank[task];
        return begin_of(task) + ranks_[r].cost[task - joined_.first_task[r]];
    }
    /// Delay of a step's begin after the first rank's, for the task with which it begins; else 0.
    [[nodiscard]] Ticks begins_late(std::uint32_t thing) const {
        bool const begin = !is_meeting(thing) && thing == joined_.first_task[joined_.rank[thing]];
        return begin ? std::max(Ticks{0}, begin_of(thing)) : 0;
    }
    [[nodiscard]] Ticks cost_of(std::uint32_t thing) const;
    [[nodiscard]] Vertex vertex_of(std::uint32_t thing) const;
    /// Visits the dependencies of a node: calls `visit(node before, delay, why)`.
    template <class Visit> void each_before(std::uint32_t thing, Visit const& visit) const;

private:
    template <class Visit> void each_of_task(std::uint32_t task, Visit const& visit) const;
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
        for (auto const task : meetings_[thing - tasks()].tasks) { each_of_task(task, visit); }
        return;
    }
    auto const number = meeting_of_[thing];
    if (number == no_task) {
        each_of_task(thing, visit);
        return;
    }
    auto const& meeting = meetings_[number];
    Ticks const later = std::min(meeting.transfer_from, end_of(thing)) - meeting.at;
    visit(tasks() + number, later, TraceEdge::collective);
}

/// Gives `joined` its graph and what the vertices stand for: none where things wait for each other in a circle.
void add_graph(Joiner const& joiner, JoinedSteps& joined, Executor const& run);

} // namespace headroom::trace::path
