#include "predict/prediction_report.hpp"

#include "left_out.hpp"
#include "measured_steps.hpp"
#include "setting_words.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace headroom::cli {

std::vector<Metric> metrics_of(PredictAnswer const* answer) {
    return metrics_of(field_table_of(answer), answer,
                      {{"step", "step_seconds"},
                       {"memory", "memory.total_bytes"},
                       {"exposed_communication", "breakdown.exposed_communication_seconds"},
                       {"time", "days"},
                       {"cost", "cost_dollars"},
                       {"goodput", "goodput.goodput"},
                       {"sample_efficiency", "statistics.sample_efficiency"},
                       {"time_to_target", "statistics.time_to_target_seconds"}});
}

std::vector<std::pair<std::string, Bytes>> parts_of(MemoryUse const& memory) {
    return {{"weights", memory.weights},         {"gradients", memory.gradients}, {"optimizer", memory.optimizer},
            {"activations", memory.activations}, {"logits", memory.logits},       {"temporaries", memory.temporaries},
            {"buffers", memory.buffers}};
}

namespace {

/// ", 21.7 days and $1.86M for 2T tokens": of a run whose tokens are stated.
std::string run_length_words(Prediction const& p) {
    auto const time = run_time(p);
    if (!time || !p.question.tokens) { return {}; }
    TimeScale const scale = scale_of_run(*time);
    std::string text = "; " + significant(time->in(scale.unit)) + " " + scale.name;
    if (auto const cost = cost_of(p)) { text += " and $" + scaled(cost->base()); }
    return text + " for " + scaled(*p.question.tokens) + " " + std::string{unit_of_work(p.question.model)};
}

std::string verdict(PredictionReport const& report) {
    Prediction const& p = report.answer.prediction;
    std::string text = unknown_model_words(report.setting.model);
    text += report.setting.model.name + " on " + counted(static_cast<std::size_t>(p.workers), "accelerator") + " of " +
            report.setting.cluster.name + ": ";
    if (!p.fits) { text += "does not fit, " + p.why_not + ". Its step would be "; }
    text += step_words(p) + (p.fits ? " a step" : "") + " (" + interval_words(p) + ", " +
            percent(p.interval.coverage, 2) + " % interval from " + evidence_words(p) + "), MFU " + percent(p.mfu) +
            " %" + run_length_words(p);
    if (p.fits) {
        text += ", " + format_binary(p.memory.total()) + " of " + format_binary(p.memory_usable) + " usable memory";
    }
    if (p.odds) { text += "; fits: " + odds_words(*p.odds, p.memory_capacity); }
    if (std::string const host = host_words(p); !host.empty()) { text += "; offloaded state takes " + host; }
    return text + ".";
}

std::string plan_line(PredictionReport const& report) {
    Prediction const& p = report.answer.prediction;
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
    Table table{.title = "Where the step goes", .columns = {left("part"), scale.name, "% of step"}};
    double const total = time.total().base();
    for (auto const& [name, seconds] : named_parts(time)) {
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
                .columns = {left("for"), wrapped("collective"), wrapped("why"), "ranks", "GB", scale.name,
                            "exposed " + scale.name}};
    for (CommunicationRow const& row : p.communication) {
        table.rows.push_back({row.dimension, row.collective, row.why, std::to_string(row.group.size),
                              significant(row.bytes.in(units::GB)), significant(row.seconds.in(scale.unit)),
                              significant(row.exposed.in(scale.unit))});
    }
    return table;
}

Table memory_table(Prediction const& p) {
    Table table{.title = "Memory of the fullest accelerator", .columns = {left("part"), "GiB", "% of usable"}};
    auto const row = [&](std::string const& name, Bytes size) {
        table.rows.push_back({name, significant(size.in(units::GiB)), percent(size / p.memory_usable)});
    };
    for (auto const& [name, size] : parts_of(p.memory)) { row(name, size); }
    row("total", p.memory.total());
    row("lost to fragmentation", p.memory.fragmentation);
    row("context and libraries", p.memory.runtime);
    row("footprint", p.memory.footprint());
    if (p.odds) {
        row("footprint, 90 % low", p.odds->footprint.low);
        row("footprint, 90 % high", p.odds->footprint.high);
    }
    if (p.memory.host > Bytes{}) { row("host memory of its process", p.memory.host); }
    row("usable", p.memory_usable);
    row("capacity", p.memory_capacity);
    return table;
}

constexpr std::size_t most_stages_shown = 16; ///< of more the first, the second, the fullest and the last

Table stages_table(Prediction const& p) {
    Table table{.title = "Memory by stage, GiB",
                .columns = {"stage", "state", "activations", "logits", "temporaries", "buffers", "total"}};
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
    Prediction const& p = report.answer.prediction;
    Table table{.title = "Rates and ratios", .columns = {left("quantity"), "value", wrapped("unit")}};
    auto const row = [&table](std::string name, std::string value, std::string unit) {
        table.rows.push_back({std::move(name), std::move(value), std::move(unit)});
    };
    std::string const unit{unit_of_work(p.question.model)};
    row("throughput", significant(p.tokens_per_second), unit + "/s");
    row("per accelerator", significant(tokens_per_second_per_accelerator(p)), unit + "/s");
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
    if (auto const time = run_time(p)) {
        TimeScale const scale = scale_of_run(*time);
        row("run", significant(time->in(scale.unit)), scale.name);
    }
    if (auto const cost = cost_of(p)) { row("cost", scaled(cost->base()), "$"); }
    if (auto const price = dollars_per_million(p)) { row("price of work", significant(*price), "$ a million " + unit); }
    return table;
}

Table what_if_table(PredictionReport const& report) {
    TimeScale const scale = scale_of(report.answer.prediction.step());
    Table table{
        .title = "What if",
        .columns = {wrapped("change"), "step " + scale.name, "base " + scale.name, "speedup", "MFU %", left("fits")}};
    Seconds const base = report.answer.prediction.step();
    for (LeverOutcome const& lever : report.answer.what_if) {
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

/// A term in words: its value, its formula or its origin, and its inputs; facts among them with their kind.
std::string explained(Term const& term, std::map<std::string_view, Term const*> const& known) {
    std::string text = term.name + " = " + precise(term.value) + (term.unit.empty() ? "" : " " + term.unit);
    std::vector<std::string> names;
    for (auto const& input : term.inputs) { names.push_back(input.first); }
    bool const adds = names.size() > 1 && term.formula == join(names, " + ");
    text += adds                             ? " = sum of"
            : term.kind == TermKind::formula ? " = " + term.formula
            : term.kind == TermKind::priced  ? ", by the " + term.origin
                                             : " (" + std::string{name_of(term.kind)} + ": " + term.origin + ")";
    std::vector<std::string> inputs;
    for (auto const& [name, value] : term.inputs) {
        auto const one = known.find(name);
        bool const fact = one != known.end() && is_fact(one->second->kind);
        inputs.push_back(name + " = " + precise(value) +
                         (fact ? " (" + std::string{name_of(one->second->kind)} + ")" : ""));
    }
    if (!inputs.empty()) {
        text += (adds ? " " : term.kind == TermKind::formula ? "; with " : ", from ") + join(inputs, ", ");
    }
    return text;
}

/// Terms in words, facts only with those that they are inputs of, unless one was asked for.
Items explanation(std::vector<Term> const& terms) {
    constexpr std::size_t most = 40;
    std::map<std::string_view, Term const*> known;
    for (Term const& term : terms) { known.emplace(term.name, &term); }
    Items list{"How it comes about", {}};
    std::size_t more = 0;
    for (Term const& term : terms) {
        if (is_fact(term.kind) && &term != &terms.front()) { continue; }
        if (list.items.size() < most) {
            list.items.push_back(explained(term, known));
        } else {
            ++more;
        }
    }
    if (more > 0) {
        list.items.push_back(whole(static_cast<double>(more)) +
                             " more numbers below these: --explain NAME opens each of them, --format json has all");
    } else if (list.items.size() > 1) {
        list.items.push_back("--explain NAME opens any name above");
    }
    return list;
}

/// The pipeline's schedule, compared with others, and the step as it was simulated.
void add_schedule(std::vector<Block>& blocks, PredictionReport const& report, Medium medium) {
    auto const add = [&blocks](std::vector<Block> more) { std::ranges::move(more, std::back_inserter(blocks)); };
    bool const page = medium == Medium::page;
    if (report.passes && (page || report.draws_in_text)) {
        add(schedule_drawing(*report.passes, report.answer.prediction.step()));
        auto chart = memory_chart(*report.passes, report.memory, report.answer.prediction, page ? 5 : 2);
        if (chart) { blocks.emplace_back(std::move(*chart)); }
    }
    if (!report.answer.schedules.empty()) { add(schedule_comparison(report.answer.schedules)); }
    if (report.answer.simulation && (page || report.answer.shows_simulation)) {
        add(simulation_blocks(*report.answer.simulation));
    }
}

} // namespace

TimeScale scale_of(Seconds step) { return step.base() < 1.0 ? TimeScale{units::ms, "ms"} : TimeScale{units::s, "s"}; }

TimeScale scale_of_run(Seconds longest) {
    if (longest >= 0.5 * units::day) { return {units::day, "days"}; }
    return longest >= 2.0 * units::hour ? TimeScale{units::hour, "hours"} : TimeScale{units::minute, "minutes"};
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
    return pace == 1.0 ? "" : "; computation x" + significant(pace) + ": the factor fitted to runs of these kernels";
}

std::string verdict_of(PredictionReport const& report) { return verdict(report); }

namespace {

/// "compute 95.1 %, tensor communication 3.27 %": the parts of a step that take most of it.
std::string step_in_short(Prediction const& p) {
    constexpr std::size_t most = 5;
    constexpr double least = 0.005;
    auto parts = named_parts(p.time);
    std::stable_sort(parts.begin(), parts.end(), [](auto const& a, auto const& b) { return a.second > b.second; });
    std::vector<std::string> words;
    for (auto const& [name, seconds] : parts) {
        double const share = seconds / p.step();
        if (share >= least && words.size() < most) { words.push_back(name + " " + percent(share) + " %"); }
    }
    return join(words, ", ");
}

/// "2830 tokens/s, 1420 an accelerator; $0.135 a million tokens".
std::string rate_in_short(Prediction const& p) {
    std::string const unit{unit_of_work(p.question.model)};
    std::string text = significant(p.tokens_per_second) + " " + unit + "/s, " +
                       significant(tokens_per_second_per_accelerator(p)) + " an accelerator";
    if (auto const price = dollars_per_million(p)) { text += "; $" + significant(*price) + " a million " + unit; }
    return text;
}

std::string memory_in_short(Prediction const& p) {
    std::vector<std::string> words;
    for (auto const& [name, size] : parts_of(p.memory)) {
        if (size > 0.01 * p.memory.total()) { words.push_back(name + " " + format_binary(size)); }
    }
    return join(words, ", ") + "; " + format_binary(p.memory.footprint()) + " with fragmentation and libraries, of " +
           format_binary(p.memory_capacity);
}

void add_what_to_tell(std::vector<Block>& blocks, PredictAnswer const& answer) {
    if (auto text = words_of(answer.narrows); !text.empty()) {
        blocks.emplace_back(Paragraph{std::move(text), "to narrow it"});
    }
    if (auto text = words_of(answer.guessed); !text.empty()) {
        blocks.emplace_back(Paragraph{std::move(text), "guessed"});
    }
}

} // namespace

Document screen_document(PredictionReport const& report, ScreenSize screen) {
    Prediction const& p = report.answer.prediction;
    Document document{"Prediction: " + report.setting.model.name + " on " + report.setting.cluster.name, {}, ""};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict(report), "", true});
    auto const line = [&blocks](std::string label, std::string text) {
        if (!text.empty()) { blocks.emplace_back(Paragraph{std::move(text), std::move(label), false, Part::answer}); }
    };
    line("plan", plan_line(report));
    for (LogAnswer const& log : report.answer.logs) { line("log", log_doubts(log)); }
    line("measured", warm_words(p));
    line("step", step_in_short(p));
    line("rate", rate_in_short(p));
    line("memory", memory_in_short(p));
    bool const counts = std::ranges::any_of(report.answer.left_out, &LeftOutTerm::on);
    if (!counts) { add_what_to_tell(blocks, report.answer); }
    add_left_out_in_short(blocks, p, report.answer.left_out);
    add_schedule(blocks, report, Medium::text);
    if (!report.answer.what_if.empty()) { blocks.emplace_back(what_if_table(report)); }
    if (!report.answer.terms.empty()) { blocks.emplace_back(explanation(report.answer.terms)); }
    if (!p.question.assumptions.empty()) { blocks.emplace_back(assumed_in_short(p.question.assumptions)); }
    if (report.stats) { blocks.emplace_back(call_paragraph(*report.stats)); }
    bool const asks_for_more = !report.answer.terms.empty() || !report.answer.schedules.empty() ||
                               report.draws_in_text || report.answer.simulation;
    return asks_for_more ? document : screen_of(document, screen);
}

Document document_of(PredictionReport const& report, Medium medium) {
    Prediction const& p = report.answer.prediction;
    Document document{"Prediction: " + report.setting.model.name + " on " + report.setting.cluster.name,
                      {},
                      footer(report.setting.catalog, report.setting.calibration.name)};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict(report), "", true});
    blocks.emplace_back(Paragraph{plan_line(report), "plan"});
    if (medium == Medium::page) { // as the first screen in a terminal
        blocks.emplace_back(Paragraph{step_in_short(p), "step"});
        blocks.emplace_back(Paragraph{rate_in_short(p), "rate"});
        blocks.emplace_back(Paragraph{memory_in_short(p), "memory"});
        blocks.emplace_back(assumed_in_short(p.question.assumptions, "the table below has all, with reasons"));
    }
    for (LogAnswer const& log : report.answer.logs) { blocks.emplace_back(Paragraph{log_words(log), "log"}); }
    if (auto text = warm_words(p); !text.empty()) { blocks.emplace_back(Paragraph{std::move(text), "measured"}); }
    add_what_to_tell(blocks, report.answer);
    blocks.emplace_back(step_table(p.time));
    if (StackedBars bars = step_bars(p); !bars.parts.empty()) { blocks.emplace_back(std::move(bars)); }
    add_schedule(blocks, report, medium);
    if (!p.communication.empty()) { blocks.emplace_back(communication_table(p)); }
    blocks.emplace_back(memory_table(p));
    if (p.question.strategy.pp > 1) { blocks.emplace_back(stages_table(p)); }
    blocks.emplace_back(memory_bars(p));
    blocks.emplace_back(quantities(report));
    add_left_out(blocks, p, report.answer.left_out);
    if (!report.answer.what_if.empty()) {
        if (medium == Medium::page) { blocks.emplace_back(lever_bars(p, report.answer.what_if)); }
        blocks.emplace_back(what_if_table(report));
    }
    if (!report.answer.terms.empty()) { blocks.emplace_back(explanation(report.answer.terms)); }
    if (!report.answer.prediction.question.assumptions.empty()) {
        blocks.emplace_back(assumptions_table(report.answer.prediction.question.assumptions));
    }
    blocks.emplace_back(Paragraph{provenance_summary(report.setting.calibration), "constants"});
    if (report.stats) { blocks.emplace_back(call_paragraph(*report.stats)); }
    return document;
}

} // namespace headroom::cli
