#include "graph/graph_report.hpp"

#include "document/text.hpp"

#include "headroom/quantity.hpp"

#include <algorithm>
#include <map>

namespace headroom::cli {
namespace {

constexpr std::size_t longest_list = 1000; ///< of a path or of resources, in JSON
constexpr std::size_t longest_table = 12;  ///< of the same, for people

std::optional<double> utilization(GraphReport const& report, GraphSchedule const& schedule) {
    if (!schedule.greedy || *schedule.greedy == 0) { return std::nullopt; }
    return static_cast<double>(report.measured.work) /
           (static_cast<double>(schedule.workers) * static_cast<double>(*schedule.greedy));
}

std::optional<double> speedup(GraphReport const& report, GraphSchedule const& schedule) {
    if (!schedule.greedy || *schedule.greedy == 0) { return std::nullopt; }
    return static_cast<double>(report.measured.work) / static_cast<double>(*schedule.greedy);
}

// ---- JSON -------------------------------------------------------------------------------------------------------

Json amount_json(GraphReport const& report, std::optional<Ticks> ticks) {
    return ticks ? Json{report.amount(*ticks)} : Json{};
}

Json schedule_json(GraphReport const& report, GraphSchedule const& schedule) {
    return Json::object()
        .set("workers", schedule.workers)
        .set("lower_bound", report.amount(schedule.lower))
        .set("brent_bound", report.amount(schedule.brent))
        .set("graham_bound", report.amount(schedule.graham))
        .set("greedy_time", amount_json(report, schedule.greedy))
        .set("utilization", utilization(report, schedule))
        .set("speedup", speedup(report, schedule));
}

Json path_json(GraphReport const& report) {
    Json path = Json::array();
    TaskGraph const& graph = report.graph();
    auto const& tasks = report.measured.critical_path;
    for (std::size_t i = 0; i < std::min(tasks.size(), longest_list); ++i) {
        std::string_view const kind = kind_name(graph, tasks[i]);
        path.push(Json::object()
                      .set("task", tasks[i])
                      .set("name", graph.names.empty() ? Json{} : Json{graph.names[tasks[i]]})
                      .set("kind", graph.kinds.empty() ? Json{} : Json{kind})
                      .set("cost", report.amount(graph.dag.cost(tasks[i]))));
    }
    return path;
}

Json kinds_json(GraphReport const& report) {
    Json kinds = Json::object();
    for (KindShare const& share : report.kinds) {
        kinds.set(share.kind, Json::object()
                                  .set("tasks", share.tasks)
                                  .set("work", report.amount(share.work))
                                  .set("critical_path_tasks", share.critical_tasks)
                                  .set("critical_path_work", report.amount(share.critical_work)));
    }
    return kinds;
}

Json levels_json(GraphReport const& report) {
    Json profile = Json::array();
    for (LevelBin const& bin : report.bins) {
        profile.push(Json::object()
                         .set("first_level", bin.first)
                         .set("last_level", bin.last)
                         .set("tasks", bin.tasks)
                         .set("widest_tasks", bin.widest)
                         .set("work", report.amount(bin.work)));
    }
    return Json::object().set("count", report.levels).set("widest_tasks", report.widest).set("profile", profile);
}

double busy_share(GraphPlacement const& placement, std::size_t resource) {
    double const places = static_cast<double>(placement.resources[resource].capacity);
    return static_cast<double>(placement.bounds.work[resource]) / (places * static_cast<double>(*placement.greedy));
}

bool has_time(GraphPlacement const& placement) { return placement.greedy && *placement.greedy > 0; }

Json resources_json(GraphReport const& report) {
    Json list = Json::array();
    if (!report.placement) { return list; }
    GraphPlacement const& placement = *report.placement;
    for (std::size_t i = 0; i < std::min(placement.resources.size(), longest_list); ++i) {
        list.push(Json::object()
                      .set("name", placement.resources[i].name)
                      .set("capacity", placement.resources[i].capacity)
                      .set("tasks", placement.bounds.tasks[i])
                      .set("work", report.amount(placement.bounds.work[i]))
                      .set("utilization", has_time(placement) ? Json{busy_share(placement, i)} : Json{}));
    }
    return list;
}

Json placement_json(GraphReport const& report) {
    if (!report.placement) { return {}; }
    GraphPlacement const& placement = *report.placement;
    return Json::object()
        .set("resources", placement.resources.size())
        .set("lower_bound", report.amount(placement.bounds.lower))
        .set("upper_bound", report.amount(placement.bounds.upper))
        .set("greedy_time", amount_json(report, placement.greedy))
        .set("speedup", has_time(placement)
                            ? Json{static_cast<double>(report.measured.work) / static_cast<double>(*placement.greedy)}
                            : Json{});
}

Json efficient_json(GraphReport const& report) {
    Ticks const work = report.measured.work, depth = report.measured.depth;
    auto const last = efficient_row(report);
    return Json::object()
        .set("efficiency", worthwhile_share)
        .set("guaranteed_up_to_workers", workers_surely_efficient(work, depth, worthwhile_share))
        .set("impossible_past_workers", workers_perhaps_efficient(work, depth, worthwhile_share))
        .set("last_listed_workers", last ? Json{report.schedules[*last].workers} : Json{});
}

// ---- tables -----------------------------------------------------------------------------------------------------

std::string or_dash(std::optional<std::string> const& text) { return text.value_or("-"); }

Table schedule_table(GraphReport const& report) {
    std::string const& unit = report.graph().unit;
    bool const in_cells = unit.empty() || unit == "seconds";
    auto const marked = efficient_row(report);
    Table table{"Time on equal workers" + (in_cells ? "" : ", in " + printable(unit)) +
                    (marked ? " (marked: the last that is 90 % efficient)" : ""),
                {{"workers"}, {"lower bound"}, {"greedy"}, {"Graham"}, {"Brent"}, {"speedup"}, {"busy %"}},
                {},
                marked};
    for (GraphSchedule const& schedule : report.schedules) {
        auto const fast = speedup(report, schedule), busy = utilization(report, schedule);
        table.rows.push_back({std::to_string(schedule.workers), amount_words(report, schedule.lower),
                              schedule.greedy ? amount_words(report, static_cast<double>(*schedule.greedy)) : "-",
                              amount_words(report, schedule.graham), amount_words(report, schedule.brent),
                              or_dash(fast ? std::optional{significant(*fast) + "x"} : std::nullopt),
                              or_dash(busy ? std::optional{percent(*busy)} : std::nullopt)});
    }
    return table;
}

Table kind_table(GraphReport const& report) {
    Table table{"Kinds of tasks",
                {{"kind", Align::left, true}, {"tasks"}, {"work"}, {"of work %"}, {"on path"}, {"of depth %"}},
                {},
                {}};
    auto const share = [](Ticks part, Ticks whole) {
        return whole == 0 ? "-" : percent(static_cast<double>(part) / static_cast<double>(whole));
    };
    for (KindShare const& kind : report.kinds) {
        table.rows.push_back({printable(kind.kind), std::to_string(kind.tasks),
                              amount_words(report, static_cast<double>(kind.work)),
                              share(kind.work, report.measured.work), std::to_string(kind.critical_tasks),
                              share(kind.critical_work, report.measured.depth)});
    }
    return table;
}

/// Resources of one sort in one row.
Table resource_table(GraphReport const& report) {
    struct Sort {
        std::size_t count = 0;
        std::int64_t capacity = 0;
        std::uint64_t tasks = 0;
        Ticks work = 0;
        double busiest = 0.0;
    };
    GraphPlacement const& placement = *report.placement;
    std::map<std::string, Sort> sorts;
    for (std::size_t i = 0; i < placement.resources.size(); ++i) {
        Sort& sort = sorts[family_of(placement.resources[i].name)];
        sort.count += 1;
        sort.capacity += placement.resources[i].capacity;
        sort.tasks += placement.bounds.tasks[i];
        sort.work += placement.bounds.work[i];
        if (has_time(placement)) { sort.busiest = std::max(sort.busiest, busy_share(placement, i)); }
    }
    Table table{"Resources",
                {{"resource", Align::left, true}, {"number"}, {"places"}, {"tasks"}, {"work"}, {"busiest %"}},
                {},
                {}};
    for (auto const& [name, sort] : sorts) {
        if (table.rows.size() == 2 * longest_table) { break; }
        table.rows.push_back({printable(name), std::to_string(sort.count), std::to_string(sort.capacity),
                              std::to_string(sort.tasks), amount_words(report, static_cast<double>(sort.work)),
                              has_time(placement) ? percent(sort.busiest) : "-"});
    }
    return table;
}

Table path_table(GraphReport const& report) {
    auto const& tasks = report.measured.critical_path;
    TaskGraph const& graph = report.graph();
    bool const cut = tasks.size() > longest_table, of_kinds = !graph.kinds.empty();
    Table table{"Critical path", {{"task", Align::left, true}}, {}, {}};
    if (cut) { table.title += ": its first " + std::to_string(longest_table) + " of " + counted(tasks.size(), "task"); }
    if (of_kinds) { table.columns.push_back({"kind", Align::left, true}); }
    table.columns.insert(table.columns.end(), {{"cost"}, {"ends at"}});
    Ticks end = 0;
    for (std::size_t i = 0; i < std::min(tasks.size(), longest_table); ++i) {
        Ticks const cost = graph.dag.cost(tasks[i]);
        end += cost;
        std::vector<std::string> row{task_words(graph, tasks[i])};
        if (of_kinds) { row.push_back(printable(kind_name(graph, tasks[i]))); }
        row.push_back(amount_words(report, static_cast<double>(cost)));
        row.push_back(amount_words(report, static_cast<double>(end)));
        table.rows.push_back(std::move(row));
    }
    return table;
}

// ---- words ------------------------------------------------------------------------------------------------------

std::string graph_words(GraphReport const& report) {
    TaskGraph const& graph = report.graph();
    return printable(graph.name) + ": " + counted(graph.dag.size(), "task") + " and " +
           counted(graph.dag.edge_count(), "edge") + " in " + counted(report.levels, "level") + ", the fullest of " +
           counted(report.widest, "task");
}

std::string measure_words(GraphReport const& report) {
    std::string text = "work " + amount_words(report, static_cast<double>(report.measured.work)) + ", depth " +
                       amount_words(report, static_cast<double>(report.measured.depth), true);
    if (report.parallelism()) { text += ", parallelism " + ratio_words(*report.parallelism()); }
    return text;
}

std::string burden_words(GraphReport const& report) {
    double const depth = static_cast<double>(*report.burdened_depth);
    std::string text = amount_words(report, static_cast<double>(*report.question.burden), true) +
                       " an edge make the depth " + amount_words(report, depth);
    if (depth > 0.0) { text += ", parallelism " + ratio_words(static_cast<double>(report.measured.work) / depth); }
    return text;
}

std::string placed_words(GraphReport const& report) {
    GraphPlacement const& placement = *report.placement;
    std::string const time =
        placement.greedy ? amount_words(report, static_cast<double>(*placement.greedy), true) : "not simulated";
    return time + " by the greedy schedule; between " + amount_words(report, placement.bounds.lower) + " and " +
           amount_words(report, placement.bounds.upper) + " by the bounds";
}

} // namespace

Json json_of(GraphReport const& report) {
    TaskGraph const& graph = report.graph();
    Ticks const work = report.measured.work, depth = report.measured.depth;
    Json schedules = Json::array();
    for (GraphSchedule const& schedule : report.schedules) { schedules.push(schedule_json(report, schedule)); }
    bool const burdened = report.burdened_depth && *report.burdened_depth > 0;
    Json json = result_head("graph", report.catalog, "");
    json.set("graph", graph.name)
        .set("source", report.question.source)
        .set("source_kind", report.question.is_file ? "file" : "builder")
        .set("unit", graph.unit.empty() ? Json{} : Json{graph.unit})
        .set("verdict", verdict(report))
        .set("tasks", graph.dag.size())
        .set("edges", graph.dag.edge_count())
        .set("work", report.amount(work))
        .set("depth", report.amount(depth))
        .set("parallelism", report.parallelism())
        .set("message_cost", amount_json(report, report.question.message))
        .set("burden", amount_json(report, report.question.burden))
        .set("burdened_depth", amount_json(report, report.burdened_depth))
        .set("burdened_parallelism",
             burdened ? Json{static_cast<double>(work) / static_cast<double>(*report.burdened_depth)} : Json{})
        .set("crossover_workers", crossover_workers(work, depth))
        .set("crossover_power_of_two", crossover_power_of_two(work, depth))
        .set("efficient_workers", efficient_json(report))
        .set("order", report.question.order == ListOrder::arrival ? "arrival" : "longest-path")
        .set("schedules", schedules)
        .set("resource_schedule", placement_json(report))
        .set("resources", resources_json(report))
        .set("levels", levels_json(report))
        .set("by_kind", kinds_json(report))
        .set("critical_path_tasks", report.measured.critical_path.size())
        .set("critical_path_truncated", report.measured.critical_path.size() > longest_list)
        .set("critical_path", path_json(report))
        .set("notes", Json::array_of(report.notes));
    if (report.wall_seconds) { json.set("stats", stats_json(*report.wall_seconds)); }
    return json;
}

Document document_of(GraphReport const& report) {
    Document document{"Graph " + printable(report.graph().name), {}, footer(report.catalog, "")};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict(report), "", true});
    blocks.emplace_back(Paragraph{graph_words(report), "graph"});
    blocks.emplace_back(Paragraph{measure_words(report), "counted"});
    if (report.question.message) {
        blocks.emplace_back(
            Paragraph{amount_words(report, static_cast<double>(*report.question.message), true) + " each", "messages"});
    }
    if (report.burdened_depth) { blocks.emplace_back(Paragraph{burden_words(report), "burdened"}); }
    if (report.placement) { blocks.emplace_back(Paragraph{placed_words(report), "on resources"}); }
    blocks.emplace_back(schedule_table(report));
    for (Block& chart : charts_of(report)) { blocks.push_back(std::move(chart)); }
    if (report.kinds.size() > 1) { blocks.emplace_back(kind_table(report)); }
    if (report.placement) { blocks.emplace_back(resource_table(report)); }
    if (!report.measured.critical_path.empty()) { blocks.emplace_back(path_table(report)); }
    if (!report.notes.empty()) { blocks.emplace_back(Items{"Notes", report.notes}); }
    return document;
}

Sheet sheet_of(GraphReport const& report) {
    Sheet sheet{
        {"workers", "lower_bound", "brent_bound", "graham_bound", "greedy_time", "utilization", "speedup", "unit"}, {}};
    auto const cell = [](std::optional<double> value) { return value ? exact(*value) : std::string{}; };
    for (GraphSchedule const& schedule : report.schedules) {
        std::optional<double> greedy;
        if (schedule.greedy) { greedy = report.amount(*schedule.greedy); }
        sheet.rows.push_back({std::to_string(schedule.workers), exact(report.amount(schedule.lower)),
                              exact(report.amount(schedule.brent)), exact(report.amount(schedule.graham)), cell(greedy),
                              cell(utilization(report, schedule)), cell(speedup(report, schedule)),
                              report.graph().unit});
    }
    return sheet;
}

} // namespace headroom::cli
