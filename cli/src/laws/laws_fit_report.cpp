#include "laws/laws_fit.hpp"

#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headroom::cli {
namespace {

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
    Table table{
        .title = "Laws", .columns = {left("law"), "AICc", "last off %", "SMAPE %"}, .marked = answer.report.best};
    if (answer.of_steps()) {
        table.columns.push_back("peak at");
        table.columns.push_back("ceiling");
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
    Table table{.title = "Formulas", .columns = {left("law"), wrapped("formula")}, .marked = answer.report.best};
    for (fit::LawFit const& one : answer.report.fits) { table.rows.push_back({one.law->name, one.formula}); }
    return table;
}

Table coefficients_table(FitAnswer const& answer) {
    fit::LawFit const& best = answer.best();
    Table table{.title = "Coefficients of " + std::string{best.law->name} + ": " + best.formula,
                .columns = {left("name"), "value", fit::share_words(answer.question.coverage) + " interval",
                            "std error", wrapped("meaning")}};
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

/// Centre of the measurements at a count.
std::optional<double> measured_at(FitAnswer const& answer, double workers) {
    for (fit::ScalingSample const& centre : fit::measured_centres(answer.data)) {
        if (centre.workers == workers) { return centre.value; }
    }
    return std::nullopt;
}

/// "one worker", "4 workers": what speedups are over.
std::string base_count_words(FitAnswer const& answer) {
    double const base = fit::base_workers(answer.data);
    return base == 1.0 ? "one worker" : count_words(base) + " workers";
}

/// Efficiency of a value that is `ratio` times the ideal.
double proposal_efficiency(FitAnswer const& answer, double ratio) {
    return fit::is_rate(answer.data.measured) ? ratio : 1.0 / ratio;
}

/// "6.07x one worker", "3.4x over 4 workers".
std::string ratio_words(FitAnswer const& answer, std::optional<double> speedup) {
    std::string const over = fit::base_workers(answer.data) == 1.0 ? " " : " over ";
    return times(speedup) + over + base_count_words(answer);
}

Table predictions_table(FitAnswer const& answer) {
    bool const speedups = answer.of_steps() && answer.best().withheld == fit::Withheld::nothing;
    std::string const over = speedups ? ", speedups over " + base_count_words(answer) : "";
    Table table{
        .title = "Predicted by " + std::string{answer.best().law->name} + over,
        .columns = {"workers", "measured", "curve", fit::share_words(answer.question.coverage) + " of measurements"}};
    if (speedups) {
        table.columns.push_back("speedup");
        table.columns.push_back("efficiency %");
    }
    for (fit::ScalingPrediction const& row : answer.report.predictions) {
        auto const measured = measured_at(answer, row.workers);
        std::vector<std::string> cells{count_words(row.workers) + (row.beyond ? " +" : ""),
                                       measured ? value_words(answer, *measured) : "-", value_words(answer, row.value),
                                       band_cell(answer, row.low, row.high)};
        if (speedups) {
            cells.push_back(times(row.speedup));
            cells.push_back(percent_or_dash(row.efficiency));
        }
        table.rows.push_back(std::move(cells));
    }
    return table;
}

Table karp_flatt_table(fit::KarpFlatt const& result) {
    std::string const over = result.baseline == 1.0 ? "" : ", over " + count_words(result.baseline) + " workers";
    Table table{.title = "Serial fraction as measured (Karp-Flatt)" + over,
                .columns = {"workers", "speedup", "serial fraction"}};
    for (fit::KarpFlattPoint const& point : result.points) {
        table.rows.push_back({count_words(point.workers), times(point.speedup), significant(point.serial_fraction)});
    }
    return table;
}

/// Name of a worker by the column of the counts: "node" of "nnodes", "GPU" of "gpus".
std::string worker_name(FitAnswer const& answer) {
    constexpr std::array<std::array<std::string_view, 2>, 10> names{{{"thread", "thread"},
                                                                     {"node", "node"},
                                                                     {"host", "node"},
                                                                     {"machine", "node"},
                                                                     {"gpu", "GPU"},
                                                                     {"cpu", "CPU"},
                                                                     {"core", "core"},
                                                                     {"rank", "rank"},
                                                                     {"proc", "process"},
                                                                     {"task", "task"}}};
    std::string column = answer.table.workers_column;
    std::ranges::transform(column, column.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    for (auto const& [part, name] : names) {
        if (column.find(part) != std::string::npos) { return std::string{name}; }
    }
    return "worker";
}

std::string plural(std::string const& name) { return name + (name.ends_with('s') ? "es" : "s"); }

/// Figures that a proposal for computing time states: each count against the ideal, and its node-hours.
Table proposal_table(FitAnswer const& answer) {
    std::string const name = worker_name(answer);
    bool const times = answer.data.measured == fit::Measured::seconds;
    Table table{.title = "For a proposal",
                .columns = {plural(name), times ? "time" : "value", "ideal", "ratio", "efficiency %"}};
    if (times) { table.columns.push_back(name + "-hours"); }
    for (fit::ScalingPrediction const& row : answer.report.predictions) {
        std::string const mark = row.beyond ? " +" : "";
        std::vector<std::string> cells{count_words(row.workers) + mark,
                                       value_words(answer, measured_at(answer, row.workers).value_or(row.value)),
                                       row.ideal ? value_words(answer, *row.ideal) : "-", number_or_dash(row.ratio),
                                       row.ratio ? percent(proposal_efficiency(answer, *row.ratio)) : "-"};
        if (times) { cells.push_back(number_or_dash(row.worker_hours)); }
        table.rows.push_back(std::move(cells));
    }
    return table;
}

/// "70 % holds to 26 nodes (efficiency over 1 node)".
std::string held_words(FitAnswer const& answer, fit::HeldEfficiency const& held) {
    std::string const name = worker_name(answer);
    auto const count = [&](double workers) {
        return count_words(workers) + " " + (workers == 1.0 ? name : plural(name));
    };
    std::string const share = fit::share_words(held.efficiency);
    std::string const over = " (efficiency over " + count(fit::base_workers(answer.data)) + ")";
    if (held.endless) {
        return share + " holds at every measured count, to " + count(answer.largest_measured()) + over +
               "; the law sets no end";
    }
    if (!held.workers) { return share + " does not hold at " + count(answer.smallest_measured()) + over; }
    std::string const text = share + " holds to " + count(*held.workers) + over;
    if (held.measured) { return text + ", as measured"; }
    if (*held.workers <= answer.largest_measured()) { return text; }
    return text + ", if the law holds beyond the " + count_words(answer.largest_measured()) + " that were measured";
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

/// ", 42.9 to 73.7 by laws that fit as well": where laws whose AICc is within 4 of the least put the peak elsewhere or
/// have none.
std::string other_peaks_words(FitAnswer const& answer) {
    constexpr double as_well = 4.0, apart = 1.1;
    double least = std::numeric_limits<double>::infinity();
    for (fit::LawFit const& one : answer.report.fits) { least = std::min(least, one.aicc.value_or(least)); }
    double const best = *answer.best().peak_workers;
    double low = best, high = best;
    bool none = false;
    for (fit::LawFit const& one : answer.report.fits) {
        if (one.law->fixed_scale || !one.aicc || *one.aicc > least + as_well) { continue; }
        none = none || (!one.peak_workers && one.withheld == fit::Withheld::nothing);
        if (!one.peak_workers) { continue; }
        low = std::min(low, *one.peak_workers);
        high = std::max(high, *one.peak_workers);
    }
    if (high < apart * low) { return none ? " (or none by laws that fit as well)" : ""; }
    return " (" + significant(low, 3) + " to " + significant(high, 3) + (none ? ", or none," : "") +
           " by laws that fit as well)";
}

/// "16 cores are 5.21x one worker": the largest count, and the best one where that is another.
std::string measured_words(FitAnswer const& answer) {
    std::vector<fit::ScalingSample> const speedups = fit::measured_speedups(answer.data);
    fit::ScalingSample const& best = *std::ranges::max_element(speedups, {}, &fit::ScalingSample::value);
    std::string text =
        count_words(speedups.back().workers) + " workers are " + ratio_words(answer, speedups.back().value);
    if (best.workers != speedups.back().workers) {
        text += best.workers == answer.smallest_measured()
                    ? ", and no count was faster than that"
                    : ", the best is " + times(best.value) + " on " + count_words(best.workers);
    }
    return text;
}

/// "6.07x one worker, a time of 3 s". A ratio to the curve's own value at the base that is below a measured speedup is left out.
std::string end_words(FitAnswer const& answer) {
    double measured = 0.0;
    for (fit::ScalingSample const& one : fit::measured_speedups(answer.data)) {
        measured = std::max(measured, one.value);
    }
    std::string const value = ceiling_words(answer);
    if (*answer.best().ceiling >= measured || value.empty()) {
        return ratio_words(answer, answer.best().ceiling) + value;
    }
    return value.substr(2) + " (measured: " + ratio_words(answer, measured) + ")";
}

/// Whether a measurement is better than the end of the law.
bool end_was_passed(FitAnswer const& answer) {
    double const end = *answer.best().ceiling_value;
    return std::ranges::any_of(fit::means_of(answer.data.samples), [&](fit::ScalingSample const& mean) {
        return fit::is_rate(answer.data.measured) ? mean.value > end : mean.value < end;
    });
}

std::string peak_words(FitAnswer const& answer) {
    double const peak = *answer.best().peak_workers, last = answer.largest_measured();
    if (peak <= answer.smallest_measured()) {
        return "more workers make it slower, from the smallest measured count on: " + measured_words(answer);
    }
    std::string const text = "the peak is at " + significant(peak, 3) + " workers" + other_peaks_words(answer) + ": " +
                             end_words(answer) + "; more make it slower";
    return last > peak ? text + ", and " + whole(last) + ", which was measured, is past it" : text;
}

/// Peak or ceiling of the best law against the largest measured count.
std::string reach_words(FitAnswer const& answer) {
    fit::LawFit const& best = answer.best();
    double const last = answer.largest_measured();
    if (best.peak_workers) { return peak_words(answer); }
    std::optional<double> reached;
    for (fit::ScalingPrediction const& row : answer.report.predictions) {
        if (row.workers == last) { reached = row.speedup; }
    }
    if (best.ceiling) {
        bool const rate = fit::is_rate(answer.data.measured);
        bool const is_open = best.law->saturates && !(rate ? answer.report.ceiling_high : answer.report.ceiling_low);
        bool const passed = best.ceiling_value && end_was_passed(answer);
        std::string text = (is_open  ? "the ceiling, if there is one, is about "
                            : passed ? "it levels off at about "
                                     : "never more than ") +
                           end_words(answer) + ceiling_interval_words(answer);
        if (reached && !passed) {
            text += "; " + whole(last) + " workers reach " + percent(*reached / *best.ceiling) + " % of it";
        }
        return text;
    }
    return measured_words(answer) +
           (fit::measured_speedups(answer.data).back().value < 1.0 ? "" : ", and there is no ceiling in it");
}

/// A law that fits may have too few measurements to be judged; then the chosen one is not the least bad.
std::string least_bad_words(FitAnswer const& answer) {
    bool const other_fits =
        std::ranges::any_of(answer.report.fits, [](fit::LawFit const& one) { return one.smape < fit::most_smape; });
    return std::string{other_fits ? " is chosen (--full has the reason)" : " fits least badly"} +
           ", and misses by a SMAPE of ";
}

/// Conclusion where the best law gives nothing beyond the measurements.
std::string withheld_words(FitAnswer const& answer) {
    fit::LawFit const& best = answer.best();
    std::string const name = best.law->name, measured = " Measured: " + measured_words(answer) + ".";
    std::string const nothing = ": no peak, ceiling or time outside of the measured counts follows from it.";
    switch (best.withheld) {
    case fit::Withheld::scaling: return capitalised(best.withheld_because) + "." + measured;
    case fit::Withheld::series:
        return capitalised(best.withheld_because) + ". Over all of them " + name + " misses by a SMAPE of " +
               significant(best.smape) + " %" + nothing;
    case fit::Withheld::smape:
        return name + least_bad_words(answer) + significant(best.smape) + " %" + nothing + measured;
    default: return name + " fits best, but " + best.withheld_because + nothing + measured;
    }
}

std::string data_words(FitAnswer const& answer) {
    fit::ScalingSource const& table = answer.table;
    std::string text = printable(answer.file) + ": " + counted(table.rows, "row") + " of " +
                       counted(fit::means_of(answer.data.samples).size(), "worker count") + ", columns " +
                       printable(table.workers_column) + " and " + printable(table.value_column);
    std::string const quantity{fit::name_of(answer.data.measured)};
    if (table.value_column != quantity) { text += ", taken as " + quantity; }
    if (!table.weight_column.empty()) { text += ", weights by " + printable(table.weight_column); }
    if (!table.region.empty()) { text += ", region " + printable(table.region); }
    if (table.regions.size() > 1) { text += " of " + std::to_string(table.regions.size()); }
    return text;
}

void add_notes(FitAnswer const& answer, std::vector<Block>& blocks) {
    std::vector<std::string> notes;
    for (fit::Finding const& finding : answer.report.findings) { notes.push_back(finding.text); }
    for (std::string const& one : answer.table.notes) { notes.push_back(one); }
    if (answer.of_steps() && fit::base_workers(answer.data) > 1.0) {
        notes.push_back("speedups and efficiencies are over " + base_count_words(answer) +
                        ", the smallest count that was measured");
    } else if (answer.data.measured == fit::Measured::speedup &&
               std::abs(fit::means_of(answer.data.samples).front().value - 1.0) > 0.02 &&
               answer.smallest_measured() == 1.0) {
        notes.push_back(
            "the stated speedup of one worker is not 1: speedups are over something else, and stay as they are stated");
    } else if (answer.data.measured == fit::Measured::speedup && answer.smallest_measured() > 1.0) {
        notes.push_back("the stated speedups are taken to be over one worker, as that of " +
                        count_words(answer.smallest_measured()) + " workers is not 1");
    }
    if (!answer.table.ignored.empty()) {
        std::vector<std::string> names;
        for (std::string const& name : answer.table.ignored) { names.push_back(printable(name)); }
        notes.push_back("columns that were not used: " + join(names, ", "));
    }
    for (Issue const& one : answer.table.issues) { notes.push_back(printable(words_of(one))); }
    for (fit::LeftOutLaw const& one : answer.report.left_out) { notes.push_back(one.law + " is left out: " + one.why); }
    if (answer.table.regions.size() > 1) {
        std::vector<std::string> names;
        for (std::string const& name : answer.table.regions) { names.push_back(printable(name)); }
        notes.push_back("regions of the file: " + join(names, ", "));
    }
    if (!notes.empty()) { blocks.emplace_back(Items{"Notes", std::move(notes), Part::warning}); }
}

} // namespace

std::string fit_verdict(FitAnswer const& answer) {
    if (answer.report.sync) { return capitalised(answer.report.sync->sentence) + "."; }
    fit::LawFit const& best = answer.best();
    if (best.withheld != fit::Withheld::nothing) { return withheld_words(answer); }
    std::string const how =
        best.smape < fit::most_smape ? " fits best: " : least_bad_words(answer) + significant(best.smape) + " %: ";
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

namespace {

/// Whether a law's speedups are over a value of its curve: stated speedups are as they were stated.
bool is_ratio_of_curve(FitAnswer const& answer) {
    return answer.of_steps() && answer.data.measured != fit::Measured::speedup;
}

} // namespace

std::vector<Block> fit_blocks(FitAnswer const& answer, std::string const& data) {
    std::vector<Block> blocks;
    blocks.emplace_back(Paragraph{answer.report.chosen_because, "chosen"});
    blocks.emplace_back(Paragraph{answer.best().normalisation, "scale", false, Part::detail});
    blocks.emplace_back(Paragraph{data, "data", false, Part::detail});
    if (answer.report.held) {
        blocks.emplace_back(Paragraph{held_words(answer, *answer.report.held), "efficiency", false, Part::answer});
    }
    if (answer.report.next_measurement) {
        blocks.emplace_back(Paragraph{answer.report.next_measurement->why, "measure next"});
    }
    blocks.emplace_back(laws_table(answer));
    blocks.emplace_back(coefficients_table(answer));
    blocks.emplace_back(as(Part::answer, predictions_table(answer)));
    if (answer.of_steps()) { blocks.emplace_back(proposal_table(answer)); }
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
            "+ marks counts beyond the measured ones, where the bands hold only if the law does" +
            (is_ratio_of_curve(answer)
                 ? "; ceilings and speedups of a law are over its own value at " + base_count_words(answer)
                 : ""),
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
