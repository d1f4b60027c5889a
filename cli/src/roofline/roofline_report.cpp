#include "roofline/roofline_report.hpp"

#include "setting_words.hpp"

#include "headroom/document/text.hpp"

#include <algorithm>
#include <array>

namespace headroom::cli {
namespace {

constexpr std::size_t most_rows = 12, most_advice = 5, most_given = 40;

// ---- ceilings -----------------------------------------------------------------------------------------------------

std::string rate_words(Ceiling const& ceiling) {
    return ceiling.level ? format(ceiling.bandwidth) : format(ceiling.rate);
}

/// Where a flat ceiling meets main memory, and a sloped one the peak of the format asked about.
FlopsPerByte ridge_of(Ceiling const& ceiling, RooflineAnswer const& report) {
    Processor const& processor = report.processor();
    return ceiling.level ? ridge_point(processor.peak[report.question.format], ceiling.bandwidth)
                         : ridge_point(ceiling.rate, processor.memory().bandwidth);
}

Table ceilings_table(RooflineAnswer const& report) {
    std::string const asked{name_of(report.question.format)};
    Table table{.title = "Ceilings",
                .columns = {wrapped("ceiling"), left("kind"), "rate", "% of roof", "ridge FLOP/B"}};
    for (Ceiling const& one : report.ceilings) {
        if (one.kind == CeilingKind::datasheet && one.format == report.question.format) {
            table.marked = table.rows.size();
        }
        table.rows.push_back({one.name, std::string{name_of(one.kind)}, rate_words(one), percent(one.of_roof),
                              significant(ridge_of(one, report).base(), 4)});
    }
    return table;
}

std::vector<std::string> ceiling_notes(RooflineAnswer const& report) {
    std::vector<std::string> notes;
    for (Ceiling const& one : report.ceilings) {
        if (!one.note.empty()) { notes.push_back(one.name + ": " + one.note); }
    }
    return notes;
}

// ---- kernels ------------------------------------------------------------------------------------------------------

std::string pass_words(RooflineRow const& row) {
    switch (row.of.phase) {
    case Phase::forward: return "fwd";
    case Phase::recompute: return "again";
    case Phase::backward: return "back";
    }
    return {};
}

/// The part goes before a name where it is not the model's only kind of block.
std::string kernel_words(RooflineRow const& row) {
    bool const apart = row.of.part.starts_with("block ") || row.of.part == "head" || row.of.part == "embedding" ||
                       row.of.part == "prediction block";
    return apart ? row.of.part + ": " + row.of.name : row.of.name;
}

Table given_table(RooflineAnswer const& report) {
    Table table{
        .title = "Kernels under the roof",
        .columns = {left("key"), wrapped("kernel"), "FLOP/B", wrapped("bound by"), "attainable", "% of peak", "time"}};
    auto const order = rows_by_time(report, most_given);
    for (std::size_t i = 0; i < order.size(); ++i) {
        RooflineRow const& row = report.rows[order[i]];
        table.rows.push_back({mark_of(i), row.of.name, intensity_words(row.at.intensity), row.bound_by,
                              row.at.rate.base() > 0.0 ? format(row.at.rate) : "-", percent(row.at.of_peak),
                              format(row.at.time)});
    }
    return table;
}

Table step_table(RooflineAnswer const& report) {
    Table table{.title = "Kernels of a step, the longest first",
                .columns = {left("key"), wrapped("kernel"), spare("pass", Align::left), spare("FLOP/B"), left("bound"),
                            spare("% peak"), "roof", "predicted", "% time"}};
    auto const order = rows_by_time(report, most_rows);
    for (std::size_t i = 0; i < order.size(); ++i) {
        RooflineRow const& row = report.rows[order[i]];
        table.rows.push_back({mark_of(i), kernel_words(row), pass_words(row),
                              row.of.kernel.nominal ? "-" : intensity_words(row.at.intensity),
                              std::string{name_of(row.at.bound)}, row.of.kernel.nominal ? "-" : percent(row.at.of_peak),
                              format(row.at.time * row.of.count), format(row.of.predicted * row.of.count),
                              percent(row.share)});
    }
    return table;
}

Table groups_table(RooflineAnswer const& report) {
    Table table{.title = "Where the step's kernels spend their time",
                .columns = {wrapped("group"), "roof", "predicted", "% time", "x roof"}};
    Seconds const all = report.totals.predicted;
    auto const add = [&](std::string const& name, Seconds roof, Seconds predicted) {
        table.rows.push_back({name, format(roof), format(predicted), percent(predicted / all),
                              roof.base() > 0.0 ? significant(predicted / roof) : "-"});
    };
    for (GroupTime const& group : report.groups) { add(group.group, group.attainable, group.predicted); }
    add("all", report.totals.attainable, all);
    return table;
}

StackedBars groups_bars(RooflineAnswer const& report) {
    StackedBars bars{"Where the step's kernels spend their time", "ms", {}, {"roof", "predicted"}, {{}, {}}, {}, {}};
    bars.caption =
        "The least time that the machine's limits allow, above the predicted one: the part that grows most is "
        "farthest from its limit.";
    for (GroupTime const& group : report.groups) {
        bars.parts.push_back(group.group);
        bars.values[0].push_back(group.attainable.in(units::ms));
        bars.values[1].push_back(group.predicted.in(units::ms));
    }
    return bars;
}

/// Computation and optimizer are those of `predict`; what else its step has is no kernel's.
std::string step_words(RooflineAnswer const& report) {
    StepTime const& time = report.step->prediction.time;
    Seconds const kernels = report.totals.predicted;
    return format(kernels) + " of kernels, as `headroom predict` has it (computation " + format(time.compute) +
           ", optimizer " + format(time.optimizer) + "); its step of " + format(time.total()) + " has " +
           format(time.total() - kernels) + " besides: host, exposed communication, stragglers, overhead.";
}

std::string question_words(RooflineAnswer const& report) {
    Question const& question = report.question.model->question;
    return short_name(question.strategy) + "; micro-batches of " + whole(report.step->tokens) + " " +
           std::string{unit_of_work(question.model)} + " an accelerator, " +
           format_count(micro_batch_count(question.strategy, question.workload), 4) + " a step; " +
           std::string{name_of(question.strategy.precision)} + ", " + question.framework.name;
}

// ---- what would move it -------------------------------------------------------------------------------------------

std::string lever_title(GainBy by) {
    switch (by) {
    case GainBy::memory: return "twice the bandwidth";
    case GainBy::peak: return "twice the peak";
    case GainBy::precision: return "next narrower format";
    case GainBy::batch: return "batch at the ridge (for each row)";
    case GainBy::fusion: return "fused with their neighbours";
    }
    return {};
}

Table levers_table(RooflineAnswer const& report) {
    Table table{.title = "What would move all kernels together", .columns = {wrapped("lever"), "roof", "gain x"}};
    bool const step = report.step.has_value();
    if (step) { table.columns.push_back("predicted if it gains alike"); }
    for (RooflineLever const& lever : report.levers) {
        table.rows.push_back({lever_title(lever.by), format(lever.attainable),
                              significant(report.totals.attainable / lever.attainable)});
        if (step) { table.rows.back().push_back(format(lever.seconds)); }
    }
    return table;
}

Items advice_items(RooflineAnswer const& report) {
    Items items{.title = "What would move them", .items = {}};
    auto const order = rows_by_time(report, most_rows);
    std::vector<std::array<std::string, 3>> told; // marks, name, advice
    for (std::size_t i = 0; i < order.size(); ++i) {
        RooflineRow const& row = report.rows[order[i]];
        std::string const& advice = row.advice;
        std::string const name = report.step ? row.of.operation : row.of.name;
        auto const same = std::ranges::find_if(told, [&](auto const& one) { return one[2] == ": " + advice; });
        if (same != told.end()) { // equal shapes: one sentence for all
            (*same)[0] += ", " + mark_of(i);
            if ((*same)[1].find(name) == std::string::npos) { (*same)[1] += ", " + name; }
        } else if (told.size() < most_advice) {
            told.push_back({mark_of(i), name, ": " + advice});
        }
    }
    for (auto& [marks, name, advice] : told) { items.items.push_back(join({marks, name + advice}, " ")); }
    return items;
}

// ---- the other machine --------------------------------------------------------------------------------------------

Table against_table(RooflineAnswer const& report) {
    Processor const& here = report.processor();
    Processor const& there = report.question.against->processor;
    Table table{.title = "Against " + there.name,
                .columns = {left("key"), wrapped("kernel"), left("bound"), here.name, there.name, "x roof"}};
    if (report.step) { table.columns.push_back("x predicted"); }
    auto const order = rows_by_time(report, report.step ? most_rows : most_given);
    for (std::size_t i = 0; i < order.size(); ++i) {
        RooflineRow const& row = report.rows[order[i]];
        if (!row.other) { continue; }
        table.rows.push_back({mark_of(i), row.of.name, std::string{name_of(row.other->bound)},
                              format(row.at.time * row.of.count), format(row.other->time * row.of.count),
                              significant(row.at.time / row.other->time)});
        if (report.step) { table.rows.back().push_back(significant(row.of.predicted / *row.other_predicted)); }
    }
    return table;
}

void add_step_blocks(std::vector<Block>& blocks, RooflineAnswer const& report) {
    blocks.emplace_back(Paragraph{question_words(report), "step"});
    blocks.emplace_back(groups_table(report));
    blocks.emplace_back(groups_bars(report));
    blocks.emplace_back(Paragraph{step_words(report), "total"});
    blocks.emplace_back(as(Part::answer, step_table(report)));
    if (report.rows.size() > most_rows) {
        blocks.emplace_back(Paragraph{
            std::to_string(report.rows.size() - most_rows) + " shorter kernels are in --format csv and json", "and"});
    }
}

void add_notes(std::vector<Block>& blocks, RooflineAnswer const& report) {
    if (auto notes = ceiling_notes(report); !notes.empty()) { blocks.emplace_back(Items{"", std::move(notes)}); }
    for (std::string const& note : report.notes) { blocks.emplace_back(Paragraph{note, "note"}); }
    blocks.emplace_back(
        Paragraph{"rates are dense and of the datasheet unless stated otherwise; transfers overlap with "
                  "arithmetic; what is read twice is moved once",
                  "assumes"});
    if (report.question.model && !report.question.model->assumptions.empty()) {
        blocks.emplace_back(assumptions_table(report.question.model->assumptions));
    }
}

} // namespace

Document document_of(RooflineAnswer const& report, io::Catalog const& catalog) {
    Document document{"Roofline: " + report.processor().name, {}, footer(catalog, report.calibration)};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{report.verdict, "", true});
    if (report.step) {
        add_step_blocks(blocks, report);
    } else if (!report.rows.empty()) {
        blocks.emplace_back(given_table(report));
        if (report.rows.size() > most_given) {
            blocks.emplace_back(Paragraph{
                std::to_string(report.rows.size() - most_given) + " more kernels are in --format csv and json", "and"});
        }
    }
    blocks.emplace_back(chart_of(report));
    if (!report.rows.empty()) {
        blocks.emplace_back(as(report.question.against ? Part::detail : Part::answer, advice_items(report)));
    }
    if (report.rows.size() > 1) { blocks.emplace_back(levers_table(report)); }
    if (report.question.against) {
        if (!report.rows.empty()) { blocks.emplace_back(against_table(report)); }
        blocks.emplace_back(Items{"The faster machine, or more of the same", report.comparison, Part::answer});
    }
    blocks.emplace_back(ceilings_table(report));
    add_notes(blocks, report);
    return document;
}

} // namespace headroom::cli
