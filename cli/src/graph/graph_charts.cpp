#include "graph/graph_report.hpp"

#include "headroom/document/chrome_trace.hpp"
#include "headroom/document/json.hpp"
#include "headroom/document/text.hpp"
#include "headroom/laws/graph_answer.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr std::size_t most_bars = 64; ///< levels that are drawn one bar each

Chart speedup_chart(GraphAnswer const& report) {
    auto const work = static_cast<double>(report.measured.work);
    Series greedy{.name = "greedy schedule", .mark = Mark::points};
    Series between{.name = "bounds", .mark = Mark::band};
    Series ideal{.name = "ideal", .mark = Mark::dashed};
    for (GraphSchedule const& schedule : report.schedules) {
        auto const workers = static_cast<double>(schedule.workers);
        between.x.push_back(workers);
        between.y.push_back(work / schedule.graham);
        between.low.push_back(work / schedule.graham);
        between.high.push_back(work / schedule.lower);
        ideal.x.push_back(workers);
        ideal.y.push_back(workers);
        if (!schedule.greedy) { continue; }
        greedy.x.push_back(workers);
        greedy.y.push_back(work / static_cast<double>(*schedule.greedy));
    }
    std::string const parallelism = ratio_words(report.parallelism().value_or(1.0));
    Chart chart{.title = "Speedup over one worker",
                .caption =
                    "Every greedy schedule lies in the band: at most what the lower bound on time allows, at least "
                    "what Graham's bound promises. The curve bends where depth takes over, towards the ceiling of " +
                    parallelism + "x: work W over depth D. The chosen count is the last that is " +
                    ratio_words(100.0 * report.question.efficiency) + " % efficient.",
                .x = {.title = "workers", .scale = AxisScale::logarithmic},
                .y = {.title = "speedup", .scale = AxisScale::logarithmic},
                .series = {std::move(greedy), std::move(between), std::move(ideal)},
                .rules = {{.vertical = false,
                           .at = report.parallelism().value_or(1.0),
                           .label = "ceiling " + parallelism + "x"}},
                .chosen = {}};
    auto const best = report.efficient_row();
    for (std::size_t i = 0; best && i < chart.series.front().x.size(); ++i) {
        if (chart.series.front().x[i] == static_cast<double>(report.schedules[*best].workers)) { chart.chosen = i; }
    }
    auto const crossover = crossover_workers(report.measured.work, report.measured.depth);
    if (crossover) {
        chart.rules.push_back({.vertical = true,
                               .at = static_cast<double>(*crossover),
                               .label = "D > W/K from " + std::to_string(*crossover)});
    }
    return chart;
}

Chart level_chart(GraphAnswer const& report) {
    bool const each = report.bins.size() == report.levels;
    Series tasks{.name = each ? "tasks" : "tasks of the fullest level",
                 .mark = report.levels <= most_bars ? Mark::bars : Mark::smooth};
    for (LevelBin const& bin : report.bins) {
        tasks.x.push_back(0.5 * static_cast<double>(bin.first + bin.last));
        tasks.y.push_back(static_cast<double>(bin.widest));
    }
    std::string const together = each ? "" : " Of neighbouring levels the fullest is drawn.";
    return {.title = "Tasks by level",
            .caption = "How many tasks are equally many edges from the beginning: what could run side by side. The "
                       "fullest of " +
                       std::to_string(report.levels) + " levels has " + std::to_string(report.widest) + "." + together,
            .x = {.title = "level"},
            .y = {.title = "tasks"},
            .series = {std::move(tasks)},
            .rules = {},
            .chosen = {}};
}

/// The kinds with the most work or path, the others together.
StackedBars kind_bars(GraphAnswer const& report) {
    constexpr std::size_t most_parts = 8;
    std::vector<KindShare> kinds = report.kinds;
    double const work = static_cast<double>(report.measured.work), depth = static_cast<double>(report.measured.depth);
    auto const weight = [&](KindShare const& share) {
        return std::max(static_cast<double>(share.work) / work, static_cast<double>(share.critical_work) / depth);
    };
    std::stable_sort(kinds.begin(), kinds.end(), [&](auto const& a, auto const& b) { return weight(a) > weight(b); });
    StackedBars bars{.title = "Kinds of tasks in the work and on the critical path",
                     .unit = "%",
                     .parts = {},
                     .labels = {"work", "critical path"},
                     .values = {{}, {}}};
    bars.caption =
        "Each kind's share of all work, and of the critical path: what is longer on the path than in the work "
        "is what limits the speedup.";
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (i < most_parts) {
            bars.parts.push_back(i + 1 == most_parts && kinds.size() > most_parts ? "other" : printable(kinds[i].kind));
            for (auto& row : bars.values) { row.push_back(0.0); }
        }
        bars.values[0].back() += 100.0 * static_cast<double>(kinds[i].work) / work;
        bars.values[1].back() += 100.0 * static_cast<double>(kinds[i].critical_work) / depth;
    }
    return bars;
}

/// As many tasks in every level: a figure of it would be a box.
bool is_level(GraphAnswer const& report) {
    return std::ranges::all_of(report.bins, [&](LevelBin const& bin) { return bin.widest == report.widest; });
}

auto working_kinds(GraphAnswer const& report) {
    return std::ranges::count_if(report.kinds, [](KindShare const& share) { return share.work > 0; });
}

} // namespace

std::vector<Block> charts_of(GraphAnswer const& report) {
    std::vector<Block> blocks;
    bool const has_work = report.measured.work > 0;
    if (has_work && report.schedules.size() > 1) { blocks.emplace_back(speedup_chart(report)); }
    if (report.levels > 1 && !is_level(report)) { blocks.emplace_back(level_chart(report)); }
    if (has_work && working_kinds(report) > 1) { blocks.emplace_back(kind_bars(report)); }
    return blocks;
}

namespace {

/// Digits that tell ticks of down to a picosecond apart, and no exponent.
std::string time_text(Ticks ticks, double microseconds_per_tick) {
    if (microseconds_per_tick == 1.0) { return std::to_string(ticks); }
    return exact(std::round(static_cast<double>(ticks) * microseconds_per_tick * 1e6) / 1e6);
}

} // namespace

std::string graph_trace(Timeline const& timeline, TaskGraph const& graph) {
    bool const timed = graph.unit == "seconds";
    double const microseconds = timed ? 1e6 * graph.per_tick : 1.0;
    std::string const unit = graph.unit.empty() ? "the file's units" : graph.unit;
    ChromeTrace trace{timed ? "time" : "a microsecond is one of " + unit, timeline.size()};
    trace.name_process(0, graph.name);
    for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
        trace.name_thread(0, static_cast<int>(lane), timeline.lanes[lane]);
    }
    for (std::size_t i = 0; i < timeline.size(); ++i) {
        std::uint32_t const task = timeline.name[i];
        std::string_view const kind = graph.kinds.empty() ? "task" : kind_name(graph, task);
        std::array const arguments{TraceArgument{"task", std::int64_t{task}}};
        trace.add({.thread = static_cast<int>(timeline.lane[i]),
                   .name = graph.names.empty() ? kind : std::string_view{graph.names[task]},
                   .category = kind,
                   .begin = time_text(timeline.begin[i], microseconds),
                   .duration = time_text(timeline.end[i] - timeline.begin[i], microseconds)},
                  arguments);
    }
    return std::move(trace).text();
}

} // namespace headroom::cli
