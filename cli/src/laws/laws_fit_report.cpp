#include "laws/laws_fit_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::cli {
namespace {

constexpr double misses = 25.0; ///< SMAPE in percent from which a fit is not called one

std::string times(std::optional<double> value) { return value ? significant(*value) + "x" : "-"; }
std::string percent_or_dash(std::optional<double> value) { return value ? percent(*value) : "-"; }
std::string number_or_dash(std::optional<double> value, int digits = 3) {
    return value ? significant(*value, digits) : "-";
}

std::string count_words(double count) { return count == std::floor(count) ? whole(count) : significant(count, 4); }

std::string interval_cell(fit::FittedCoefficient const& c) {
    if (c.fixed) { return "given"; }
    if (!c.low && !c.high) { return "-"; }
    return (c.low ? significant(*c.low) : "...") + " .. " + (c.high ? significant(*c.high) : "...");
}

Table laws_table(FitAnswer const& answer) {
    Table table{.title = "Laws",
                .columns = {{"law", Align::left}, {"AICc"}, {"last off %"}, {"SMAPE %"}},
                .rows = {},
                .marked = answer.report.best};
    if (answer.of_steps()) {
        table.columns.push_back({"peak at"});
        table.columns.push_back({"ceiling"});
    }
    for (fit::LawFit const& one : answer.report.fits) {
        std::vector<std::string> row{one.law->name, number_or_dash(one.aicc, 4),
                                     percent_or_dash(one.leave_last_out_error), significant(one.smape)};
        if (answer.of_steps()) {
            row.push_back(one.peak_workers ? significant(*one.peak_workers, 4) : "-");
            row.push_back(times(one.ceiling));
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

/// Formulas by the names of the laws.
Table formulas_table(FitAnswer const& answer) {
    Table table{.title = "Formulas",
                .columns = {{"law", Align::left}, {"formula", Align::left, true}},
                .rows = {},
                .marked = answer.report.best};
    for (fit::LawFit const& one : answer.report.fits) { table.rows.push_back({one.law->name, one.formula}); }
    return table;
}

Table coefficients_table(FitAnswer const& answer) {
    fit::LawFit const& best = answer.best();
    Table table{.title = "Coefficients of " + std::string{best.law->name} + ": " + best.formula,
                .columns = {{"name", Align::left},
                            {"value"},
                            {fit::share_words(answer.question.coverage) + " interval"},
                            {"std error"},
                            {"meaning", Align::left, true}},
                .rows = {}};
    for (std::size_t j = 0; j < best.coefficients.size(); ++j) {
        fit::FittedCoefficient const& c = best.coefficients[j];
        std::string const meaning = best.law->coefficients[j].meaning;
        table.rows.push_back({c.name, significant(c.value, 5), interval_cell(c), number_or_dash(c.standard_error),
                              c.at_bound ? meaning + " (at its bound)" : meaning});
    }
    return table;
}

std::string band_cell(FitAnswer const& answer, std::optional<double> low, std::optional<double> high) {
    if (!low || !high) { return "-"; }
    return value_words(answer, *low) + " .. " + value_words(answer, *high);
}

/// The mean of the measurements at a count.
std::optional<double> measured_at(FitAnswer const& answer, double workers) {
    for (fit::ScalingSample const& mean : fit::means_of(answer.data.samples)) {
        if (mean.workers == workers) { return mean.value; }
    }
    return std::nullopt;
}

Table predictions_table(FitAnswer const& answer) {
    Table table{.title = "Predicted by " + std::string{answer.best().law->name},
                .columns = {{"workers"},
                            {"measured"},
                            {"curve"},
                            {fit::share_words(answer.question.coverage) + " of measurements"}},
                .rows = {}};
    if (answer.of_steps()) {
        table.columns.push_back({"speedup"});
        table.columns.push_back({"efficiency %"});
    }
    for (fit::ScalingPrediction const& row : answer.report.predictions) {
        auto const measured = measured_at(answer, row.workers);
        std::vector<std::string> cells{count_words(row.workers) + (row.beyond ? " +" : ""),
                                       measured ? value_words(answer, *measured) : "-", value_words(answer, row.value),
                                       band_cell(answer, row.low, row.high)};
        if (answer.of_steps()) {
            cells.push_back(times(row.speedup));
            cells.push_back(row.speedup ? percent(*row.speedup / row.workers) : "-");
        }
        table.rows.push_back(std::move(cells));
    }
    return table;
}

Table karp_flatt_table(fit::KarpFlatt const& result) {
    std::string const over = result.baseline == 1.0 ? "" : ", over " + count_words(result.baseline) + " workers";
    Table table{.title = "Serial fraction as measured (Karp-Flatt)" + over,
                .columns = {{"workers"}, {"speedup"}, {"serial fraction"}},
                .rows = {}};
    for (fit::KarpFlattPoint const& point : result.points) {
        table.rows.push_back({count_words(point.workers), times(point.speedup), significant(point.serial_fraction)});
    }
    return table;
}

std::string capitalised(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') { text[0] = static_cast<char>(text[0] - 'a' + 'A'); }
    return text;
}

/// " (90 %: 350 to 410)": how sure the ceiling is; nothing where its law has no interval of it.
std::string ceiling_interval_words(FitAnswer const& answer) {
    auto const &low = answer.report.ceiling_low, &high = answer.report.ceiling_high;
    if (!answer.best().law->saturates || (!low && !high)) { return ""; }
    std::string const share = " (" + fit::share_words(answer.question.coverage) + ": ";
    if (!high) { return share + value_words(answer, *low) + " or more, perhaps without end)"; }
    if (!low) { return share + value_words(answer, *high) + " or less, perhaps nothing)"; }
    return share + value_words(answer, *low) + " to " + value_words(answer, *high) + ")";
}

/// ", a throughput of 378 img/s": what the ceiling is in what was measured; nothing where that is the speedup itself.
std::string ceiling_words(FitAnswer const& answer) {
    std::optional<double> const value = answer.best().ceiling_value;
    switch (answer.data.measured) {
    case fit::Measured::seconds: return value ? ", a time of " + value_words(answer, *value) : "";
    case fit::Measured::throughput: return value ? ", a throughput of " + value_words(answer, *value) : "";
    default: return "";
    }
}

/// ", 42.9 to 73.7 by laws that fit as well": where laws whose AICc is within 4 of the least put the peak elsewhere.
std::string other_peaks_words(FitAnswer const& answer) {
    constexpr double as_well = 4.0, apart = 1.1;
    double least = std::numeric_limits<double>::infinity();
    for (fit::LawFit const& one : answer.report.fits) { least = std::min(least, one.aicc.value_or(least)); }
    double const best = *answer.best().peak_workers;
    double low = best, high = best;
    for (fit::LawFit const& one : answer.report.fits) {
        if (one.law->fixed_scale || !one.peak_workers || !one.aicc || *one.aicc > least + as_well) { continue; }
        low = std::min(low, *one.peak_workers);
        high = std::max(high, *one.peak_workers);
    }
    if (high < apart * low) { return ""; }
    return " (" + significant(low, 3) + " to " + significant(high, 3) + " by laws that fit as well)";
}

/// Peak or ceiling of the best law against the largest measured count.
std::string reach_words(FitAnswer const& answer) {
    fit::LawFit const& best = answer.best();
    double const last = answer.largest_measured();
    if (best.peak_workers) {
        std::string const at = significant(std::max(1.0, *best.peak_workers), 3);
        std::string text = "the peak is at " + at + " workers" + other_peaks_words(answer) + ": " +
                           times(best.ceiling) + " one worker" + ceiling_words(answer) + "; more make it slower";
        if (last > *best.peak_workers) { text += ", and " + whole(last) + ", which was measured, is past it"; }
        return text;
    }
    std::optional<double> reached;
    for (fit::ScalingPrediction const& row : answer.report.predictions) {
        if (row.workers == last) { reached = row.speedup; }
    }
    if (best.ceiling) {
        bool const rate = fit::is_rate(answer.data.measured);
        bool const is_open = best.law->saturates && !(rate ? answer.report.ceiling_high : answer.report.ceiling_low);
        std::string text = (is_open ? "the ceiling, if there is one, is about " : "never more than ") +
                           times(best.ceiling) + " one worker" + ceiling_words(answer) + ceiling_interval_words(answer);
        if (reached) {
            text += "; " + whole(last) + " workers reach " + percent(*reached / *best.ceiling) + " % of it";
        }
        return text;
    }
    if (!reached) { return best.formula; }
    if (*reached < 1.0) { return whole(last) + " workers are slower than one, " + times(reached); }
    return whole(last) + " workers are " + times(reached) + " one worker, and there is no ceiling in it";
}

std::string data_words(FitAnswer const& answer) {
    fit::ScalingSource const& table = answer.table;
    std::string text = printable(answer.file) + ": " + counted(table.rows, "row") + " of " +
                       counted(fit::means_of(answer.data.samples).size(), "worker count") + ", columns " +
                       printable(table.workers_column) + " and " + printable(table.value_column);
    if (!table.weight_column.empty()) { text += ", weights by " + printable(table.weight_column); }
    if (!table.region.empty()) { text += ", region " + printable(table.region); }
    if (table.regions.size() > 1) { text += " of " + std::to_string(table.regions.size()); }
    return text;
}

void add_notes(FitAnswer const& answer, std::vector<Block>& blocks) {
    std::vector<std::string> notes;
    for (fit::Finding const& finding : answer.report.findings) { notes.push_back(finding.text); }
    for (std::string const& one : answer.table.notes) { notes.push_back(one); }
    if (answer.of_steps() && fit::means_of(answer.data.samples).front().workers > 1.0) {
        notes.push_back("one worker was not measured: speedups of the law are over its own value there, those of "
                        "measurements over " +
                        count_words(fit::means_of(answer.data.samples).front().workers) + " workers");
    }
    if (!answer.table.ignored.empty()) {
        std::vector<std::string> names;
        for (std::string const& name : answer.table.ignored) { names.push_back(printable(name)); }
        notes.push_back("columns that were not used: " + join(names, ", "));
    }
    for (fit::LeftOutLaw const& one : answer.report.left_out) { notes.push_back(one.law + " is left out: " + one.why); }
    if (answer.table.regions.size() > 1) {
        std::vector<std::string> names;
        for (std::string const& name : answer.table.regions) { names.push_back(printable(name)); }
        notes.push_back("regions of the file: " + join(names, ", "));
    }
    if (!notes.empty()) { blocks.emplace_back(Items{"Notes", std::move(notes)}); }
}

} // namespace

std::string fit_verdict(FitAnswer const& answer) {
    if (answer.report.sync) { return capitalised(answer.report.sync->sentence) + "."; }
    fit::LawFit const& best = answer.best();
    std::string const how = best.smape < misses
                                ? " fits best: "
                                : " fits least badly, and misses by a SMAPE of " + significant(best.smape) + " %: ";
    return best.law->name + how + (answer.of_steps() ? reach_words(answer) : best.formula) + ".";
}

std::string value_words(FitAnswer const& answer, double value) {
    switch (answer.data.measured) {
    case fit::Measured::seconds:
    case fit::Measured::sync: return value > 0.0 ? format(Seconds{value}) : significant(value) + " s";
    case fit::Measured::speedup: return significant(value) + "x";
    case fit::Measured::throughput: {
        std::string const unit = answer.table.unit.empty() ? "" : " " + printable(answer.table.unit);
        return (std::abs(value) < 1e5 ? significant(value, 4) : scaled(value, 4)) + unit;
    }
    case fit::Measured::value: break;
    }
    return significant(value, 4);
}

std::vector<Block> fit_blocks(FitAnswer const& answer, std::string const& data) {
    std::vector<Block> blocks;
    blocks.emplace_back(Paragraph{answer.report.chosen_because, "chosen"});
    blocks.emplace_back(Paragraph{answer.best().normalisation, "scale"});
    blocks.emplace_back(Paragraph{data, "data"});
    if (answer.report.next_measurement) {
        blocks.emplace_back(Paragraph{answer.report.next_measurement->why, "measure next"});
    }
    blocks.emplace_back(laws_table(answer));
    blocks.emplace_back(coefficients_table(answer));
    blocks.emplace_back(predictions_table(answer));
    blocks.emplace_back(fit_chart(answer));
    if (answer.report.karp_flatt && !answer.report.karp_flatt->points.empty()) {
        blocks.emplace_back(karp_flatt_table(*answer.report.karp_flatt));
        blocks.emplace_back(Paragraph{answer.report.karp_flatt->verdict, "trend"});
    }
    if (answer.report.fits.size() > 1) { blocks.emplace_back(formulas_table(answer)); }
    add_notes(answer, blocks);
    blocks.emplace_back(Paragraph{conversion_words(answer), "conversion"});
    blocks.emplace_back(Paragraph{
        std::string{"least squares with errors "} +
            (answer.question.relative_errors ? "of one share of the value" : "of one size at every count") +
            (answer.table.weight_column.empty() ? "" : ", weighed as the table says") +
            "; AICc judges fit against the number "
            "of coefficients, last off is the error at the largest count when it is predicted from the others; "
            "+ marks counts beyond the measured ones, where the bands hold only if the law does",
        "assumes"});
    return blocks;
}

Document document_of(FitAnswer const& answer, io::Catalog const& catalog) {
    std::string const name = answer.file.substr(answer.file.find_last_of('/') + 1); // the whole path stands below
    Document document{"Scaling laws fitted to " + printable(name), {}, footer(catalog, "")};
    document.blocks.emplace_back(Paragraph{fit_verdict(answer), "", true});
    for (Block& block : fit_blocks(answer, data_words(answer))) { document.blocks.push_back(std::move(block)); }
    return document;
}

} // namespace headroom::cli
