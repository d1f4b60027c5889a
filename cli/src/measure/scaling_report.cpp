#include "laws/laws_fit.hpp"
#include "laws/laws_report.hpp"
#include "measure/measure.hpp"

#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

using Answer = fit::MeasuredScaling;

std::string value_cell(Answer const& answer, double value) {
    return answer.question.throughput() ? significant(value, 4) : format(Seconds{value});
}

std::string interval_cell(Answer const& answer, fit::MeasuredScalingRow const& row) {
    if (row.values.size() < 2) { return "-"; }
    return value_cell(answer, row.summary->low) + " .. " + value_cell(answer, row.summary->high);
}

/// "97 % interval": the least of what the intervals of the medians cover, which few repeats hold down.
std::string interval_title(Answer const& answer) {
    std::optional<double> least;
    for (fit::MeasuredScalingRow const& row : answer.rows) {
        if (row.values.size() > 1) { least = std::min(least.value_or(1.0), row.summary->coverage); }
    }
    return least ? significant(100.0 * *least) + " % interval" : "interval";
}

/// "6", or "4 of 6" where the others have no value.
std::string runs_cell(fit::MeasuredScalingRow const& row) {
    std::string const good = std::to_string(row.values.size());
    return row.values.size() == row.taken ? good : good + " of " + std::to_string(row.taken);
}

std::string measured_words(ScalingQuestion const& question) {
    if (question.pattern.empty()) { return "time of a run"; }
    return std::string{question.throughput() ? "throughput" : "time"} + " as the command prints it";
}

Table rows_table(Answer const& answer) {
    bool const sized = answer.question.problem.has_value();
    Table table{.title = "Measured: " + measured_words(answer.question),
                .columns = {"workers", "runs", "median", interval_title(answer)}};
    if (sized) { table.columns.insert(table.columns.begin() + 1, {"size"}); }
    table.columns.push_back("speedup");
    table.columns.push_back("95 % interval");
    table.columns.push_back(sized ? "eff. %" : "efficiency %"); // sizes take their room
    for (fit::MeasuredScalingRow const& row : answer.rows) {
        std::vector<std::string> cells{std::to_string(row.workers), runs_cell(row)};
        if (sized) { cells.insert(cells.begin() + 1, row.size.value_or("-")); }
        if (row.summary) {
            cells.push_back(value_cell(answer, row.summary->median));
            cells.push_back(interval_cell(answer, row));
            cells.push_back(significant(*row.speedup) + "x");
            cells.push_back(row.speedup_low ? significant(*row.speedup_low) + " .. " + significant(*row.speedup_high)
                                            : "-");
            cells.push_back(percent(*row.efficiency));
        } else {
            cells.insert(cells.end(), 5, "-");
        }
        table.rows.push_back(std::move(cells));
    }
    return table;
}

std::string failure_words(fit::MeasuredScalingRow const& row) {
    std::vector<std::string> parts;
    if (row.failed > 0) { parts.push_back(std::to_string(row.failed) + " failed"); }
    if (row.timed_out > 0) { parts.push_back(std::to_string(row.timed_out) + " ran out of time"); }
    if (row.unreadable > 0) { parts.push_back(std::to_string(row.unreadable) + " without a result"); }
    return counted(static_cast<std::size_t>(row.workers), "worker") + ": of " + counted(row.taken, "run") + " " +
           join(parts, ", ") + "; the first: " + printable(row.first_message);
}

void add_failures(Answer const& answer, std::vector<Block>& blocks) {
    std::vector<std::string> items;
    for (fit::MeasuredScalingRow const& row : answer.rows) {
        if (row.failed + row.timed_out + row.unreadable > 0) { items.push_back(failure_words(row)); }
    }
    if (!items.empty()) { blocks.emplace_back(Items{"Failed runs, left out of everything below", std::move(items)}); }
}

void add_warnings(Answer const& answer, std::vector<Block>& blocks) {
    std::vector<std::string> items;
    for (fit::ScalingWarning const& warning : answer.warnings) { items.push_back(warning.text); }
    if (!items.empty()) { blocks.emplace_back(Items{"Careful", std::move(items)}); }
}

std::string what_words(ScalingQuestion const& question) {
    if (question.pattern.empty()) { return "the wall clock, from the start of the program to its end"; }
    return std::string{name_of(question.unit)} + " that the command prints (" + printable(question.pattern) + ")";
}

std::string runs_words(Answer const& answer) {
    ScalingQuestion const& question = answer.question;
    std::string text = counted(answer.campaign.samples.size(), "run") + " of " +
                       std::to_string(question.workers.size() * (question.repeats + std::size_t{question.warm_up})) +
                       " at " + counted(question.workers.size(), "worker count") +
                       ", in rounds of every count, order " + "by seed " + std::to_string(question.seed);
    if (question.warm_up > 0) { text += "; " + std::to_string(question.warm_up) + " of each a warm-up, left out"; }
    if (answer.resumed > 0) { text += "; " + std::to_string(answer.resumed) + " were there from before"; }
    if (!answer.store.empty()) {
        text += ". Kept as campaign " + std::to_string(answer.campaign.id) + " of " + printable(answer.store);
    }
    return text;
}

/// "0.042 at 8 workers, over 1": Karp and Flatt's fraction of the largest count, which holds there and nowhere else.
std::string serial_words(Answer const& answer, fit::KarpFlattPoint const& last) {
    return significant(last.serial_fraction) + " at " + plain(last.workers, 6) + " workers, over " +
           plain(answer.fit->report.karp_flatt->baseline, 6) +
           ": what would not divide if nothing else were lost (Karp-Flatt); it belongs to that count";
}

std::string title_of(ScalingQuestion const& question) {
    return "Scaling of " + printable(command_words(question.words));
}

std::string verdict_of(Answer const& answer) {
    if (answer.fit) { return fit_verdict(*answer.fit); }
    return answer.why_no_fit;
}

std::string time_words(ScalingPlan const& plan) {
    std::string text = counted(plan.left.size(), "run");
    if (plan.there > 0) {
        text += " left, " + std::to_string(plan.there) + (plan.there == 1 ? " is" : " are") + " there already";
    }
    text += plan.estimate_seconds ? ": about " + format(Seconds{*plan.estimate_seconds}) + ", by " + plan.estimated_from
                                  : ": how long that takes is not known, too little of this command was measured here";
    if (plan.at_most_seconds) { text += "; at most " + format(Seconds{*plan.at_most_seconds}) + " by --timeout"; }
    return text + ".";
}

} // namespace

Document document_of(fit::MeasuredScaling const& answer, io::Catalog const& catalog) {
    Document document{title_of(answer.question), {}, footer(catalog, "")};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict_of(answer), "", true});
    if (auto const stop = stop_words(answer)) { blocks.emplace_back(Paragraph{*stop, "stop"}); }
    if (auto const* last = last_serial_fraction(answer)) {
        blocks.emplace_back(Paragraph{serial_words(answer, *last), "serial fraction"});
    }
    if (!answer.complete()) {
        blocks.emplace_back(Paragraph{"interrupted: the same command goes on where it stopped", "not complete"});
    }
    if (answer.values() > 0) { blocks.emplace_back(rows_table(answer)); }
    add_failures(answer, blocks);
    add_warnings(answer, blocks);
    std::string const data = what_words(answer.question) + "; " + runs_words(answer);
    if (!answer.fit) {
        blocks.emplace_back(Paragraph{data, "data"});
        return document;
    }
    for (Block& block : fit_blocks(*answer.fit, data)) { blocks.push_back(std::move(block)); }
    return document;
}

Document document_of(ScalingPlan const& plan, io::Catalog const& catalog) {
    constexpr std::size_t most_rows = 40; // of an order that a person reads
    Document document{"Order of runs (nothing was run)", {}, footer(catalog, "")};
    document.blocks.emplace_back(Paragraph{time_words(plan), "", true});
    auto commands = planned_commands(plan);
    commands.resize(std::min(commands.size(), most_rows));
    document.blocks.emplace_back(
        field_rows("Order", commands, {{"workers"}, {"repetition"}, {"warm_up"}, {"command"}}));
    if (plan.left.size() > most_rows) {
        document.blocks.emplace_back(Paragraph{std::to_string(plan.left.size() - most_rows) +
                                               " more in the same manner; --format json or csv has all of them"});
    }
    return document;
}

} // namespace headroom::cli
