#include "plan/plan_report.hpp"

#include "document/text.hpp"
#include "left_out.hpp"
#include "measured_steps.hpp"
#include "plan/plan_charts.hpp"
#include "predict/prediction_report.hpp"
#include "setting_parts.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli {
namespace {

template <class Q> Json base_of(std::optional<Q> const& quantity) { return quantity ? Json{quantity->base()} : Json{}; }

Json days_of(std::optional<Seconds> const& duration) { return duration ? Json{duration->in(units::day)} : Json{}; }

double per_accelerator(Prediction const& prediction) { return prediction.tokens_per_second / prediction.workers; }

CurvePoint const* recommended(Plan const& plan) { return plan.recommended ? &plan.curve[*plan.recommended] : nullptr; }

// ---- JSON ------------------------------------------------------------------------------------------------------

Json alternatives_json(CurvePoint const& point, Workload const& workload) {
    Json list = Json::array();
    for (std::size_t i = 0; i < point.runners_up.size(); ++i) {
        list.push(Json::object()
                      .set("strategy", strategy_json(point.runners_up[i], workload))
                      .set("step_seconds", point.runners_up_step[i].base())
                      .set("memory_bytes",
                           i < point.runners_up_memory.size() ? Json{point.runners_up_memory[i].base()} : Json{}));
    }
    return list;
}

Json search_json(SearchCounts const& counts) {
    Json reasons = Json::object();
    for (auto const& [reason, count] : counts.infeasible_by_reason) { reasons.set(reason, count); }
    return Json::object()
        .set("legal", counts.legal)
        .set("evaluated", counts.evaluated)
        .set("feasible", counts.feasible)
        .set("pruned", counts.pruned)
        .set("infeasible_by_reason", reasons);
}

/// Every row has every key; what an infeasible size has not is null.
Json point_json(CurvePoint const& point, Workload const& workload) {
    Prediction const* p = point.prediction ? &*point.prediction : nullptr;
    auto const value = [p](auto&& of) { return p != nullptr ? Json{of(*p)} : Json{}; };
    Json row = Json::object();
    row.set("workers", point.workers)
        .set("feasible", point.feasible)
        .set("why_not", point.feasible ? Json{} : Json{point.why_not})
        .set("strategy", value([&](Prediction const& q) { return strategy_json(q.question.strategy, workload); }))
        .set("step_seconds", value([](Prediction const& q) { return q.step().base(); }))
        .set("interval_seconds", value([](Prediction const& q) {
                 return Json::array().push(q.interval.low.base()).push(q.interval.high.base());
             }))
        .set("interval_coverage", value([](Prediction const& q) { return q.interval.coverage; }))
        .set("measured", value(warm_json))
        .set("tokens_per_second", value([](Prediction const& q) { return q.tokens_per_second; }))
        .set("tokens_per_second_per_accelerator", value(per_accelerator))
        .set("samples_per_second", value(samples_per_second))
        .set("speedup", value([&](Prediction const&) { return point.speedup; }))
        .set("efficiency", value([&](Prediction const&) { return point.efficiency; }))
        .set("marginal_speedup_per_doubling", point.marginal_speedup_per_doubling)
        .set("mfu", value([](Prediction const& q) { return q.mfu; }))
        .set("hfu", value([](Prediction const& q) { return q.hfu; }))
        .set("gamma", value([](Prediction const& q) { return q.gamma; }))
        .set("memory_bytes", value([](Prediction const& q) { return q.memory.total().base(); }))
        .set("memory", value(memory_json))
        .set("breakdown", value([](Prediction const& q) { return breakdown_json(q.time); }))
        .set("exposed_communication", value([](Prediction const& q) { return exposed_json(q.time); }))
        .set("days", days_of(point.duration))
        .set("cost_dollars", base_of(point.cost))
        .set("tokens_per_dollar", point.tokens_per_dollar)
        .set("dollars_per_million_tokens", point.dollars_per_million_tokens)
        .set("search", search_json(point.counts));
    add_left_out(row, point);
    if (!point.runners_up.empty()) { row.set("alternatives", alternatives_json(point, workload)); }
    return row;
}

Json recommendation_json(Plan const& plan) {
    CurvePoint const* point = recommended(plan);
    if (point == nullptr) { return {}; }
    return Json::object()
        .set("workers", point->workers)
        .set("strategy", strategy_json(point->prediction->question.strategy, point->prediction->question.workload))
        .set("step_seconds", point->prediction->step().base())
        .set("mfu", point->prediction->mfu)
        .set("days", days_of(point->duration))
        .set("cost_dollars", base_of(point->cost))
        .set("verdict", plan.verdict)
        .set("reasons", Json::array_of(plan.reasons));
}

Json comparison_json(PlanComparison const& comparison, Plan const& other) {
    Json rows = Json::array();
    for (ComparisonRow const& row : comparison.rows) {
        rows.push(Json::object()
                      .set("workers", row.workers)
                      .set("workers2", row.workers2)
                      .set("step_seconds", base_of(row.step))
                      .set("step_seconds2", base_of(row.step2))
                      .set("cost_dollars", base_of(row.cost))
                      .set("cost_dollars2", base_of(row.cost2)));
    }
    return Json::object()
        .set("cluster2", cluster_json(other.question.cluster))
        .set("recommendation2", recommendation_json(other))
        .set("tie_price_dollars_per_hour",
             comparison.tie_price ? Json{comparison.tie_price->in(units::dollar / units::hour)} : Json{})
        .set("rows", rows)
        .set("verdict", comparison.verdict);
}

// ---- for people ------------------------------------------------------------------------------------------------

/// A strategy in as few letters as tell it: "tp8 pp4x2 dp16 z1 mb2 sel".
std::string compact(Strategy const& s) {
    std::string text;
    auto const add = [&text](std::string const& part) { text += (text.empty() ? "" : " ") + part; };
    if (s.tp > 1) { add("tp" + std::to_string(s.tp)); }
    if (s.pp > 1) { add("pp" + std::to_string(s.pp) + (s.virtual_pp > 1 ? "x" + std::to_string(s.virtual_pp) : "")); }
    auto const schedule = s.schedule();
    bool const told = schedule == PipelineSchedule::one_f_one_b || schedule == PipelineSchedule::interleaved;
    if (!told) { add(std::string{name_of(schedule)}); } // by the chunks
    if (s.cp > 1) { add("cp" + std::to_string(s.cp)); }
    if (s.ep > 1) { add("ep" + std::to_string(s.ep) + (s.etp > 1 ? "x" + std::to_string(s.etp) : std::string{})); }
    add("dp" + std::to_string(s.dp));
    if (s.zero > 0) { add("z" + std::to_string(s.zero)); }
    if (s.micro_batch > 1) { add("mb" + std::to_string(s.micro_batch)); }
    if (s.recompute != Recompute::none) { add(s.recompute == Recompute::full ? "full" : "sel"); }
    return text;
}

Table curve_table(Plan const& plan) {
    auto const any = [&plan](auto&& has) { return std::any_of(plan.curve.begin(), plan.curve.end(), has); };
    bool const days = any([](CurvePoint const& p) { return p.duration.has_value(); });
    bool const cost = any([](CurvePoint const& p) { return p.cost.has_value(); });
    bool const price = !cost && any([](CurvePoint const& p) { return p.dollars_per_million_tokens.has_value(); });
    bool const tokens = !plan.question.model.works_on_samples();
    Table table{.title = "",
                .columns = {{"workers"},
                            {"plan", Align::left, true},
                            {"step s"},
                            {tokens ? "tok/s/GPU" : "samples/s/GPU"},
                            {"MFU %"},
                            {"eff %"},
                            {"GiB"}},
                .rows = {},
                .marked = plan.recommended};
    bool const grows = plan.question.batch_per_worker.has_value();
    if (grows) { table.columns.insert(table.columns.begin() + 1, {"batch"}); }
    if (days) { table.columns.push_back({"days"}); }
    if (cost) { table.columns.push_back({"cost $"}); }
    if (price) { table.columns.push_back({tokens ? "$/Mtok" : "$/Msample"}); }
    for (CurvePoint const& point : plan.curve) {
        std::vector<std::string> row{std::to_string(point.workers)};
        if (grows) { row.push_back(std::to_string(point.global_batch)); }
        if (point.prediction) {
            Prediction const& p = *point.prediction;
            row.insert(row.end(),
                       {compact(p.question.strategy), significant(p.step().base()), significant(per_accelerator(p)),
                        percent(p.mfu), percent(point.efficiency), significant(p.memory.total().in(units::GiB))});
        } else {
            row.insert(row.end(),
                       {point.counts.feasible > 0 ? "no progress" : "nothing fits", "-", "-", "-", "-", "-"});
        }
        if (days) { row.push_back(point.duration ? significant(point.duration->in(units::day)) : "-"); }
        if (cost) { row.push_back(point.cost ? scaled(point.cost->base()) : "-"); }
        if (price) {
            row.push_back(point.dollars_per_million_tokens ? significant(*point.dollars_per_million_tokens) : "-");
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

/// Columns of the table below; those that are not `always` show where a size has any of it.
struct ShareColumn {
    char const* title;
    bool always;
    Seconds (*of)(StepTime const&);
};
constexpr std::array share_columns{
    ShareColumn{"compute", true, [](StepTime const& t) { return t.compute; }},
    ShareColumn{"host", true, [](StepTime const& t) { return t.host; }},
    ShareColumn{"exposed", true, [](StepTime const& t) { return t.exposed_communication(); }},
    ShareColumn{"bubble", true, [](StepTime const& t) { return t.pipeline_bubble; }},
    ShareColumn{"optimizer", true, [](StepTime const& t) { return t.optimizer; }},
    ShareColumn{"offload", false, [](StepTime const& t) { return t.offload; }},
    ShareColumn{"imbalance", false, [](StepTime const& t) { return t.imbalance; }},
    ShareColumn{"stragglers", false, [](StepTime const& t) { return t.stragglers; }},
    ShareColumn{"overhead", true, [](StepTime const& t) { return t.overhead; }},
};

/// The same step in per cent: sizes side by side, whatever their step.
Table share_table(Plan const& plan) {
    Table table{.title = "Where the step goes, %", .columns = {{"workers"}}, .rows = {}, .marked = {}};
    std::vector<ShareColumn> columns;
    for (ShareColumn const& column : share_columns) {
        bool const any = std::any_of(plan.curve.begin(), plan.curve.end(), [&](CurvePoint const& point) {
            return point.prediction && column.of(point.prediction->time).base() > 0.0;
        });
        if (!column.always && !any) { continue; }
        columns.push_back(column);
        table.columns.push_back({column.title});
    }
    for (std::size_t i = 0; i < plan.curve.size(); ++i) {
        if (!plan.curve[i].prediction) { continue; }
        StepTime const& t = plan.curve[i].prediction->time;
        if (plan.recommended == i) { table.marked = table.rows.size(); }
        std::vector<std::string> row{std::to_string(plan.curve[i].workers)};
        for (ShareColumn const& column : columns) { row.push_back(percent(column.of(t) / t.total())); }
        table.rows.push_back(std::move(row));
    }
    return table;
}

Table runners_up_table(CurvePoint const& point) {
    Table table{.title = "Best strategies on " + std::to_string(point.workers) + " workers",
                .columns = {{"plan", Align::left, true}, {"step s"}, {"vs best %"}, {"GiB"}},
                .rows = {},
                .marked = 0};
    Seconds const best = point.prediction->step();
    table.rows.push_back({short_name(point.prediction->question.strategy), significant(best.base(), 4), "0",
                          significant(point.prediction->memory.total().in(units::GiB))});
    for (std::size_t i = 0; i < point.runners_up.size(); ++i) {
        table.rows.push_back(
            {short_name(point.runners_up[i]), significant(point.runners_up_step[i].base(), 4),
             percent(point.runners_up_step[i] / best - 1.0),
             i < point.runners_up_memory.size() ? significant(point.runners_up_memory[i].in(units::GiB)) : "-"});
    }
    return table;
}

Table comparison_table(PlanComparison const& comparison, Plan const& first, Plan const& second) {
    std::string const a = first.question.cluster.name, b = second.question.cluster.name;
    Table table{
        .title = a + " against " + b,
        .columns = {{"workers"}, {"step s"}, {"cost $"}, {"workers 2"}, {"step 2 s"}, {"cost 2 $"}, {"speedup"}},
        .rows = {}};
    for (ComparisonRow const& row : comparison.rows) {
        auto const seconds = [](std::optional<Seconds> const& time) {
            return time ? significant(time->base()) : std::string{"-"};
        };
        auto const dollars = [](std::optional<Dollars> const& cost) {
            return cost ? scaled(cost->base()) : std::string{"-"};
        };
        table.rows.push_back({std::to_string(row.workers), seconds(row.step), dollars(row.cost),
                              std::to_string(row.workers2), seconds(row.step2), dollars(row.cost2),
                              row.step && row.step2 ? significant(*row.step / *row.step2) : "-"});
    }
    return table;
}

std::string infeasible_words(SearchCounts const& counts) {
    std::string text = std::to_string(counts.legal) + " legal strategies, " + std::to_string(counts.evaluated) +
                       " evaluated, " + std::to_string(counts.feasible) + " fit";
    if (counts.pruned > 0) { text += ", " + std::to_string(counts.pruned) + " pruned"; }
    for (auto const& [reason, count] : counts.infeasible_by_reason) {
        text += "; " + std::to_string(count) + " do not: " + reason;
    }
    return text;
}

std::string interval_line(Prediction const& p) {
    return interval_words(p) + " holds the step with " + percent(p.interval.coverage, 2) +
           " % probability, as far as published runs tell of " + std::string{words_of(p.interval.kind)} + " (" +
           percent(p.interval.low / p.step() - 1.0, 2) + " to +" + percent(p.interval.high / p.step() - 1.0, 2) + " %)";
}

/// The rule that chose the recommended size, in words.
std::string rule_words(PlanQuestion const& question) {
    std::string cheapest = question.cluster.price ? "the cheapest size" : "the size of the fewest accelerator-hours";
    if (question.deadline || question.budget) {
        return cheapest + " that meets the " +
               (question.deadline && question.budget ? "deadline and the budget"
                : question.deadline                  ? "deadline"
                                                     : "budget");
    }
    if (question.value_of_time) {
        return "the least of cost plus " + significant(question.value_of_time->in(units::dollar / units::hour)) +
               " $ for every hour that the run takes";
    }
    switch (question.objective) {
    case Objective::time: return "the fastest size";
    case Objective::cost: return cheapest;
    case Objective::knee: break;
    }
    return "the largest size whose last doubling still gave 1.6x";
}

void add_details(Document& document, PlanReport const& report) {
    Plan const& plan = report.plan;
    auto& blocks = document.blocks;
    if (CurvePoint const* point = recommended(plan)) {
        blocks.emplace_back(Paragraph{short_name(point->prediction->question.strategy) + ", " +
                                          batch_words(point->prediction->question.workload, plan.question.model) +
                                          ", " + plan.question.framework.name + pace_words(point->prediction->pace),
                                      "plan"});
        blocks.emplace_back(Paragraph{interval_line(*point->prediction), "interval"});
        if (auto text = warm_words(*point->prediction); !text.empty()) {
            blocks.emplace_back(Paragraph{std::move(text), "measured"});
        }
    }
    if (!plan.stop.reason.empty()) {
        std::string const at = plan.stop.workers ? std::to_string(*plan.stop.workers) + " workers: " : "";
        blocks.emplace_back(Paragraph{at + plan.stop.reason, "stop"});
    }
    blocks.emplace_back(Paragraph{rule_words(plan.question), "rule"});
    blocks.emplace_back(Paragraph{infeasible_words(plan.counts), "search"});
    if (report.search_seconds) {
        blocks.emplace_back(Paragraph{significant(*report.search_seconds) + " s, " +
                                          scaled(static_cast<double>(plan.counts.evaluated) / *report.search_seconds) +
                                          " evaluations/s, " + format_binary(Bytes{peak_memory_bytes()}),
                                      "this call"});
    }
}

} // namespace

std::vector<Metric> metrics_of(Plan const& plan) {
    CurvePoint const* point = recommended(plan);
    std::vector<Metric> metrics = metrics_of(point != nullptr ? *point->prediction : Prediction{});
    auto const of = [point](auto&& value) {
        return point != nullptr ? std::optional<double>{value(*point)} : std::nullopt;
    };
    metrics.push_back({"workers", of([](CurvePoint const& p) { return p.workers; })});
    metrics.push_back({"speedup", of([](CurvePoint const& p) { return p.speedup; })});
    metrics.push_back({"efficiency", of([](CurvePoint const& p) { return p.efficiency; })});
    return metrics;
}

Json json_of(PlanReport const& report) {
    Plan const& plan = report.plan;
    Workload const& work = plan.question.workload;
    Json curve = Json::array(), pareto = Json::array(), checklist = Json::array();
    for (CurvePoint const& point : plan.curve) {
        curve.push(point_json(point, point.prediction ? point.prediction->question.workload : work));
    }
    for (std::size_t const index : plan.pareto) {
        CurvePoint const& point = plan.curve[index];
        pareto.push(Json::object()
                        .set("workers", point.workers)
                        .set("step_seconds", point.prediction ? Json{point.prediction->step().base()} : Json{})
                        .set("days", days_of(point.duration))
                        .set("cost_dollars", base_of(point.cost)));
    }
    for (ChecklistItem const& item : plan.checklist) {
        checklist.push(Json::object().set("question", item.question).set("answer", item.answer));
    }
    Json json = result_head("plan", report.setting.catalog, report.setting.calibration.name);
    json.set("model", model_json(plan.question.model))
        .set("cluster", cluster_json(plan.question.cluster))
        .set("framework", plan.question.framework.name)
        .set("pace", plan.question.space.pace)
        .set("workload", workload_json(work, plan.question.tokens))
        .set("strategy_record", report.setting.strategy_record.empty() ? Json{} : Json{report.setting.strategy_record})
        .set("complete", plan.complete)
        .set("rule", rule_words(plan.question))
        .set("verdict", plan.verdict)
        .set("recommendation", recommendation_json(plan))
        .set("curve", curve)
        .set("stop", Json::object().set("workers", plan.stop.workers).set("reason", plan.stop.reason))
        .set("pareto", pareto)
        .set("search", search_json(plan.counts))
        .set("assumptions", assumptions_json(plan.assumptions))
        .set("constants", constants_json(report.setting.calibration))
        .set("checklist", checklist)
        .set("notes", Json::array_of(report.setting.notes));
    if (CurvePoint const* point = recommended(plan)) {
        add_left_out(json, *point->prediction, report.setting.calibration);
    } else {
        json.set("productive_days", Json{})
            .set("goodput", Json{})
            .set("statistics", Json{})
            .set("left_out", Json::array());
    }
    if (report.comparison && report.other) {
        json.set("comparison", comparison_json(*report.comparison, *report.other));
    }
    if (!report.gates.empty()) { json.set("gates", gates_json(report.gates)); }
    if (report.search_seconds && report.wall_seconds) {
        json.set("stats",
                 Json::object()
                     .set("wall_seconds", *report.wall_seconds)
                     .set("search_seconds", *report.search_seconds)
                     .set("evaluations_per_second", static_cast<double>(plan.counts.evaluated) / *report.search_seconds)
                     .set("peak_memory_bytes", peak_memory_bytes()));
    }
    return json;
}

Document document_of(PlanReport const& report) {
    Plan const& plan = report.plan;
    Document document{"Plan: " + plan.question.model.name + " on " + plan.question.cluster.name,
                      {},
                      footer(report.setting.catalog, report.setting.calibration.name)};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{plan.verdict, "", true});
    blocks.emplace_back(curve_table(plan));
    add_details(document, report);
    if (!plan.reasons.empty()) { blocks.emplace_back(Items{"Why", plan.reasons}); }
    add_charts(blocks, plan);
    if (plan.recommended) { blocks.emplace_back(share_table(plan)); }
    if (CurvePoint const* point = recommended(plan)) {
        add_left_out(blocks, *point->prediction, report.setting.calibration);
    }
    if (CurvePoint const* point = recommended(plan); point != nullptr && !point->runners_up.empty()) {
        blocks.emplace_back(runners_up_table(*point));
    }
    if (report.comparison && report.other) {
        blocks.emplace_back(comparison_table(*report.comparison, plan, *report.other));
        blocks.emplace_back(Paragraph{report.comparison->verdict, "against"});
    }
    if (!plan.checklist.empty()) {
        Items list{"Checklist", {}};
        for (ChecklistItem const& item : plan.checklist) { list.items.push_back(item.question + " " + item.answer); }
        blocks.emplace_back(std::move(list));
    }
    if (!plan.assumptions.empty()) { blocks.emplace_back(assumptions_table(plan.assumptions)); }
    blocks.emplace_back(Paragraph{provenance_summary(report.setting.calibration), "constants"});
    return document;
}

Sheet sheet_of(PlanReport const& report) {
    Sheet sheet{{"workers", "recommended", "feasible", "strategy", "step_seconds", "interval_low_seconds",
                 "interval_high_seconds", "tokens_per_second", "speedup", "efficiency", "marginal_speedup_per_doubling",
                 "mfu", "memory_bytes", "days", "cost_dollars", "tokens_per_dollar", "dollars_per_million_tokens",
                 "why_not"},
                {}};
    std::ranges::copy(left_out_columns(), std::back_inserter(sheet.header));
    std::size_t const cells = sheet.header.size() - left_out_columns().size();
    auto const maybe = [](std::optional<double> const& value) { return value ? exact(*value) : std::string{}; };
    for (std::size_t i = 0; i < report.plan.curve.size(); ++i) {
        CurvePoint const& point = report.plan.curve[i];
        std::vector<std::string> row{std::to_string(point.workers), report.plan.recommended == i ? "true" : "false",
                                     point.feasible ? "true" : "false"};
        if (point.prediction) {
            Prediction const& p = *point.prediction;
            row.insert(row.end(),
                       {short_name(p.question.strategy), exact(p.step().base()), exact(p.interval.low.base()),
                        exact(p.interval.high.base()), exact(p.tokens_per_second), exact(point.speedup),
                        exact(point.efficiency), maybe(point.marginal_speedup_per_doubling), exact(p.mfu),
                        exact(p.memory.total().base()), point.duration ? exact(point.duration->in(units::day)) : "",
                        point.cost ? exact(point.cost->base()) : "", maybe(point.tokens_per_dollar),
                        maybe(point.dollars_per_million_tokens)});
        } else {
            row.resize(cells - 1);
        }
        row.push_back(point.why_not);
        std::ranges::copy(left_out_cells(point), std::back_inserter(row));
        sheet.rows.push_back(std::move(row));
    }
    return sheet;
}

Json json_of(DryRun const& report) {
    Json sizes = Json::array();
    std::size_t total = 0;
    for (auto const& [workers, legal] : report.legal) {
        sizes.push(Json::object().set("workers", workers).set("legal", legal));
        total += legal;
    }
    Json json = result_head("plan", report.setting.catalog, report.setting.calibration.name);
    json.set("dry_run", true).set("sizes", sizes).set("legal", total);
    if (report.wall_seconds) { json.set("stats", stats_json(*report.wall_seconds)); }
    return json;
}

Document document_of(DryRun const& report) {
    Table table{.title = "Legal strategies", .columns = {{"workers"}, {"legal"}}, .rows = {}};
    for (auto const& [workers, legal] : report.legal) {
        table.rows.push_back({std::to_string(workers), std::to_string(legal)});
    }
    return {"Plan, not run: " + report.setting.model.name + " on " + report.setting.cluster.name,
            {table},
            footer(report.setting.catalog, report.setting.calibration.name)};
}

Sheet sheet_of(DryRun const& report) {
    Sheet sheet{{"workers", "legal"}, {}};
    for (auto const& [workers, legal] : report.legal) {
        sheet.rows.push_back({std::to_string(workers), std::to_string(legal)});
    }
    return sheet;
}

} // namespace headroom::cli
