#include "graph/graph_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <map>

namespace headroom::cli {
namespace {

constexpr std::size_t longest_table = 12; ///< rows of a path or of resources

// ---- tables -----------------------------------------------------------------------------------------------------

std::string or_dash(std::optional<std::string> const& text) { return text.value_or("-"); }

Table schedule_table(GraphAnswer const& report) {
    std::string const& unit = report.graph().unit;
    bool const in_cells = unit.empty() || unit == "seconds";
    auto const marked = report.efficient_row();
    Table table{
        "Time on equal workers" + (in_cells ? "" : ", in " + printable(unit)) +
            (marked ? " (marked: the last that is " + ratio_words(100.0 * report.question.efficiency) + " % efficient)"
                    : ""),
        {"workers", "ideal", "lower bound", "greedy", "Graham", "Brent", "ratio", "speedup", "busy %"},
        {},
        marked};
    bool const timed = unit == "seconds";
    if (timed) { table.columns.push_back("worker-hours"); }
    for (GraphSchedule const& schedule : report.schedules) {
        auto const fast = report.speedup(schedule.greedy), busy = report.utilization(schedule);
        auto const ratio = report.over_ideal(schedule), hours = report.worker_hours(schedule);
        table.rows.push_back({std::to_string(schedule.workers), amount_words(report, report.ideal(schedule)),
                              amount_words(report, schedule.lower),
                              schedule.greedy ? amount_words(report, static_cast<double>(*schedule.greedy)) : "-",
                              amount_words(report, schedule.graham), amount_words(report, schedule.brent),
                              or_dash(ratio ? std::optional{significant(*ratio)} : std::nullopt),
                              or_dash(fast ? std::optional{significant(*fast) + "x"} : std::nullopt),
                              or_dash(busy ? std::optional{percent(*busy)} : std::nullopt)});
        if (timed) { table.rows.back().push_back(hours ? significant(*hours) : "-"); }
    }
    return table;
}

Table kind_table(GraphAnswer const& report) {
    Table table{"Kinds of tasks", {wrapped("kind"), "tasks", "work", "of work %", "on path", "of depth %"}, {}, {}};
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
Table resource_table(GraphAnswer const& report) {
    struct Sort {
        std::size_t count = 0;
        std::int64_t capacity = 0;
        std::uint64_t tasks = 0;
        Ticks work = 0;
        double busiest = 0.0;
    };
    GraphPlacement const& placement = *report.placement;
    std::vector<Resource> const& resources = report.question.resources;
    bool const timed = placement.greedy.value_or(0) > 0;
    std::map<std::string, Sort> sorts;
    for (std::size_t i = 0; i < resources.size(); ++i) {
        Sort& sort = sorts[family_of(resources[i].name)];
        sort.count += 1;
        sort.capacity += resources[i].capacity;
        sort.tasks += placement.bounds.tasks[i];
        sort.work += placement.bounds.work[i];
        sort.busiest = std::max(sort.busiest, report.busy_share(i).value_or(0.0));
    }
    Table table{"Resources", {wrapped("resource"), "number", "places", "tasks", "work", "busiest %"}, {}, {}};
    for (auto const& [name, sort] : sorts) {
        if (table.rows.size() == 2 * longest_table) { break; }
        table.rows.push_back({printable(name), std::to_string(sort.count), std::to_string(sort.capacity),
                              std::to_string(sort.tasks), amount_words(report, static_cast<double>(sort.work)),
                              timed ? percent(sort.busiest) : "-"});
    }
    return table;
}

Table path_table(GraphAnswer const& report) {
    auto const& tasks = report.measured.critical_path;
    TaskGraph const& graph = report.graph();
    bool const cut = tasks.size() > longest_table, of_kinds = !graph.kinds.empty();
    Table table{"Critical path", {wrapped("task")}, {}, {}};
    if (cut) { table.title += ": its first " + std::to_string(longest_table) + " of " + counted(tasks.size(), "task"); }
    if (of_kinds) { table.columns.push_back(wrapped("kind")); }
    table.columns.insert(table.columns.end(), {"cost", "ends at"});
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

std::string graph_words(GraphAnswer const& report) {
    TaskGraph const& graph = report.graph();
    return printable(graph.name) + ": " + counted(graph.dag.size(), "task") + " and " +
           counted(graph.dag.edge_count(), "edge") + " in " + counted(report.levels, "level") + ", the fullest of " +
           counted(report.widest, "task");
}

std::string measure_words(GraphAnswer const& report) {
    std::string text = "work " + amount_words(report, static_cast<double>(report.measured.work)) + ", depth " +
                       amount_words(report, static_cast<double>(report.measured.depth), true);
    if (report.parallelism()) { text += ", parallelism " + ratio_words(*report.parallelism()); }
    return text;
}

std::string burden_words(GraphAnswer const& report) {
    double const depth = static_cast<double>(*report.burdened_depth);
    std::string text = amount_words(report, static_cast<double>(*report.question.burden), true) +
                       " an edge make the depth " + amount_words(report, depth);
    if (depth > 0.0) { text += ", parallelism " + ratio_words(static_cast<double>(report.measured.work) / depth); }
    return text;
}

std::string placed_words(GraphAnswer const& report) {
    GraphPlacement const& placement = *report.placement;
    std::string const time =
        placement.greedy ? amount_words(report, static_cast<double>(*placement.greedy), true) : "not simulated";
    return time + " by the greedy schedule; between " + amount_words(report, placement.bounds.lower) + " and " +
           amount_words(report, placement.bounds.upper) + " by the bounds";
}

} // namespace

Document document_of(GraphAnswer const& report, io::Catalog const& catalog) {
    Document document{"Graph " + printable(report.graph().name), {}, footer(catalog, "")};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{report.verdict, "", true});
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
    Part const part = report.question.is_file ? Part::warning : Part::usual; // those of a builder explain its costs
    if (!report.notes.empty()) { blocks.emplace_back(Items{"Notes", report.notes, part}); }
    return document;
}

} // namespace headroom::cli
