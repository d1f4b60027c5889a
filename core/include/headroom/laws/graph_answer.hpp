#pragma once

#include "headroom/fields.hpp"
#include "headroom/laws/task_graph.hpp"
#include "headroom/timeline.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::laws {

// ---- how many workers a graph is worth ----------------------------------------------------------------------------

/// The largest K on which every greedy schedule has at least `share` of a speed-up of K.
///
///     W / ((W-D)/K + D) >= q K     as long as     K - 1 <= W (1-q) / (q D)
///
/// Holds for:  0 < q < 1; empty without depth, where any K has it.
/// Assumes:    Graham's bound; starting a task costs nothing.
/// Source:     [Graham1969]
std::optional<std::int64_t> workers_surely_efficient(Ticks work, Ticks depth, double share);

/// The largest K on which any schedule can have `share` of a speed-up of K: K <= W / (q D), as no speed-up exceeds W/D.
/// Holds for:  0 < q <= 1; empty without depth. Source: [Brent1974]
std::optional<std::int64_t> workers_perhaps_efficient(Ticks work, Ticks depth, double share);

/// 1, 2, 4, ... up to one past the first power of two at which depth is the larger half of Brent's bound.
std::vector<std::int64_t> telling_worker_counts(Ticks work, Ticks depth);

// ---- what the numbers are made of ---------------------------------------------------------------------------------

/// One kind of task: its part of the work and of the critical path.
struct KindShare {
    std::string_view kind; ///< of the graph's `kinds`
    std::uint64_t tasks = 0, critical_tasks = 0;
    Ticks work = 0, critical_work = 0;
};
/// Every kind that has tasks, in the graph's order; the parts add up to work and depth. Empty where kinds have no names.
std::vector<KindShare> kind_shares(TaskGraph const& graph, DagMeasure const& measured);

/// Neighbouring levels of a profile together, for graphs of more levels than a page has room for.
struct LevelBin {
    std::size_t first = 0, last = 0;     ///< levels, both included
    std::uint64_t tasks = 0, widest = 0; ///< of all its levels, of the fullest one
    Ticks work = 0;
};
/// At most `most` bins of equally many levels (the last may have fewer); tasks and work add up to the profile's.
std::vector<LevelBin> level_bins(LevelProfile const& profile, std::size_t most);

// ---- questions about the same graph otherwise ---------------------------------------------------------------------

/// The kind of what collectives send.
constexpr std::string_view message_kind = "message";

/// The graph with a cost for each message in place of what it has.
/// Holds for:  messages x cost + work <= 2^62. Errors: InputError{usage} at `where` when it has no messages, or more.
TaskGraph with_message_cost(TaskGraph graph, Ticks cost, std::string_view where);

/// A greedy time that is known without a schedule: W on one worker; D on as many as there are tasks, or, where all
/// tasks cost the same, as many as the fullest level has. Empty where it takes a schedule.
/// Source: [Graham1969]
std::optional<Ticks> known_greedy_time(Dag const& dag, DagMeasure const& measured, LevelProfile const& profile,
                                       std::int64_t workers);

/// Time that no schedule on typed resources is below, and time that no greedy one exceeds.
struct ResourceBounds {
    double lower = 0.0;           ///< max of D and of each W_r / c_r
    double upper = 0.0;           ///< sum of W_r / c_r, and D
    std::vector<Ticks> work = {}; ///< by resource
    std::vector<std::uint64_t> tasks = {};
};
/// Source: [Graham1969]
ResourceBounds resource_bounds(Dag const& dag, std::span<Resource const> resources,
                               std::span<std::uint16_t const> resource_of, Ticks depth);

// ---- the answer of `headroom graph` ---------------------------------------------------------------------------------

struct GraphQuestion {
    TaskGraph graph = {};    ///< with the cost of messages that was asked for
    std::string source = {}; ///< as given
    bool is_file = false;
    std::optional<Ticks> burden = {}, message = {};
    std::vector<std::int64_t> workers = {}; ///< empty: `telling_worker_counts`
    ListOrder order = ListOrder::arrival;
    std::vector<Resource> resources = {}; ///< empty: any worker takes any task
    std::vector<std::uint16_t> resource_of = {};
    double efficiency = 0.9; ///< share of the ideal speedup that is called efficient
    bool wants_timeline = false;
};

/// Bounds and a greedy schedule on K equal workers, in ticks.
struct GraphSchedule {
    std::int64_t workers = 1;
    double lower = 0.0, brent = 0.0, graham = 0.0;
    std::optional<Ticks> greedy = {}; ///< empty: not simulated
};

/// Schedule on resources of several types.
struct GraphPlacement {
    ResourceBounds bounds = {};
    std::optional<Ticks> greedy = {};
};

/// Worker counts whose greedy schedules would take too long.
struct SkippedSchedules {
    std::size_t counts = 0;
    bool named = false; ///< whether the counts were asked for
};

struct GraphAnswer {
    GraphQuestion question;
    DagMeasure measured = {};
    std::optional<Ticks> burdened_depth = {};
    std::size_t levels = 0;
    std::uint64_t widest = 0; ///< tasks of the fullest level
    std::vector<LevelBin> bins = {};
    std::vector<KindShare> kinds = {};
    std::vector<GraphSchedule> schedules = {};
    std::optional<GraphPlacement> placement = {};
    std::optional<SkippedSchedules> skipped = {};
    std::optional<Timeline> timeline = {};
    std::optional<std::int64_t> timeline_workers = {}; ///< empty: on the resources
    std::vector<std::string> notes = {};               ///< of the graph; the face adds those of the answer
    std::string verdict = {};                          ///< in a sentence, by the face

    [[nodiscard]] TaskGraph const& graph() const { return question.graph; }
    /// Ticks in the graph's unit.
    [[nodiscard]] double amount(double ticks) const { return ticks * graph().per_tick; }
    [[nodiscard]] double amount(Ticks ticks) const { return amount(static_cast<double>(ticks)); }
    /// Work over depth; empty without depth.
    [[nodiscard]] std::optional<double> parallelism() const;
    /// Work over the greedy time of a schedule; empty where there is none.
    [[nodiscard]] std::optional<double> speedup(std::optional<Ticks> greedy) const;
    /// W/K: the time if the work divided perfectly, in ticks.
    [[nodiscard]] double ideal(GraphSchedule const& schedule) const {
        return static_cast<double>(measured.work) / static_cast<double>(schedule.workers);
    }
    /// Greedy time over the ideal; empty where there is none.
    [[nodiscard]] std::optional<double> over_ideal(GraphSchedule const& schedule) const;
    /// Workers x greedy time, in hours; empty where the graph is not in seconds.
    [[nodiscard]] std::optional<double> worker_hours(GraphSchedule const& schedule) const;
    /// Speedup over the number of workers.
    [[nodiscard]] std::optional<double> utilization(GraphSchedule const& schedule) const;
    /// Busy share of a resource during the greedy schedule; empty where there is none.
    [[nodiscard]] std::optional<double> busy_share(std::size_t resource) const;
    /// Last of the schedules that is efficient: as simulated, else as Graham's bound promises. Empty: none is.
    [[nodiscard]] std::optional<std::size_t> efficient_row() const;
};

/// Kind of a task; empty where kinds have no names.
std::string_view kind_name(TaskGraph const& graph, TaskId task);

/// Work, depth and schedules of a graph. Contract: resources have a capacity of 1 at least.
GraphAnswer answer_of(GraphQuestion question);

/// Schedule in the graph's unit: a row of the CSV form.
struct GraphScheduleRow {
    GraphAnswer const* answer;
    GraphSchedule const* schedule;
};
std::vector<GraphScheduleRow> schedule_rows(GraphAnswer const& answer);

/// Answer of `headroom graph --list`.
struct GraphBuilderList {
    std::span<GraphBuilder const> builders = graph_builders();
};

FieldTable const& field_table_of(GraphAnswer const*);
FieldTable const& field_table_of(GraphScheduleRow const*);
FieldTable const& field_table_of(GraphBuilder const*);
FieldTable const& field_table_of(GraphBuilderList const*);

} // namespace headroom::laws
