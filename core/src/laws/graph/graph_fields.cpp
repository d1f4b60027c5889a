#include "headroom/laws/graph_answer.hpp"

#include <algorithm>

namespace headroom::laws {
namespace {

constexpr std::size_t longest_list = 1000; ///< of a path or of resources

// Parts of an answer in the graph's unit: each view is an object with a field table.

struct ScheduleView {
    GraphAnswer const* answer;
    GraphSchedule const* schedule;
};
struct PathTask {
    GraphAnswer const* answer;
    TaskId task;
    [[nodiscard]] TaskGraph const& graph() const { return answer->graph(); }
};
struct KindView {
    GraphAnswer const* answer;
    KindShare const* share;
};
struct BinView {
    GraphAnswer const* answer;
    LevelBin const* bin;
};
struct LevelsView {
    GraphAnswer const* answer;
};
struct PlacementView {
    GraphAnswer const* answer;
};
struct ResourceView {
    GraphAnswer const* answer;
    std::size_t index;
};
struct EfficientView {
    GraphAnswer const* answer;
};

std::optional<double> amount(GraphAnswer const& answer, std::optional<Ticks> ticks) {
    return ticks ? std::optional{answer.amount(*ticks)} : std::nullopt;
}

constexpr Field schedule_fields[] = {
    {"workers", "Number of equal workers.", [](ScheduleView const& v) { return v.schedule->workers; }},
    {"lower_bound", "Time that no schedule is below: the larger of W/K and D.",
     [](ScheduleView const& v) { return v.answer->amount(v.schedule->lower); }},
    {"brent_bound", "Brent's bound W/K + D, which no greedy schedule exceeds.",
     [](ScheduleView const& v) { return v.answer->amount(v.schedule->brent); }},
    {"graham_bound", "Graham's tighter bound W/K + (1 - 1/K) D.",
     [](ScheduleView const& v) { return v.answer->amount(v.schedule->graham); }},
    {"greedy_time", "Time of the greedy schedule; null where it was not simulated.",
     [](ScheduleView const& v) { return amount(*v.answer, v.schedule->greedy); }},
    {"ideal_time", "W/K: time if the work divided perfectly.",
     [](ScheduleView const& v) { return v.answer->amount(v.answer->ideal(*v.schedule)); }},
    {"ratio", "Time of the greedy schedule over the ideal time; null where it was not simulated.",
     [](ScheduleView const& v) { return v.answer->over_ideal(*v.schedule); }},
    {"worker_hours", "Workers times the greedy time, in hours; null where the graph is not in seconds.",
     [](ScheduleView const& v) { return v.answer->worker_hours(*v.schedule); }},
    {"utilization", "Busy fraction of the workers in the greedy schedule.",
     [](ScheduleView const& v) { return v.answer->utilization(*v.schedule); }, Unit{"share"}},
    {"speedup", "Speedup of the greedy schedule over one worker.",
     [](ScheduleView const& v) { return v.answer->speedup(v.schedule->greedy); }},
};
constexpr FieldTable schedule_table = field_table<ScheduleView>("graph_schedule", schedule_fields);
FieldTable const& field_table_of(ScheduleView const*) { return schedule_table; }

constexpr Field row_rows[] = {
    {Field::inlined_name, "Schedule.",
     [](GraphScheduleRow const& row) {
         return ScheduleView{row.answer, row.schedule};
     }},
    {"unit", "Unit of the times; empty where the file names none.",
     [](GraphScheduleRow const& row) { return row.answer->graph().unit; }},
};
constexpr FieldTable row_table = field_table<GraphScheduleRow>("graph_schedule_row", row_rows);

constexpr Field path_rows[] = {
    {"task", "Number of the task.", [](PathTask const& v) { return v.task; }},
    {"name", "Name of the task; null where tasks have none.",
     [](PathTask const& v) {
         auto const& names = v.graph().names;
         return names.empty() ? std::nullopt : std::optional{names[v.task]};
     }},
    {"kind", "Kind of the task; null where kinds have no names.",
     [](PathTask const& v) {
         return v.graph().kinds.empty() ? std::nullopt : std::optional{kind_name(v.graph(), v.task)};
     }},
    {"cost", "Cost of the task, in the graph's unit.",
     [](PathTask const& v) { return v.answer->amount(v.graph().dag.cost(v.task)); }},
};
constexpr FieldTable path_table = field_table<PathTask>("path_task", path_rows);
FieldTable const& field_table_of(PathTask const*) { return path_table; }

constexpr Field kind_rows[] = {
    {"tasks", "Number of tasks of the kind.", [](KindView const& v) { return v.share->tasks; }},
    {"work", "Work of these tasks, in the graph's unit.",
     [](KindView const& v) { return v.answer->amount(v.share->work); }},
    {"critical_path_tasks", "Tasks of the kind on the critical path.",
     [](KindView const& v) { return v.share->critical_tasks; }},
    {"critical_path_work", "Work of the kind on the critical path.",
     [](KindView const& v) { return v.answer->amount(v.share->critical_work); }},
};
constexpr FieldTable kind_table = field_table<KindView>("task_kind", kind_rows);
FieldTable const& field_table_of(KindView const*) { return kind_table; }

constexpr Field bin_rows[] = {
    {"first_level", "First of these neighbouring levels.", [](BinView const& v) { return v.bin->first; }},
    {"last_level", "Last of these levels.", [](BinView const& v) { return v.bin->last; }},
    {"tasks", "Tasks of these levels.", [](BinView const& v) { return v.bin->tasks; }},
    {"widest_tasks", "Tasks of the fullest of these levels.", [](BinView const& v) { return v.bin->widest; }},
    {"work", "Work of these levels, in the graph's unit.",
     [](BinView const& v) { return v.answer->amount(v.bin->work); }},
};
constexpr FieldTable bin_table = field_table<BinView>("level_bin", bin_rows);
FieldTable const& field_table_of(BinView const*) { return bin_table; }

constexpr Field level_rows[] = {
    {"count", "Number of levels.", [](LevelsView const& v) { return v.answer->levels; }},
    {"widest_tasks", "Tasks of the fullest level.", [](LevelsView const& v) { return v.answer->widest; }},
    {"profile", "Neighbouring levels together, 240 entries at most.",
     [](LevelsView const& v) {
         std::vector<BinView> bins;
         for (LevelBin const& bin : v.answer->bins) { bins.push_back({v.answer, &bin}); }
         return bins;
     }},
};
constexpr FieldTable level_table = field_table<LevelsView>("levels", level_rows);
FieldTable const& field_table_of(LevelsView const*) { return level_table; }

constexpr Field placement_rows[] = {
    {"resources", "Number of resources.", [](PlacementView const& v) { return v.answer->question.resources.size(); }},
    {"lower_bound", "Time that no schedule on the resources is below.",
     [](PlacementView const& v) { return v.answer->amount(v.answer->placement->bounds.lower); }},
    {"upper_bound", "Time that no greedy schedule on the resources exceeds.",
     [](PlacementView const& v) { return v.answer->amount(v.answer->placement->bounds.upper); }},
    {"greedy_time", "Time of the greedy schedule; null where it was not simulated.",
     [](PlacementView const& v) { return amount(*v.answer, v.answer->placement->greedy); }},
    {"speedup", "Speedup of the greedy schedule over one worker.",
     [](PlacementView const& v) { return v.answer->speedup(v.answer->placement->greedy); }},
};
constexpr FieldTable placement_table = field_table<PlacementView>("resource_schedule", placement_rows);
FieldTable const& field_table_of(PlacementView const*) { return placement_table; }

constexpr Field resource_rows[] = {
    {"name", "Name of the resource.", [](ResourceView const& v) { return v.answer->question.resources[v.index].name; }},
    {"capacity", "Tasks that it runs at once.",
     [](ResourceView const& v) { return v.answer->question.resources[v.index].capacity; }},
    {"tasks", "Tasks that it runs.", [](ResourceView const& v) { return v.answer->placement->bounds.tasks[v.index]; }},
    {"work", "Work of these tasks, in the graph's unit.",
     [](ResourceView const& v) { return v.answer->amount(v.answer->placement->bounds.work[v.index]); }},
    {"utilization", "Busy fraction in the greedy schedule.",
     [](ResourceView const& v) { return v.answer->busy_share(v.index); }, Unit{"share"}},
};
constexpr FieldTable resource_table = field_table<ResourceView>("graph_resource", resource_rows);
FieldTable const& field_table_of(ResourceView const*) { return resource_table; }

constexpr Field efficient_rows[] = {
    {"efficiency", "Fraction of the ideal speedup that is called efficient.",
     [](EfficientView const& v) { return v.answer->question.efficiency; }},
    {"guaranteed_up_to_workers", "Largest number of workers on which every greedy schedule is efficient.",
     [](EfficientView const& v) {
         return workers_surely_efficient(v.answer->measured.work, v.answer->measured.depth,
                                         v.answer->question.efficiency);
     }},
    {"impossible_past_workers", "Largest number of workers on which any schedule can be efficient.",
     [](EfficientView const& v) {
         return workers_perhaps_efficient(v.answer->measured.work, v.answer->measured.depth,
                                          v.answer->question.efficiency);
     }},
    {"last_listed_workers", "Largest listed number of workers whose schedule is efficient.",
     [](EfficientView const& v) {
         auto const last = v.answer->efficient_row();
         return last ? std::optional{v.answer->schedules[*last].workers} : std::nullopt;
     }},
};
constexpr FieldTable efficient_table = field_table<EfficientView>("efficient_workers", efficient_rows);
FieldTable const& field_table_of(EfficientView const*) { return efficient_table; }

std::vector<ScheduleView> schedules_of(GraphAnswer const& answer) {
    std::vector<ScheduleView> views;
    for (GraphSchedule const& one : answer.schedules) { views.push_back({&answer, &one}); }
    return views;
}

std::vector<ResourceView> resources_of(GraphAnswer const& answer) {
    std::vector<ResourceView> views;
    std::size_t const count = answer.placement ? answer.question.resources.size() : 0;
    for (std::size_t i = 0; i < std::min(count, longest_list); ++i) { views.push_back({&answer, i}); }
    return views;
}

std::vector<std::pair<std::string, KindView>> kinds_of(GraphAnswer const& answer) {
    std::vector<std::pair<std::string, KindView>> views;
    for (KindShare const& share : answer.kinds) { views.emplace_back(share.kind, KindView{&answer, &share}); }
    return views;
}

std::vector<PathTask> path_of(GraphAnswer const& answer) {
    std::vector<PathTask> views;
    auto const& tasks = answer.measured.critical_path;
    for (std::size_t i = 0; i < std::min(tasks.size(), longest_list); ++i) { views.push_back({&answer, tasks[i]}); }
    return views;
}

std::optional<double> burdened_parallelism(GraphAnswer const& answer) {
    if (answer.burdened_depth.value_or(0) == 0) { return std::nullopt; }
    return static_cast<double>(answer.measured.work) / static_cast<double>(*answer.burdened_depth);
}

constexpr Field answer_rows[] = {
    {"graph", "Name of the graph.", [](GraphAnswer const& a) { return a.graph().name; }},
    {"source", "Builder or file, as it was given.", [](GraphAnswer const& a) { return a.question.source; }},
    {"source_kind", "Origin of the graph: builder or file.",
     [](GraphAnswer const& a) { return std::string_view{a.question.is_file ? "file" : "builder"}; }},
    {"unit", "Unit of costs and times; null where the file names none.",
     [](GraphAnswer const& a) {
         return a.graph().unit.empty() ? std::nullopt : std::optional{std::string_view{a.graph().unit}};
     }},
    {"verdict", "Conclusion in a sentence or two.", member<&GraphAnswer::verdict>},
    {"tasks", "Number of tasks.", [](GraphAnswer const& a) { return a.graph().dag.size(); }},
    {"edges", "Number of edges.", [](GraphAnswer const& a) { return a.graph().dag.edge_count(); }},
    {"work", "Work W: sum of all costs, the time on one worker.",
     [](GraphAnswer const& a) { return a.amount(a.measured.work); }},
    {"depth", "Depth D: longest chain of costs, the time on any number of workers.",
     [](GraphAnswer const& a) { return a.amount(a.measured.depth); }},
    {"parallelism", "Work over depth: the speedup that no number of workers exceeds; null without depth.",
     [](GraphAnswer const& a) { return a.parallelism(); }},
    {"message_cost", "Cost of each message; null where none was given.",
     [](GraphAnswer const& a) { return amount(a, a.question.message); }},
    {"burden", "Cost of each edge; null where none was given.",
     [](GraphAnswer const& a) { return amount(a, a.question.burden); }},
    {"burdened_depth", "Depth with the cost of the edges; null without a burden.",
     [](GraphAnswer const& a) { return amount(a, a.burdened_depth); }},
    {"burdened_parallelism", "Work over that depth; null without a burden.", from<burdened_parallelism>},
    {"crossover_workers", "Smallest number of workers at which depth outweighs a worker's share of the work.",
     [](GraphAnswer const& a) { return crossover_workers(a.measured.work, a.measured.depth); }},
    {"crossover_power_of_two", "First power of two at which it does.",
     [](GraphAnswer const& a) { return crossover_power_of_two(a.measured.work, a.measured.depth); }},
    {"efficient_workers", "Numbers of workers that are used efficiently.",
     [](GraphAnswer const& a) { return EfficientView{&a}; }},
    {"order", "Order of the greedy schedules: arrival or longest-path.",
     [](GraphAnswer const& a) { return a.question.order; }},
    {"schedules", "Bounds and greedy schedule at each number of workers.", from<schedules_of>},
    {"resource_schedule", "Schedule on the graph's resources; null where it has none.",
     [](GraphAnswer const& a) { return a.placement ? std::optional{PlacementView{&a}} : std::nullopt; }},
    {"resources", "Resources of the schedule, 1000 at most.", from<resources_of>},
    {"levels", "Tasks by the largest number of edges before them.",
     [](GraphAnswer const& a) { return LevelsView{&a}; }},
    {"by_kind", "Share of each kind of task in the work and on the critical path.", from<kinds_of>},
    {"critical_path_tasks", "Number of tasks of the critical path.",
     [](GraphAnswer const& a) { return a.measured.critical_path.size(); }},
    {"critical_path_truncated", "Whether the list of these tasks is cut.",
     [](GraphAnswer const& a) { return a.measured.critical_path.size() > longest_list; }},
    {"critical_path", "Tasks of the critical path, the first 1000.", from<path_of>},
    {"notes", "Assumptions, and parts that are left out.", member<&GraphAnswer::notes>},
};
constexpr FieldTable answer_table = field_table<GraphAnswer>("graph_answer", answer_rows);

constexpr Field builder_rows[] = {
    {"name", "Name of the builder.", member<&GraphBuilder::name>},
    {"parameters", "Numbers that follow the name.", member<&GraphBuilder::parameters>},
    {"summary", "Graph that it builds.", member<&GraphBuilder::summary>},
    {"source", "Source, a key of the bibliography.", member<&GraphBuilder::source>},
};
constexpr FieldTable builder_table = field_table<GraphBuilder>("graph_builder", builder_rows);

constexpr Field list_rows[] = {
    {"builders", "Builders of graphs.", member<&GraphBuilderList::builders>},
};
constexpr FieldTable list_table = field_table<GraphBuilderList>("graph_builders", list_rows);

} // namespace

std::vector<GraphScheduleRow> schedule_rows(GraphAnswer const& answer) {
    std::vector<GraphScheduleRow> rows;
    for (GraphSchedule const& one : answer.schedules) { rows.push_back({&answer, &one}); }
    return rows;
}

FieldTable const& field_table_of(GraphAnswer const*) { return answer_table; }
FieldTable const& field_table_of(GraphScheduleRow const*) { return row_table; }
FieldTable const& field_table_of(GraphBuilder const*) { return builder_table; }
FieldTable const& field_table_of(GraphBuilderList const*) { return list_table; }

} // namespace headroom::laws
