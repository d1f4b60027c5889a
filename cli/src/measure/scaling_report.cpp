#include "headroom/document/text.hpp"
#include "laws/laws_report.hpp"
#include "measure/scaling_answer.hpp"

#include "headroom/quantity.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {

using namespace headroom::laws;
using namespace headroom::measure;

namespace {

std::string value_cell(ScalingAnswer const& answer, double value) {
    return answer.question.throughput() ? significant(value, 4) : format(Seconds{value});
}

std::string interval_cell(ScalingAnswer const& answer, ScalingRow const& row) {
    if (row.values.size() < 2) { return "-"; }
    return value_cell(answer, row.summary->low) + " .. " + value_cell(answer, row.summary->high);
}

/// "97 % interval": the least of what the intervals of the medians cover, which few repeats hold down.
std::string interval_title(ScalingAnswer const& answer) {
    std::optional<double> least;
    for (ScalingRow const& row : answer.rows) {
        if (row.values.size() > 1) { least = std::min(least.value_or(1.0), row.summary->coverage); }
    }
    return least ? significant(100.0 * *least) + " % interval" : "interval";
}

/// "6", or "4 of 6" where the others have no value.
std::string runs_cell(ScalingRow const& row) {
    std::string const good = std::to_string(row.values.size());
    return row.values.size() == row.taken ? good : good + " of " + std::to_string(row.taken);
}

std::string measured_words(ScalingQuestion const& question) {
    if (question.pattern.empty()) { return "time of a run"; }
    return std::string{question.throughput() ? "throughput" : "time"} + " as the command prints it";
}

Table rows_table(ScalingAnswer const& answer) {
    bool const sized = answer.question.problem.has_value();
    Table table{.title = "Measured: " + measured_words(answer.question),
                .columns = {{"workers"}, {"runs"}, {"median"}, {interval_title(answer)}},
                .rows = {}};
    if (sized) { table.columns.insert(table.columns.begin() + 1, {"size"}); }
    table.columns.push_back({"speedup"});
    table.columns.push_back({"95 % interval"});
    table.columns.push_back({sized ? "eff. %" : "efficiency %"}); // sizes take their room
    for (ScalingRow const& row : answer.rows) {
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

std::string failure_words(ScalingRow const& row) {
    std::vector<std::string> parts;
    if (row.failed > 0) { parts.push_back(std::to_string(row.failed) + " failed"); }
    if (row.timed_out > 0) { parts.push_back(std::to_string(row.timed_out) + " ran out of time"); }
    if (row.unreadable > 0) { parts.push_back(std::to_string(row.unreadable) + " without a result"); }
    return counted(static_cast<std::size_t>(row.workers), "worker") + ": of " + counted(row.taken, "run") + " " +
           join(parts, ", ") + "; the first: " + printable(row.first_message);
}

void add_failures(ScalingAnswer const& answer, std::vector<Block>& blocks) {
    std::vector<std::string> items;
    for (ScalingRow const& row : answer.rows) {
        if (row.failed + row.timed_out + row.unreadable > 0) { items.push_back(failure_words(row)); }
    }
    if (!items.empty()) { blocks.emplace_back(Items{"Failed runs, left out of everything below", std::move(items)}); }
}

void add_warnings(ScalingAnswer const& answer, std::vector<Block>& blocks) {
    std::vector<std::string> items;
    for (ScalingWarning const& warning : answer.warnings) { items.push_back(warning.text); }
    if (!items.empty()) { blocks.emplace_back(Items{"Careful", std::move(items)}); }
}

std::string what_words(ScalingQuestion const& question) {
    if (question.pattern.empty()) { return "the wall clock, from the start of the program to its end"; }
    return std::string{io::name_of(question.unit)} + " that the command prints (" + printable(question.pattern) + ")";
}

std::string runs_words(ScalingAnswer const& answer) {
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
std::string serial_words(FitAnswer const& fit) {
    fit::KarpFlattPoint const& last = fit.report.karp_flatt->points.back();
    return significant(last.serial_fraction) + " at " + plain(last.workers, 6) + " workers, over " +
           plain(fit.report.karp_flatt->baseline, 6) +
           ": what would not divide if nothing else were lost (Karp-Flatt); it belongs to that count";
}

std::string title_of(ScalingQuestion const& question) {
    return "Scaling of " + printable(command_words(question.words));
}

std::string verdict_of(ScalingAnswer const& answer) {
    if (answer.fit) { return fit_verdict(*answer.fit); }
    return answer.why_no_fit;
}

} // namespace

std::string stop_words(FitAnswer const& fit) {
    std::string const last = plain(fit.largest_measured(), 6), law = fit.best().law->name,
                      gain = plain(knee_gain) + "x";
    std::optional<double> const knee = knee_of(fit), peak = fit.best().peak_workers;
    std::string text;
    if (knee) {
        text =
            "at " + workers_words(std::llround(*knee)) + ": by " + law + " a further doubling gives less than " + gain;
    }
    if (peak && *peak <= fit.largest_measured()) {
        text += (knee ? "; n" : "n") + std::string{"ever beyond "} + significant(std::max(1.0, *peak), 3) +
                ", where more make it slower" + (knee ? "" : " (by " + law + ")");
    }
    if (!text.empty()) { return text; }
    if (fit.data.scaling == fit::Scaling::weak) {
        return "where the efficiency below is no longer worth its price: the work grows with the workers, so there is "
               "no "
               "knee";
    }
    return "not before " + last + " workers: by " + law + " every doubling up to there gave at least " + gain +
           ", and beyond nothing was measured";
}

Document document_of(ScalingAnswer const& answer, io::Catalog const& catalog) {
    Document document{title_of(answer.question), {}, footer(catalog, "")};
    auto& blocks = document.blocks;
    blocks.emplace_back(Paragraph{verdict_of(answer), "", true});
    if (answer.fit) {
        if (answer.fit->of_steps()) { blocks.emplace_back(Paragraph{stop_words(*answer.fit), "stop"}); }
        if (answer.fit->report.karp_flatt && !answer.fit->report.karp_flatt->points.empty()) {
            blocks.emplace_back(Paragraph{serial_words(*answer.fit), "serial fraction"});
        }
    }
    if (!answer.complete) {
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

Sheet sheet_of(ScalingAnswer const& answer) {
    Sheet sheet{{"workers", answer.question.throughput() ? "throughput" : "seconds", "repetition"}, {}};
    for (Sample const& sample : answer.campaign.samples) {
        if (sample.outcome != SampleOutcome::measured) { continue; }
        sheet.rows.push_back({std::to_string(answer.question.workers.at(sample.point)), exact(sample.value),
                              std::to_string(sample.repetition)});
    }
    return sheet;
}

} // namespace headroom::cli
