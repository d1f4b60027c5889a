#include "plan/plan_report.hpp"
#include "predict/prediction_report.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>

namespace headroom::cli::verb_plan {
namespace {

std::string counted_workers(int workers) { return std::to_string(workers) + (workers == 1 ? " worker" : " workers"); }

/// Points of the curve that a chart can show.
std::vector<std::size_t> feasible(Plan const& plan) {
    std::vector<std::size_t> points;
    for (std::size_t i = 0; i < plan.curve.size(); ++i) {
        if (plan.curve[i].feasible && plan.curve[i].prediction) { points.push_back(i); }
    }
    return points;
}

/// Where the recommended size stands among these points.
std::optional<std::size_t> chosen_of(Plan const& plan, std::vector<std::size_t> const& points) {
    auto const at = plan.recommended ? std::ranges::find(points, *plan.recommended) : points.end();
    return at == points.end() ? std::nullopt
                              : std::optional<std::size_t>{static_cast<std::size_t>(at - points.begin())};
}

// ---- speedup --------------------------------------------------------------------------------------------------

/// Whether the recommended size is the knee: nothing else was asked to decide.
bool chooses_knee(PlanQuestion const& question) {
    return question.objective == Objective::knee && !question.deadline && !question.budget && !question.value_of_time;
}

CurvePoint const& fastest(Plan const& plan, std::vector<std::size_t> const& points) {
    return plan.curve[*std::ranges::max_element(points, {}, [&](std::size_t i) { return plan.curve[i].speedup; })];
}

/// The speedup that no size exceeds while the fastest one's serial share stays what it is; empty where nothing is
/// serial.
std::optional<double> ceiling_of(CurvePoint const& best) {
    double const ceiling = best.speedup * best.prediction->speedup_ceiling;
    return ceiling > 0.0 ? std::optional{ceiling} : std::nullopt;
}

std::string speedup_caption(Plan const& plan, std::vector<std::size_t> const& points) {
    CurvePoint const& first = plan.curve[points.front()];
    CurvePoint const& best = fastest(plan, points);
    std::string text = "How many times as fast as on " + counted_workers(first.workers) + ": up to " +
                       significant(best.speedup) + "x, on " + counted_workers(best.workers) +
                       ", where ideal would be " + significant(static_cast<double>(best.workers) / first.workers) +
                       "x. The band is the " + percent(best.prediction->interval.coverage, 2) + " % interval.";
    if (ceiling_of(best)) {
        text += " No number of workers exceeds the ceiling while the serial share of the step stays as on " +
                counted_workers(best.workers) + ", " + percent(best.prediction->serial.value) + " %.";
    }
    return text;
}

std::vector<Rule> speedup_rules(Plan const& plan, std::vector<std::size_t> const& points) {
    std::vector<Rule> rules;
    if (auto const ceiling = ceiling_of(fastest(plan, points))) {
        rules.push_back({false, *ceiling, "ceiling " + significant(*ceiling) + "x"});
    }
    bool const has_knee = plan.recommended && chooses_knee(plan.question);
    int const knee = has_knee ? plan.curve[*plan.recommended].workers : 0;
    bool const has_stop = plan.stop.workers && *plan.stop.workers < plan.curve[points.back()].workers;
    if (has_knee) {
        bool const both = has_stop && *plan.stop.workers == knee;
        rules.push_back(
            {true, static_cast<double>(knee), (both ? "knee and stop: " : "knee: ") + std::to_string(knee)});
        if (both) { return rules; }
    }
    if (has_stop) {
        rules.push_back({true, static_cast<double>(*plan.stop.workers), "stop: " + std::to_string(*plan.stop.workers)});
    }
    return rules;
}

/// Speedup as the curve has it, with the interval of the step carried over.
Chart speedup_chart(Plan const& plan, std::vector<std::size_t> const& points) {
    Series predicted{.name = "predicted", .mark = Mark::line}, band{.name = "", .mark = Mark::band},
        ideal{.name = "ideal", .mark = Mark::dashed};
    double const first = plan.curve[points.front()].workers;
    for (std::size_t const i : points) {
        CurvePoint const& point = plan.curve[i];
        Prediction const& p = *point.prediction;
        for (Series* const series : {&predicted, &band, &ideal}) { series->x.push_back(point.workers); }
        predicted.y.push_back(point.speedup);
        band.low.push_back(point.speedup * (p.step() / p.interval.high));
        band.high.push_back(point.speedup * (p.step() / p.interval.low));
        ideal.y.push_back(point.workers / first);
    }
    band.name = percent(plan.curve[points.front()].prediction->interval.coverage, 2) + " % band";
    return {.title = "Speedup over the smallest size that fits",
            .caption = speedup_caption(plan, points),
            .x = {"workers", AxisScale::logarithmic},
            .y = {"speedup, x", AxisScale::logarithmic},
            .series = {std::move(predicted), std::move(ideal), std::move(band)},
            .rules = speedup_rules(plan, points),
            .chosen = chosen_of(plan, points)};
}

// ---- time against cost -----------------------------------------------------------------------------------------

std::optional<Chart> cost_chart(Plan const& plan, std::vector<std::size_t> points) {
    std::erase_if(points, [&](std::size_t i) { return !plan.curve[i].duration || !plan.curve[i].cost; });
    if (points.size() < 2) { return std::nullopt; }
    Series sizes{.name = "size, in workers", .mark = Mark::points}, best{.name = "", .mark = Mark::smooth};
    TimeScale const scale = scale_of_run(longest_run(plan).value_or(Seconds{}));
    auto const add = [&](Series& series, std::size_t i) {
        series.x.push_back(plan.curve[i].cost->base());
        series.y.push_back(plan.curve[i].duration->in(scale.unit));
    };
    for (std::size_t const i : points) {
        add(sizes, i);
        sizes.labels.push_back(std::to_string(plan.curve[i].workers));
    }
    best.name = "nothing is both faster and cheaper";
    std::vector<std::size_t> front = plan.pareto;
    std::erase_if(front, [&](std::size_t i) { return std::ranges::find(points, i) == points.end(); });
    std::ranges::sort(front, [&](std::size_t a, std::size_t b) { return plan.curve[a].cost < plan.curve[b].cost; });
    for (std::size_t const i : front) { add(best, i); }
    std::string text = "Each point is a size: to the left cheaper, below faster.";
    if (front.size() > 1) {
        CurvePoint const &cheap = plan.curve[front.front()], &fast = plan.curve[front.back()];
        text += " From " + counted_workers(cheap.workers) + " (" + significant(cheap.duration->in(scale.unit)) + " " +
                scale.name + ", " + scaled(cheap.cost->base()) + " $) to " + counted_workers(fast.workers) + " (" +
                significant(fast.duration->in(scale.unit)) + " " + scale.name + ", " + scaled(fast.cost->base()) +
                " $).";
    }
    Chart chart{.title = "Time against cost of the run",
                .caption = std::move(text),
                .x = {"cost, $", AxisScale::linear},
                .y = {"time, " + scale.name, AxisScale::logarithmic},
                .series = {std::move(sizes)},
                .rules = {},
                .chosen = chosen_of(plan, points)};
    if (front.size() > 1) { chart.series.push_back(std::move(best)); }
    return chart;
}

// ---- bars ------------------------------------------------------------------------------------------------------

/// Parts that take a millionth of the step at some size.
std::vector<bool> parts_shown(Plan const& plan, std::vector<std::size_t> const& points) {
    std::vector<bool> shown(named_parts(StepTime{}).size(), false);
    for (std::size_t const point : points) {
        StepTime const& time = plan.curve[point].prediction->time;
        auto const parts = named_parts(time);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            shown[i] = shown[i] || parts[i].second / time.total() >= 1e-6;
        }
    }
    return shown;
}

StackedBars step_shares(Plan const& plan, std::vector<std::size_t> const& points) {
    StackedBars bars{.title = "The step of each size", .unit = "%", .parts = {}, .labels = {}, .values = {}};
    bars.caption =
        "Time of a step by cause, each size's step as 100 %: the smaller the share of compute, the less another "
        "accelerator brings.";
    std::vector<bool> const shown = parts_shown(plan, points);
    for (std::size_t const point : points) {
        Prediction const& p = *plan.curve[point].prediction;
        bars.labels.push_back(counted_workers(plan.curve[point].workers));
        std::vector<double> row;
        bars.parts.clear();
        auto const parts = named_parts(p.time);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (!shown[i]) { continue; }
            bars.parts.push_back(parts[i].first);
            row.push_back(100.0 * (parts[i].second / p.step()));
        }
        bars.values.push_back(std::move(row));
    }
    return bars;
}

StackedBars memory_of_sizes(Plan const& plan, std::vector<std::size_t> const& points) {
    StackedBars bars = memory_bars(*plan.curve[points.front()].prediction);
    bars.title = "Memory of each size's fullest accelerator";
    bars.labels.clear();
    bars.values.clear();
    for (std::size_t const point : points) {
        bars.labels.push_back(counted_workers(plan.curve[point].workers));
        bars.values.push_back(memory_bars(*plan.curve[point].prediction).values.front());
    }
    return bars;
}

} // namespace

void add_charts(std::vector<Block>& blocks, Plan const& plan) {
    std::vector<std::size_t> const points = feasible(plan);
    if (points.empty()) { return; }
    if (points.size() > 1) { blocks.emplace_back(speedup_chart(plan, points)); }
    if (auto chart = cost_chart(plan, points)) { blocks.emplace_back(std::move(*chart)); }
    blocks.emplace_back(memory_of_sizes(plan, points));
    blocks.emplace_back(step_shares(plan, points));
}

} // namespace headroom::cli::verb_plan
