#include "predict/prediction_report.hpp"

#include "document/text.hpp"
#include "left_out.hpp"
#include "predict/prediction_charts.hpp"
#include "setting_parts.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace headroom::cli {
namespace {

double accelerators(Prediction const& prediction) { return static_cast<double>(prediction.workers); }

FlopsPerSecond model_rate(Prediction const& prediction) {
    return prediction.model_flops / (prediction.step() * accelerators(prediction));
}

/// Dollars for a million tokens; empty without a price.
std::optional<double> dollars_per_million(Prediction const& prediction) {
    if (!prediction.question.cluster.price || !prediction.progresses()) { return std::nullopt; }
    double const lost = prediction.goodput ? prediction.goodput->time_over_work : 1.0;
    return prediction.question.cluster.price->base() * accelerators(prediction) / prediction.tokens_per_second * 1e6 *
           lost;
}

/// None where nothing is serial.
std::optional<double> ceiling_of(Prediction const& prediction) {
    return prediction.serial.value > 0.0 ? std::optional{prediction.speedup_ceiling} : std::nullopt;
}

std::optional<double> inverse_million(std::optional<double> const& dollars) {
    return dollars && *dollars > 0.0 ? std::optional{1e6 / *dollars} : std::nullopt;
}

Json communication_json(std::vector<CommunicationRow> const& rows) {
    Json list = Json::array();
    for (CommunicationRow const& row : rows) {
        list.push(Json::object()
                      .set("dimension", row.dimension)
                      .set("collective", row.collective)
                      .set("why", row.why)
                      .set("algorithm", row.algorithm)
                      .set("bytes", row.bytes.base())
                      .set("operations", row.operations)
                      .set("group_size", row.group.size)
                      .set("group_per_domain", row.group.per_domain)
                      .set("seconds", row.seconds.base())
                      .set("exposed_seconds", row.exposed.base()));
    }
    return list;
}

Json remedies_json(std::vector<MemoryRemedy> const& remedies) {
    Json list = Json::array();
    for (MemoryRemedy const& remedy : remedies) {
        list.push(Json::object()
                      .set("change", remedy.change)
                      .set("step_seconds", remedy.step.base())
                      .set("memory_bytes", remedy.memory.base()));
    }
    return list;
}

/// Every stage of the pipeline; memory asks no constants.
std::vector<MemoryUse> stages_of(Prediction const& p) {
    static constexpr Calibration unused{};
    return memory_by_stage(step_setting(p.question, p.question.cluster, unused), p.question.strategy);
}

Json stages_json(Prediction const& p) {
    Json list = Json::array();
    for (MemoryUse const& use : stages_of(p)) {
        list.push(Json::object()
                      .set("stage", use.stage)
                      .set("state_bytes", use.state().base())
                      .set("kept_activations_bytes", use.activations.base())
                      .set("logits_bytes", use.logits.base())
                      .set("temporaries_bytes", use.temporaries.base())
                      .set("buffers_bytes", use.buffers.base())
                      .set("total_bytes", use.total().base())
                      .set("footprint_bytes", use.footprint().base()));
    }
    return list;
}

Json terms_json(std::vector<Term> const& terms) {
    Json list = Json::array();
    for (Term const& term : terms) {
        Json inputs = Json::object();
        for (auto const& [name, value] : term.inputs) { inputs.set(name, value); }
        list.push(Json::object()
                      .set("name", term.name)
                      .set("unit", term.unit)
                      .set("formula", term.formula)
                      .set("inputs", inputs)
                      .set("value", term.value));
    }
    return list;
}

Json what_if_json(PredictionReport const& report) {
    Json list = Json::array();
    double const base = report.prediction.step().base();
    for (LeverOutcome const& lever : report.what_if) {
        double const step = lever.prediction.step().base();
        list.push(Json::object()
                      .set("lever", lever.name)
                      .set("base_step_seconds", base)
                      .set("step_seconds", step)
                      .set("speedup", base / step)
                      .set("fits", lever.prediction.fits)
                      .set("breakdown", breakdown_json(lever.prediction.time)));
    }
    return list;
}

// ---- for people ------------------------------------------------------------------------------------------------

std::string verdict(PredictionReport const& report) {
    Prediction const& p = report.prediction;
    std::string text = report.setting.model.name + " on " + std::to_string(p.workers) + " accelerators of " +
                       report.setting.cluster.name + ": ";
    if (!p.fits) { text += "does not fit, " + p.why_not + ". Its step would be "; }
    text += step_words(p) + (p.fits ? " a step" : "") + " (" + interval_words(p) + ", " +
            percent(p.interval.coverage, 2) + " % band), MFU " + percent(p.mfu) + " %";
    if (p.fits) {
        text += ", " + format_binary(p.memory.total()) + " of " + format_binary(p.memory_usable) + " usable memory";
    }
    return text + ".";
}

std::string plan_line(PredictionReport const& report) {
    Prediction const& p = report.prediction;
    Workload const& work = p.question.workload;
    std::string text = short_name(p.question.strategy) + "; " + batch_words(work, p.question.model);
    if (work.documents > 0.0) { text += " in documents of " + whole(work.documents); }
    if (work.fill < 1.0) { text += ", " + percent(work.fill) + " % filled,"; }
    text += " in " + std::to_string(p.micro_batches) + (p.micro_batches == 1 ? " micro-batch; " : " micro-batches; ") +
            std::string{name_of(p.question.strategy.precision)} + ", " + report.setting.framework.name;
    return text + pace_words(p.pace);
}

Table step_table(StepTime const& time) {
    TimeScale const scale = scale_of(time.total());
    Table table{
        .title = "Where the step goes", .columns = {{"part", Align::left}, {scale.name}, {"% of step"}}, .rows = {}};
    double const total = time.total().base();
    for (auto const& [name, seconds] : parts_of(time)) {
        double const share = seconds.base() / total;
        if (share < 1e-6) { continue; }
        table.rows.push_back({name, significant(seconds.in(scale.unit)), percent(share)});
    }
    table.rows.push_back({"step", significant(time.total().in(scale.unit)), "100"});
    return table;
}

Table communication_table(Prediction const& p) {
    TimeScale const scale = scale_of(p.step());
    Table table{.title = "Communication a step, on one accelerator",
                .columns = {{"for", Align::left},
                            {"collective", Align::left, true},
                            {"why", Align::left, true},
                            {"ranks"},
                            {"GB"},
                            {scale.name},
                            {"exposed " + scale.name}},
                .rows = {}};
    for (CommunicationRow const& row : p.communication) {
        table.rows.push_back({row.dimension, row.collective, row.why, std::to_string(row.group.size),
                              significant(row.bytes.in(units::GB)), significant(row.seconds.in(scale.unit)),
                              significant(row.exposed.in(scale.unit))});
    }
    return table;
}

Table memory_table(Prediction const& p) {
    Table table{.title = "Memory of the fullest accelerator",
                .columns = {{"part", Align::left}, {"GiB"}, {"% of usable"}},
                .rows = {}};
    auto const row = [&](std::string const& name, Bytes size) {
        table.rows.push_back({name, significant(size.in(units::GiB)), percent(size / p.memory_usable)});
    };
    for (auto const& [name, size] : parts_of(p.memory)) { row(name, size); }
    row("total", p.memory.total());
    row("lost to fragmentation", p.memory.fragmentation);
    row("context and libraries", p.memory.runtime);
    row("usable", p.memory_usable);
    row("capacity", p.memory_capacity);
    return table;
}

constexpr std::size_t most_stages_shown = 16; ///< of more the first, the second, the fullest and the last

Table stages_table(Prediction const& p) {
    Table table{.title = "Memory by stage, GiB",
                .columns = {{"stage"}, {"state"}, {"activations"}, {"logits"}, {"temporaries"}, {"buffers"}, {"total"}},
                .rows = {}};
    auto const stages = stages_of(p);
    auto const gib = [](Bytes size) { return significant(size.in(units::GiB)); };
    for (std::size_t i = 0; i < stages.size(); ++i) {
        MemoryUse const& use = stages[i];
        bool const telling = i < 2 || i + 1 == stages.size() || use.stage == p.memory.stage;
        if (stages.size() > most_stages_shown && !telling) { continue; }
        table.rows.push_back({std::to_string(use.stage), gib(use.state()), gib(use.activations), gib(use.logits),
                              gib(use.temporaries), gib(use.buffers), gib(use.total())});
    }
    return table;
}

/// "989 TFLOP/s (dense bf16)": what MFU is counted against
std::string peak_words(Prediction const& p) {
    return significant(p.peak.base() / 1e12) + " TFLOP/s (dense " +
           std::string{name_of(p.question.strategy.precision)} + ")";
}

Table quantities(PredictionReport const& report) {
    Prediction const& p = report.prediction;
    Table table{.title = "Rates and ratios",
                .columns = {{"quantity", Align::left}, {"value"}, {"unit", Align::left, true}},
                .rows = {}};
    auto const row = [&table](std::string name, std::string value, std::string unit) {
        table.rows.push_back({std::move(name), std::move(value), std::move(unit)});
    };
    std::string const unit{unit_of_work(p.question.model)};
    row("throughput", significant(p.tokens_per_second), unit + "/s");
    row("per accelerator", significant(p.tokens_per_second / accelerators(p)), unit + "/s");
    row("model work", significant(model_rate(p).base() / 1e12), "TFLOP/s an accelerator");
    bool const attends = p.question.model.operators.empty();
    row("MFU", percent(p.mfu),
        "% of " + peak_words(p) + (attends ? ", " + std::string{name_of(p.convention)} + " attention" : ""));
    if (attends) { row("MFU, full attention", percent(p.mfu_full_attention), "% of the same, nothing masked"); }
    row("HFU", percent(p.hfu), "% (recomputation counted)");
    row("gamma", significant(p.gamma), "communication / computation if nothing overlapped");
    row("serial fraction", significant(p.serial.value),
        "of the step at " + std::to_string(p.serial.at_workers) + " workers");
    if (auto const ceiling = ceiling_of(p)) {
        row("speedup ceiling", significant(*ceiling), "x over this step, that share unchanged");
    }
    if (auto const time = duration_of(p)) { row("run", significant(time->in(units::day)), "days"); }
    if (auto const cost = cost_of(p)) { row("cost", scaled(cost->base()), "$"); }
    if (auto const price = dollars_per_million(p)) { row("price of work", significant(*price), "$ a million " + unit); }
    return table;
}

Table what_if_table(PredictionReport const& report) {
    TimeScale const scale = scale_of(report.prediction.step());
    Table table{.title = "What if",
                .columns = {{"change", Align::left, true},
                            {"step " + scale.name},
                            {"base " + scale.name},
                            {"speedup"},
                            {"MFU %"},
                            {"fits", Align::left}},
                .rows = {}};
    Seconds const base = report.prediction.step();
    for (LeverOutcome const& lever : report.what_if) {
        Seconds const step = lever.prediction.step();
        table.rows.push_back({lever.name, significant(step.in(scale.unit)), significant(base.in(scale.unit)),
                              significant(base / step, 4), percent(lever.prediction.mfu),
                              lever.prediction.fits ? "yes" : "no"});
    }
    return table;
}

/// A whole number in full, another with six digits.
std::string precise(double value) {
    bool const is_whole = std::abs(value) < 1e15 && value == std::round(value);
    return is_whole ? whole(value) : significant(value, 6);
}

Items explanation(std::vector<Term> const& terms) {
    Items list{"How it comes about", {}};
    for (Term const& term : terms) {
        std::string text =
            term.name + " = " + precise(term.value) + (term.unit.empty() ? "" : " " + term.unit) + " = " + term.formula;
        std::vector<std::string> inputs;
        for (auto const& [name, value] : term.inputs) { inputs.push_back(name + " = " + precise(value)); }
        if (!inputs.empty()) { text += "; with " + join(inputs, ", "); }
        list.items.push_back(std::move(text));
    }
    return list;
}

} // namespace

TimeScale scale_of(Seconds step) { return step.base() < 1.0 ? TimeScale{units::ms, "ms"} : TimeScale{units::s, "s"}; }

std::optional<Seconds> duration_of(Prediction const& prediction) { return run_time(prediction); }

std::optional<Dollars> cost_of(Prediction const& prediction) {
    auto const duration = duration_of(prediction);
    if (!duration || !prediction.question.cluster.price) { return std::nullopt; }
    return *prediction.question.cluster.price * *duration * accelerators(prediction);
}

std::string step_words(Prediction const& prediction) {
    TimeScale const scale = scale_of(prediction.step());
    return significant(prediction.step().in(scale.unit)) + " " + scale.name;
}

std::string interval_words(Prediction const& prediction) {
    TimeScale const scale = scale_of(prediction.step());
    return significant(prediction.interval.low.in(scale.unit)) + " to " +
           significant(prediction.interval.high.in(scale.unit)) + " " + scale.name;
}

std::string pace_words(double pace) {
    return pace == 1.0 ? "" : "; computation x" + significant(pace) + ": the factor fitted to this stack";
}

double samples_per_second(Prediction const& prediction) {
    return prediction.question.workload.global_batch / prediction.step().base();
}

std::vector<Metric> metrics_of(Prediction const& p) {
    Dimension const seconds{.seconds = 1}, bytes{.bytes = 1}, dollars{.dollars = 1};
    auto const base = [](auto const& quantity) { return quantity ? std::optional{quantity->base()} : std::nullopt; };
    std::vector<Metric> metrics = left_out_metrics(p);
    metrics.insert(metrics.begin(), {{"step", p.step().base(), seconds},
                                     {"mfu", p.mfu},
                                     {"hfu", p.hfu},
                                     {"gamma", p.gamma},
                                     {"tokens_per_second", p.tokens_per_second},
                                     {"tokens_per_second_per_accelerator", p.tokens_per_second / accelerators(p)},
                                     {"memory", p.memory.total().base(), bytes},
                                     {"exposed_communication", p.time.exposed_communication().base(), seconds},
                                     {"time", base(duration_of(p)), seconds},
                                     {"cost", base(cost_of(p)), dollars},
                                     {"dollars_per_million_tokens", dollars_per_million(p)}});
    return metrics;
}

std::vector<std::pair<std::string, Seconds>> parts_of(StepTime const& time) {
    return {{"compute", time.compute},
            {"host", time.host},
            {"tensor communication", time.tensor_communication},
            {"context communication", time.context_communication},
            {"expert communication", time.expert_communication},
            {"pipeline communication", time.pipeline_communication},
            {"data communication", time.data_communication},
            {"pipeline bubble", time.pipeline_bubble},
            {"optimizer", time.optimizer},
            {"offload", time.offload},
            {"imbalance", time.imbalance},
            {"stragglers", time.stragglers},
            {"overhead", time.overhead}};
}

std::vector<std::pair<std::string, Bytes>> parts_of(MemoryUse const& memory) {
    return {{"weights", memory.weights},         {"gradients", memory.gradients}, {"optimizer", memory.optimizer},
            {"activations", memory.activations}, {"logits", memory.logits},       {"temporaries", memory.temporaries},
            {"buffers", memory.buffers}};
}

Json breakdown_json(StepTime const& time) {
    return Json::object()
        .set("compute_seconds", time.compute.base())
        .set("host_seconds", time.host.base())
        .set("exposed_communication_seconds", time.exposed_communication().base())
        .set("pipeline_bubble_seconds", time.pipeline_bubble.base())
        .set("optimizer_seconds", time.optimizer.base())
        .set("offload_seconds", time.offload.base())
        .set("imbalance_seconds", time.imbalance.base())
        .set("stragglers_seconds", time.stragglers.base())
        .set("overhead_seconds", time.overhead.base());
}

Json exposed_json(StepTime const& time) {
    return Json::object()
        .set("tensor_seconds", time.tensor_communication.base())
        .set("context_seconds", time.context_communication.base())
        .set("expert_seconds", time.expert_communication.base())
        .set("pipeline_seconds", time.pipeline_communication.base())
        .set("data_seconds", time.data_communication.base());
}

/// `activations_bytes` is its three parts, so that the five first keys sum to the total, and with fragmentation and runtime
/// to the footprint, which fits or does not.
Json memory_json(Prediction const& p) {
    return Json::object()
        .set("weights_bytes", p.memory.weights.base())
        .set("gradients_bytes", p.memory.gradients.base())
        .set("optimizer_bytes", p.memory.optimizer.base())
        .set("activations_bytes", p.memory.all_activations().base())
        .set("buffers_bytes", p.memory.buffers.base())
        .set("total_bytes", p.memory.total().base())
        .set("kept_activations_bytes", p.memory.activations.base())
        .set("logits_bytes", p.memory.logits.base())
        .set("temporaries_bytes", p.memory.temporaries.base())
        .set("fragmentation_bytes", p.memory.fragmentation.base())
        .set("runtime_bytes", p.memory.runtime.base())
        .set("footprint_bytes", p.memory.footprint().base())
        .set("stage", p.memory.stage)
        .set("usable_bytes", p.memory_usable.base())
        .set("capacity_bytes", p.memory_capacity.base())
        .set("fits", p.fits)
        .set("remedies", remedies_json(p.remedies));
}

Json json_of(PredictionReport const& report) {
    Prediction const& p = report.prediction;
    Workload const& work = p.question.workload;
    auto const duration = duration_of(p);
    auto const cost = cost_of(p);
    Json json = result_head("predict", report.setting.catalog, report.setting.calibration.name);
    json.set("model", model_json(report.setting.model))
        .set("cluster", cluster_json(report.setting.cluster))
        .set("framework", report.setting.framework.name)
        .set("workers", p.workers)
        .set("pace", p.pace)
        .set("workload", workload_json(work, p.question.tokens))
        .set("strategy_record", report.setting.strategy_record.empty() ? Json{} : Json{report.setting.strategy_record})
        .set("strategy", strategy_json(p.question.strategy, work))
        .set("fits", p.fits)
        .set("why_not", p.fits ? Json{} : Json{p.why_not})
        .set("step_seconds", p.step().base())
        .set("interval_seconds", Json::array().push(p.interval.low.base()).push(p.interval.high.base()))
        .set("interval_coverage", p.interval.coverage)
        .set("tokens_per_second", p.tokens_per_second)
        .set("tokens_per_second_per_accelerator", p.tokens_per_second / accelerators(p))
        .set("samples_per_second", samples_per_second(p))
        .set("model_flops_per_second_per_accelerator", model_rate(p).base())
        .set("peak_flops_per_second", p.peak.base())
        .set("mfu", p.mfu)
        .set("hfu", p.hfu)
        .set("mfu_convention", name_of(p.convention))
        .set("mfu_full_attention", p.mfu_full_attention)
        .set("breakdown", breakdown_json(p.time))
        .set("exposed_communication", exposed_json(p.time))
        .set("communication", communication_json(p.communication))
        .set("memory", memory_json(p))
        .set("memory_by_stage", stages_json(p))
        .set("gamma", p.gamma)
        .set("serial_fraction", Json::object().set("value", p.serial.value).set("at_workers", p.serial.at_workers))
        .set("speedup_ceiling", ceiling_of(p))
        .set("days", duration ? Json{duration->in(units::day)} : Json{})
        .set("cost_dollars", cost ? Json{cost->base()} : Json{})
        .set("tokens_per_dollar", inverse_million(dollars_per_million(p)))
        .set("dollars_per_million_tokens", dollars_per_million(p))
        .set("assumed", assumptions_json(report.assumptions))
        .set("constants", constants_json(report.setting.calibration))
        .set("notes", Json::array_of(report.setting.notes));
    add_left_out(json, p, report.setting.calibration);
    if (!report.schedules.empty()) { json.set("schedules", schedules_json(report.schedules)); }
    if (report.tells_simulation && report.simulation) { json.set("simulation", simulation_json(*report.simulation)); }
    if (!report.what_if.empty()) { json.set("what_if", what_if_json(report)); }
    if (report.terms) { json.set("terms", terms_json(*report.terms)); }
    if (!report.gates.empty()) { json.set("gates", gates_json(report.gates)); }
    if (report.wall_seconds) { json.set("stats", stats_json(*report.wall_seconds)); }
    return json;
}

namespace {

/// The pipeline's schedule, others beside it, and the step as it was simulated.
void add_schedule(std::vector<Block>& blocks, PredictionReport const& report, Medium medium) {
    auto const add = [&blocks](std::vector<Block> more) { std::ranges::move(more, std::back_inserter(blocks)); };
    bool const page = medium == Medium::page;
    if (report.passes && (page || report.draws_in_text)) {
        add(schedule_drawing(*report.passes, report.prediction.step()));
        auto chart = memory_chart(*report.passes, report.memory, report.prediction, page ? 5 : 2);
        if (chart) { blocks.emplace_back(std::move(*chart)); }
    }
    if (!report.schedules.empty()) { add(schedule_comparison(report.schedules)); }
    if (report.simulation && (page || report.tells_simulation)) { add(simulation_blocks(*report.simulation)); }
}

} // namespace

Document document_of(PredictionReport const& report, Medium medium) {
    Prediction const& p = report.prediction;
    Document document{"Prediction: " + report.setting.model.name + " on " + report.setting.cluster.name,
                      {},
                      footer(report.setting.catalog, report.setting.calibration.name)};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict(report), "", true});
    blocks.emplace_back(Paragraph{plan_line(report), "plan"});
    blocks.emplace_back(step_table(p.time));
    if (StackedBars bars = step_bars(p); !bars.parts.empty()) { blocks.emplace_back(std::move(bars)); }
    add_schedule(blocks, report, medium);
    if (!p.communication.empty()) { blocks.emplace_back(communication_table(p)); }
    blocks.emplace_back(memory_table(p));
    if (p.question.strategy.pp > 1) { blocks.emplace_back(stages_table(p)); }
    blocks.emplace_back(memory_bars(p));
    blocks.emplace_back(quantities(report));
    add_left_out(blocks, p, report.setting.calibration);
    if (!report.what_if.empty()) { blocks.emplace_back(what_if_table(report)); }
    if (report.terms) { blocks.emplace_back(explanation(*report.terms)); }
    if (!report.assumptions.empty()) { blocks.emplace_back(assumptions_table(report.assumptions)); }
    blocks.emplace_back(Paragraph{provenance_summary(report.setting.calibration), "constants"});
    if (report.wall_seconds) {
        blocks.emplace_back(Paragraph{
            significant(*report.wall_seconds) + " s, " + format_binary(Bytes{peak_memory_bytes()}), "this call"});
    }
    return document;
}

Sheet sheet_of(PredictionReport const& report) {
    Prediction const& p = report.prediction;
    Sheet sheet{{"quantity", "value"}, {}};
    auto const row = [&sheet](std::string name, double value) {
        sheet.rows.push_back({std::move(name), exact(value)});
    };
    auto const maybe = [&sheet](std::string name, std::optional<double> value) {
        sheet.rows.push_back({std::move(name), value ? exact(*value) : ""});
    };
    sheet.rows.push_back({"strategy", short_name(p.question.strategy)});
    sheet.rows.push_back({"fits", p.fits ? "true" : "false"});
    row("workers", p.workers);
    row("step_seconds", p.step().base());
    row("interval_low_seconds", p.interval.low.base());
    row("interval_high_seconds", p.interval.high.base());
    row("tokens_per_second", p.tokens_per_second);
    row("tokens_per_second_per_accelerator", p.tokens_per_second / accelerators(p));
    row("samples_per_second", samples_per_second(p));
    row("model_flops_per_second_per_accelerator", model_rate(p).base());
    row("mfu", p.mfu);
    row("hfu", p.hfu);
    row("compute_seconds", p.time.compute.base());
    row("host_seconds", p.time.host.base());
    row("exposed_communication_seconds", p.time.exposed_communication().base());
    row("pipeline_bubble_seconds", p.time.pipeline_bubble.base());
    row("optimizer_seconds", p.time.optimizer.base());
    row("offload_seconds", p.time.offload.base());
    row("imbalance_seconds", p.time.imbalance.base());
    row("stragglers_seconds", p.time.stragglers.base());
    row("overhead_seconds", p.time.overhead.base());
    for (auto const& [name, size] : parts_of(p.memory)) { row("memory_" + name + "_bytes", size.base()); }
    row("memory_bytes", p.memory.total().base());
    row("memory_capacity_bytes", p.memory_capacity.base());
    row("gamma", p.gamma);
    row("serial_fraction", p.serial.value);
    maybe("speedup_ceiling", ceiling_of(p));
    auto const duration = duration_of(p);
    auto const cost = cost_of(p);
    maybe("days", duration ? std::optional{duration->in(units::day)} : std::nullopt);
    maybe("cost_dollars", cost ? std::optional{cost->base()} : std::nullopt);
    maybe("dollars_per_million_tokens", dollars_per_million(p));
    add_left_out(sheet, p, report.setting.calibration);
    for (ScheduleOutcome const& outcome : report.schedules) {
        std::string const name = "schedule " + std::string{schedule_row(outcome.schedule).name};
        auto const& other = outcome.prediction;
        maybe(name + " step_seconds", other ? std::optional{other->step().base()} : std::nullopt);
        maybe(name + " bubble_seconds", other ? std::optional{other->time.pipeline_bubble.base()} : std::nullopt);
        maybe(name + " memory_bytes", other ? std::optional{other->memory.total().base()} : std::nullopt);
    }
    if (report.tells_simulation && report.simulation && report.simulation->ran()) {
        row("simulation step_seconds", report.simulation->step.step().base());
    }
    for (LeverOutcome const& lever : report.what_if) {
        row("what_if " + lever.name + " step_seconds", lever.prediction.step().base());
    }
    return sheet;
}

} // namespace headroom::cli
