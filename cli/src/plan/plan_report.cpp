#include "plan/plan_report.hpp"

#include "left_out.hpp"
#include "measured_steps.hpp"
#include "predict/prediction_report.hpp"
#include "setting_words.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli::verb_plan {
namespace {

// ---- for people ------------------------------------------------------------------------------------------------

/// Whether trained matrices of low rank have trained lengths, too.
bool scales(Strategy const& s) { return (s.adapter_modules & adapter_module::magnitudes) != 0; }

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
    if (s.recompute == Recompute::selective) { add("sel"); }
    if (s.recompute == Recompute::modules) { add("parts"); }
    bool const named = s.recompute == Recompute::none || s.recompute == Recompute::selective;
    if (!named && s.recompute != Recompute::modules) { add(spelled_recomputation(s)); }
    if (s.trained == Trained::lora) { add(scales(s) ? "dora" : "lora"); }
    return text;
}

/// The strategy in words: "tensor 4 with sequence parallelism, pipeline 4 (10 chunks a stage), data 32, ZeRO 1, micro-batch 1".
std::string spoken(Strategy const& s) {
    std::vector<std::string> parts;
    auto const add = [&parts](char const* name, int degree) {
        if (degree > 1) { parts.push_back(name + std::to_string(degree)); }
    };
    add("tensor ", s.tp);
    if (s.tp > 1 && s.sequence_parallel) { parts.back() += " with sequence parallelism"; }
    add("context ", s.cp);
    add("pipeline ", s.pp);
    if (s.pp > 1 && s.virtual_pp > 1) { parts.back() += " (" + std::to_string(s.virtual_pp) + " chunks a stage)"; }
    add("expert ", s.ep);
    parts.push_back("data " + std::to_string(s.dp));
    if (s.zero > 0) { parts.push_back("ZeRO " + std::to_string(s.zero)); }
    parts.push_back("micro-batch " + std::to_string(s.micro_batch));
    if (s.recompute != Recompute::none) { parts.push_back("recomputation " + spelled_recomputation(s)); }
    if (s.trained == Trained::lora) { parts.emplace_back(scales(s) ? "DoRA" : "LoRA"); }
    return join(parts, ", ");
}

/// Meanings of the letters of `compact` and `short_name` that the table uses.
std::string names_line(Plan const& plan) {
    struct Letters {
        char const* words;
        bool (*used)(Strategy const&);
    };
    static constexpr std::array all{
        Letters{"dp data", [](Strategy const&) { return true; }},
        Letters{", tp tensor", [](Strategy const& s) { return s.tp > 1; }},
        Letters{", sp sequence", [](Strategy const& s) { return s.tp > 1 && s.sequence_parallel; }},
        Letters{", cp context", [](Strategy const& s) { return s.cp > 1; }},
        Letters{", ep expert", [](Strategy const& s) { return s.ep > 1; }},
        Letters{", pp pipeline", [](Strategy const& s) { return s.pp > 1; }},
        Letters{" parallelism", [](Strategy const&) { return true; }},
        Letters{"; x, vp chunks a stage", [](Strategy const& s) { return s.virtual_pp > 1; }},
        Letters{"; z, zero ZeRO stage", [](Strategy const& s) { return s.zero > 0; }},
        Letters{"; mb micro-batch", [](Strategy const&) { return true; }},
        Letters{"; full, sel, parts recomputation", [](Strategy const& s) { return s.recompute != Recompute::none; }}};
    std::string line;
    for (Letters const& one : all) {
        bool const used = std::ranges::any_of(plan.curve, [&one](CurvePoint const& point) {
            return point.prediction && one.used(point.prediction->question.strategy);
        });
        if (used) { line += one.words; }
    }
    return line;
}

Table curve_table(Plan const& plan) {
    auto const any = [&plan](auto&& has) { return std::any_of(plan.curve.begin(), plan.curve.end(), has); };
    auto const longest = longest_run(plan);
    TimeScale const scale = scale_of_run(longest.value_or(Seconds{}));
    bool const cost = any([](CurvePoint const& p) { return p.cost.has_value(); });
    bool const price = !cost && any([](CurvePoint const& p) { return p.dollars_per_million_tokens.has_value(); });
    bool const tokens = !plan.question.model.works_on_samples();
    Table table{.title = "",
                .columns = {"workers", wrapped("plan"), "step s", spare(tokens ? "tok/s/GPU" : "samples/s/GPU"),
                            spare("MFU %"), spare("eff %"), spare("GiB")},
                .marked = plan.recommended};
    bool const grows = plan.question.batch_per_worker.has_value();
    if (grows) { table.columns.insert(table.columns.begin() + 1, {"batch"}); }
    if (longest) { table.columns.push_back(scale.name); }
    if (cost) { table.columns.push_back("cost $"); }
    if (price) { table.columns.push_back(tokens ? "$/Mtok" : "$/Msample"); }
    for (CurvePoint const& point : plan.curve) {
        std::vector<std::string> row{std::to_string(point.workers)};
        if (grows) { row.push_back(std::to_string(point.global_batch)); }
        if (point.prediction) {
            Prediction const& p = *point.prediction;
            row.insert(row.end(), {compact(p.question.strategy), significant(p.step().base()),
                                   significant(tokens_per_second_per_accelerator(p)), percent(p.mfu),
                                   percent(point.efficiency), significant(p.memory.total().in(units::GiB))});
        } else {
            std::string const why = point.counts.feasible > 0 ? "no progress"
                                    : point.given_up          ? "fits with " + percent(point.given_up->fits, 2) + " %"
                                                              : "nothing fits";
            row.insert(row.end(), {why, "-", "-", "-", "-", "-"});
        }
        if (longest) { row.push_back(point.duration ? significant(point.duration->in(scale.unit)) : "-"); }
        if (cost) { row.push_back(point.cost ? scaled(point.cost->base()) : "-"); }
        if (price) {
            row.push_back(point.dollars_per_million_tokens ? significant(*point.dollars_per_million_tokens) : "-");
        }
        table.rows.push_back(std::move(row));
        table.hints.push_back(point.prediction ? spoken(point.prediction->question.strategy) : point.why_not);
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
    ShareColumn{"launch", true, [](StepTime const& t) { return t.host; }},
    ShareColumn{"exposed", true, [](StepTime const& t) { return t.exposed_communication(); }},
    ShareColumn{"bubble", true, [](StepTime const& t) { return t.pipeline_bubble; }},
    ShareColumn{"optimizer", true, [](StepTime const& t) { return t.optimizer; }},
    ShareColumn{"offload", false, [](StepTime const& t) { return t.offload; }},
    ShareColumn{"imbalance", false, [](StepTime const& t) { return t.imbalance; }},
    ShareColumn{"stragglers", false, [](StepTime const& t) { return t.stragglers; }},
    ShareColumn{"overhead", true, [](StepTime const& t) { return t.overhead; }},
};

/// Table of the step's parts in per cent, one column a size.
Table share_table(Plan const& plan) {
    Table table{.title = "Where the step goes, %", .columns = {"workers"}, .marked = {}};
    std::vector<ShareColumn> columns;
    for (ShareColumn const& column : share_columns) {
        bool const any = std::any_of(plan.curve.begin(), plan.curve.end(), [&](CurvePoint const& point) {
            return point.prediction && column.of(point.prediction->time).base() > 0.0;
        });
        if (!column.always && !any) { continue; }
        columns.push_back(column);
        table.columns.push_back(column.title);
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
                .columns = {wrapped("plan"), "step s", "vs best %", "GiB"},
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
    Table table{.title = a + " against " + b,
                .columns = {"workers", "step s", "cost $", "workers 2", "step 2 s", "cost 2 $", "speedup"}};
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
    return interval_words(p) + " per step (" + percent(p.interval.low / p.step() - 1.0, 2) + " to +" +
           percent(p.interval.high / p.step() - 1.0, 2) + " %), from errors on " + evidence_words(p);
}

void add_details(Document& document, PlanReport const& report) {
    Plan const& plan = report.answer.plan;
    auto& blocks = document.blocks;
    if (CurvePoint const* point = recommended_point(plan)) {
        blocks.emplace_back(Paragraph{short_name(point->prediction->question.strategy) + ", " +
                                          batch_words(point->prediction->question.workload, plan.question.model) +
                                          ", " + plan.question.framework.name + pace_words(point->prediction->pace),
                                      "plan"});
        blocks.emplace_back(Paragraph{names_line(plan), "names"});
        blocks.emplace_back(Paragraph{interval_line(*point->prediction),
                                      percent(point->prediction->interval.coverage, 2) + " % interval"});
        if (auto text = warm_words(*point->prediction); !text.empty()) {
            blocks.emplace_back(Paragraph{std::move(text), "measured"});
        }
        if (auto text = words_of(report.answer.narrows); !text.empty()) {
            blocks.emplace_back(Paragraph{std::move(text), "to narrow it"});
        }
    }
    if (!plan.stop.reason.empty()) {
        std::string const at = plan.stop.workers ? std::to_string(*plan.stop.workers) + " workers: " : "";
        blocks.emplace_back(Paragraph{at + plan.stop.reason, "stop"});
    }
    blocks.emplace_back(Paragraph{rule_words(plan.question), "rule"});
    blocks.emplace_back(Paragraph{infeasible_words(plan.counts), "search"});
    if (report.stats) {
        blocks.emplace_back(Paragraph{significant(*report.stats->search_seconds) + " s, " +
                                          scaled(*report.stats->evaluations_per_second) + " evaluations/s, " +
                                          format_binary(Bytes{report.stats->peak_memory_bytes}),
                                      "this call"});
    }
}

} // namespace

std::optional<Seconds> longest_run(Plan const& plan) {
    std::optional<Seconds> longest;
    for (CurvePoint const& point : plan.curve) { longest = std::max(longest, point.duration); }
    return longest;
}

std::string rule_words(PlanQuestion const& question) {
    std::string cheapest = question.cluster.price ? "the cheapest size" : "the size of the fewest accelerator-hours";
    if (question.deadline || question.budget) {
        return (question.objective == Objective::time ? "the fastest size" : cheapest) + " that meets the " +
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

namespace {

constexpr std::size_t most_reasons = 3;

/// Fields that nobody stated; a default batch with the effect of uneven sizes on it.
Paragraph assumed_on_screen(PlanReport const& report, std::string const& rest, std::size_t most) {
    auto assumptions = report.answer.plan.assumptions;
    for (Assumption& one : assumptions) {
        bool const noted = one.field == "global_batch" && !report.setting.batch_note.empty();
        if (noted) { one.value += " (" + report.setting.batch_note + ")"; }
    }
    return assumed_in_short(assumptions, rest, most);
}

/// The first reasons, what nobody stated and the command: what one screen has in addition to verdict and curve.
void add_short_details(Document& document, PlanReport const& report, std::size_t reasons, ScreenSize screen) {
    Plan const& plan = report.answer.plan;
    auto& blocks = document.blocks;
    std::size_t const hidden = plan.curve.size() - std::get<Table>(blocks.back()).rows.size();
    if (hidden > 0) { blocks.emplace_back(Paragraph{counted(hidden, "size") + ": --full", "not shown"}); }
    for (std::size_t i = 0; i < std::min(reasons, plan.reasons.size()); ++i) {
        blocks.emplace_back(Paragraph{plan.reasons[i], i == 0 ? "why" : "and"});
    }
    if (report.answer.comparison && report.answer.other) {
        blocks.emplace_back(comparison_table(*report.answer.comparison, plan, *report.answer.other));
        blocks.emplace_back(Paragraph{report.answer.comparison->verdict, "against"});
    }
    CurvePoint const* point = recommended_point(plan);
    if (point != nullptr && !point->runners_up.empty()) { blocks.emplace_back(runners_up_table(*point)); }
    if (point != nullptr && std::ranges::any_of(report.answer.left_out, &LeftOutTerm::on)) {
        add_left_out_in_short(blocks, *point->prediction, report.answer.left_out);
    }
    blocks.emplace_back(assumed_on_screen(report, "--full has all, with reasons", 4));
    if (!report.answer.command.empty()) { blocks.emplace_back(command_block(report.answer.command, screen)); }
}

/// One screen of so many sizes and reasons, whatever its lines.
Document screen_of(PlanReport const& report, std::size_t sizes, std::size_t reasons, ScreenSize screen) {
    Plan const& plan = report.answer.plan;
    Document document{"Plan: " + plan.question.model.name + " on " + plan.question.cluster.name, {}, ""};
    document.blocks.emplace_back(Paragraph{unknown_model_words(report.setting.model) + plan.verdict, "", true});
    Table curve = curve_table(plan);
    leave_out_rows(curve, sizes);
    narrow(curve, screen.width);
    document.blocks.emplace_back(std::move(curve));
    add_short_details(document, report, reasons, screen);
    if (report.stats) { document.blocks.emplace_back(call_paragraph(*report.stats)); }
    return document;
}

/// Shortens what a narrow screen has no room for: effects and assumptions, then leaves out the command.
void shorten(Document& document, PlanReport const& report, ScreenSize screen) {
    auto& blocks = document.blocks;
    auto const labelled = [&blocks](char const* label) {
        return std::ranges::find_if(blocks, [label](Block const& block) {
            auto const* paragraph = std::get_if<Paragraph>(&block);
            return paragraph != nullptr && paragraph->label == label;
        });
    };
    if (auto const assumed = labelled("assumed"); assumed != blocks.end()) {
        *assumed = assumed_on_screen(report, "--full has all", 2);
    }
    for (char const* label : {"target", "not counted", "run"}) {
        if (fits_screen(document, screen)) { return; }
        if (auto const found = labelled(label); found != blocks.end()) { blocks.erase(found); }
    }
    if (!fits_screen(document, screen) && std::holds_alternative<Verbatim>(blocks.back())) {
        blocks.back() = Paragraph{"the command of this plan: --full has it", "left out"};
    }
}

} // namespace

Document screen_document(PlanReport const& report, ScreenSize screen) {
    constexpr std::size_t most_sizes = 12, fewest_sizes = 3;
    std::size_t const all = std::min(most_sizes, report.answer.plan.curve.size());
    for (std::size_t reasons = most_reasons + 1; reasons-- > 0;) {
        Document document = screen_of(report, all, reasons, screen);
        if (fits_screen(document, screen)) { return document; }
    }
    for (std::size_t sizes = all; sizes-- > fewest_sizes;) {
        Document document = screen_of(report, sizes, 0, screen);
        if (fits_screen(document, screen)) { return document; }
    }
    Document document = screen_of(report, fewest_sizes, 0, screen);
    shorten(document, report, screen);
    return document;
}

Document document_of(PlanReport const& report, Medium medium) {
    Plan const& plan = report.answer.plan;
    Document document{"Plan: " + plan.question.model.name + " on " + plan.question.cluster.name,
                      {},
                      footer(report.setting.catalog, report.setting.calibration.name)};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{unknown_model_words(report.setting.model) + plan.verdict, "", true});
    blocks.emplace_back(curve_table(plan));
    bool const page = medium == Medium::page;
    if (page && !plan.reasons.empty()) { blocks.emplace_back(Items{"Why", plan.reasons}); }
    if (page) { blocks.emplace_back(assumed_in_short(plan.assumptions, "the table below has all, with reasons")); }
    if (page && !report.answer.command.empty()) { blocks.emplace_back(command_block(report.answer.command, {})); }
    add_details(document, report);
    if (!page && !plan.reasons.empty()) { blocks.emplace_back(Items{"Why", plan.reasons}); }
    add_charts(blocks, plan);
    if (plan.recommended) { blocks.emplace_back(share_table(plan)); }
    if (CurvePoint const* point = recommended_point(plan)) {
        add_left_out(blocks, *point->prediction, report.answer.left_out);
    }
    if (CurvePoint const* point = recommended_point(plan); point != nullptr && !point->runners_up.empty()) {
        blocks.emplace_back(runners_up_table(*point));
        if (std::ranges::min(point->runners_up_step) < point->prediction->step()) {
            blocks.emplace_back(Paragraph{"a plan within " + format_count(100.0 * step_tie) +
                                              " % of the fastest is preferred where it is simpler",
                                          "ties"});
        }
    }
    if (report.answer.comparison && report.answer.other) {
        blocks.emplace_back(comparison_table(*report.answer.comparison, plan, *report.answer.other));
        blocks.emplace_back(Paragraph{report.answer.comparison->verdict, "against"});
    }
    if (!plan.checklist.empty()) {
        Items list{"Checklist", {}};
        for (ChecklistItem const& item : plan.checklist) { list.items.push_back(item.question + " " + item.answer); }
        blocks.emplace_back(std::move(list));
    }
    if (!plan.assumptions.empty()) { blocks.emplace_back(assumptions_table(plan.assumptions)); }
    if (!page && !report.answer.command.empty()) { blocks.emplace_back(command_block(report.answer.command, {})); }
    blocks.emplace_back(Paragraph{provenance_summary(report.setting.calibration), "constants"});
    return document;
}

Document document_of(PlanDryRun const& answer, Setting const& setting) {
    return {"Plan, not run: " + setting.model.name + " on " + setting.cluster.name,
            {field_rows("Legal strategies", answer.sizes, {{"workers"}, {"legal"}})},
            footer(setting.catalog, setting.calibration.name)};
}

} // namespace headroom::cli::verb_plan
