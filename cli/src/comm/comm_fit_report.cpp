#include "comm/comm_fit.hpp"

#include "headroom/document/text.hpp"
#include "headroom/network/comparison.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

/// Vertical axis: bus bandwidth, or time where the collective moves nothing.
class Height {
public:
    explicit Height(fit::CommunicationFit const& fit)
        : factor_{bus_bandwidth_factor(fit.collective, Ranks{std::max(fit.ranks, 1)})} {}
    [[nodiscard]] bool is_rate() const { return factor_ > 0.0; }
    [[nodiscard]] double of(double bytes, Seconds time) const {
        return is_rate() ? factor_ * bytes / time.base() / 1e9 : time.in(units::us);
    }

private:
    double factor_;
};

void add_curve(fit::CommunicationFit const& fit, Height const& height, double first, double last, Chart& chart) {
    constexpr int steps = 160;
    Series line{.name = "fitted", .mark = Mark::smooth};
    MeasuredCurve const curve = fit.curve();
    for (int i = 0; i <= steps; ++i) {
        double const bytes = first * std::pow(last / first, static_cast<double>(i) / steps);
        line.x.push_back(bytes);
        line.y.push_back(height.of(bytes, curve.time({Bytes{bytes}})));
    }
    chart.series.push_back(std::move(line));
}

Chart curve_chart(fit::CommunicationFitAnswer const& answer, fit::CommunicationFit const& fit) {
    Height const height{fit};
    Chart chart{.title = words_of(fit) + ", " + fit::ranks_words(fit.ranks, fit.nodes),
                .caption = "Points are measured, the line is what was fitted",
                .x = {"size, bytes", AxisScale::logarithmic},
                .y = {height.is_rate() ? "bus bandwidth, GB/s" : "time, us", AxisScale::logarithmic}};
    Series kept{.name = "measured", .mark = Mark::points}, out{.name = "outliers", .mark = Mark::points};
    double first = INFINITY, last = 0.0;
    for (fit::FitResidual const& one : fit.residuals) {
        MeasuredCollective const& row = answer.rows[one.row];
        double const bytes = row.size.size.base();
        if (!(bytes > 0.0)) { continue; } // logarithmic axis
        first = std::min(first, bytes);
        last = std::max(last, bytes);
        Series& series = one.outlier ? out : kept;
        series.x.push_back(bytes);
        series.y.push_back(height.of(bytes, row.time));
    }
    chart.series.push_back(std::move(kept));
    if (last > first) { add_curve(fit, height, first, last, chart); }
    if (!out.x.empty()) { chart.series.push_back(std::move(out)); }
    for (fit::SwitchPoint const& point : fit.switches) {
        chart.rules.push_back({true, point.bytes.value, format_binary(Bytes{point.bytes.value})});
    }
    if (!fit.switches.empty()) { chart.caption += "; upright lines are where one segment gives way to the next"; }
    chart.caption += ".";
    return chart;
}

Chart residual_chart(fit::CommunicationFitAnswer const& answer, fit::CommunicationFit const& fit) {
    Chart chart{.title = "Residuals of " + words_of(fit) + ", " + fit::ranks_words(fit.ranks, fit.nodes),
                .caption = "Fitted over measured time, less one; outliers are left out. A pattern means that the "
                           "segments miss something, no pattern that it is noise.",
                .x = {"size, bytes", AxisScale::logarithmic},
                .y = {"off, %", AxisScale::linear},
                .series = {Series{.name = "fitted / measured - 1", .mark = Mark::points}},
                .rules = {Rule{false, 0.0, "exact"}}};
    for (fit::FitResidual const& one : fit.residuals) {
        double const bytes = answer.rows[one.row].size.size.base();
        if (one.outlier || !(bytes > 0.0)) { continue; }
        chart.series.front().x.push_back(bytes);
        chart.series.front().y.push_back(100.0 * one.relative_error);
    }
    return chart;
}

} // namespace

std::vector<Chart> comm_fit_charts(fit::CommunicationFitAnswer const& answer, fit::CommunicationFit const& fit) {
    return {curve_chart(answer, fit), residual_chart(answer, fit)};
}

namespace {

constexpr std::size_t most_charted = 3;

std::string percents(double ratio) { return percent(ratio, 2); }

std::string seconds_words(double seconds) { return seconds > 0.0 ? format(Seconds{seconds}) : "0"; }
/// A cost of a byte as the rate that it allows.
std::string rate_words(double beta) { return beta > 0.0 ? format(BytesPerSecond{1.0 / beta}) : "no limit"; }

bool one_system(fit::CommunicationFitAnswer const& answer) { return !different_systems(answer); }

std::string name_in(fit::CommunicationFitAnswer const& answer, fit::CommunicationFit const& fit) {
    std::string text = words_of(fit);
    if (!fit.id.empty()) { text += " " + printable(fit.id); }
    if (!one_system(answer) && !fit.system.empty()) { text += ", " + printable(fit.system); }
    return text;
}

std::size_t outliers_in(fit::CommunicationFit const& fit) {
    return static_cast<std::size_t>(std::ranges::count_if(fit.residuals, &fit::FitResidual::outlier));
}

Table segments_table(fit::CommunicationFit const& fit) {
    Table table{.title = "Segments of " + words_of(fit) + ", " + fit::ranks_words(fit.ranks, fit.nodes),
                .columns = {left("sizes"), "alpha", "90 %", "a byte more, at", "90 %"}};
    for (fit::FittedSegment const& one : fit.segments) {
        fit::Fitted const &alpha = one.alpha_seconds, &beta = one.beta_seconds_per_byte;
        table.rows.push_back({format_binary(one.from) + " .. " + format_binary(one.to), seconds_words(alpha.value),
                              seconds_words(alpha.low) + " .. " + seconds_words(alpha.high), rate_words(beta.value),
                              rate_words(beta.high) + " .. " + rate_words(beta.low)});
    }
    return table;
}

/// Table of links. Several systems come without the intervals, for which there is no room.
Table levels_table(fit::CommunicationFitAnswer const& answer) {
    bool const same = one_system(answer);
    Table table{.title = "Links: constants of closed forms, from all fits of a level",
                .columns = {left("link"), "latency"}};
    if (same) { table.columns.push_back("90 %"); }
    table.columns.push_back("bandwidth");
    if (same) { table.columns.push_back("90 %"); }
    table.columns.push_back("off %");
    if (!same) { table.columns.push_back(wrapped("system")); }
    for (fit::FittedLevel const& level : answer.result.levels) {
        fit::Fitted const &latency = level.latency_seconds, &beta = level.seconds_per_byte;
        bool const known = beta.value > 0.0;
        std::vector<std::string> cells{level.scale_out ? "scale_out" : "scale_up", seconds_words(latency.value)};
        if (same) { cells.push_back(seconds_words(latency.low) + " .. " + seconds_words(latency.high)); }
        cells.push_back(known ? rate_words(beta.value) : "does not show");
        if (same) { cells.push_back(known ? rate_words(beta.high) + " .. " + rate_words(beta.low) : ""); }
        cells.push_back(percents(level.median_relative_error));
        if (!same) { cells.push_back(printable(level.system)); }
        table.rows.push_back(std::move(cells));
    }
    return table;
}

std::optional<Table> outliers_table(fit::CommunicationFitAnswer const& answer) {
    Table table{.title = "Outliers, which did not move a fit",
                .columns = {wrapped("where"), "size", "measured", "fitted", "of it"}};
    for (fit::FittedRow const& one : fitted_rows(answer)) {
        if (!one.row.residual->outlier) { continue; }
        MeasuredCollective const& row = *one.row.measured;
        Seconds const predicted = one.row.residual->predicted;
        table.rows.push_back({printable(place_of(row)), format_binary(row.size.size), format(row.time),
                              format(predicted), significant(row.time / predicted) + "x"});
    }
    if (table.rows.empty()) { return std::nullopt; }
    return table;
}

/// Notes, each printed once with the number of fits that it concerns.
class Said {
public:
    void add(std::string about, std::string text) {
        auto const same = std::ranges::find(all_, text, &One::text);
        if (same == all_.end()) {
            all_.push_back({std::move(text), {std::move(about)}});
        } else {
            same->about.push_back(std::move(about));
        }
    }
    [[nodiscard]] std::vector<std::string> lines(std::string const& what) const {
        constexpr std::size_t few = 3;
        std::vector<std::string> lines;
        for (One const& one : all_) {
            if (one.about.size() > few) {
                lines.push_back(counted(one.about.size(), what) + ": " + one.text);
                continue;
            }
            for (std::string const& about : one.about) { lines.push_back(about + ": " + one.text); }
        }
        return lines;
    }

private:
    struct One {
        std::string text;
        std::vector<std::string> about;
    };
    std::vector<One> all_;
};

std::string link_name(fit::CommunicationFitAnswer const& answer, fit::FittedLevel const& level) {
    bool const named = !one_system(answer) && !level.system.empty();
    return level_words(level) + (named ? ", " + printable(level.system) : "");
}

void add_notes(fit::CommunicationFitAnswer const& answer, std::vector<Block>& blocks) {
    Said of_fits, of_links;
    for (fit::CommunicationFit const& fit : answer.result.fits) {
        for (std::string const& one : remarks_of(fit)) {
            of_fits.add(name_in(answer, fit) + ", " + fit::ranks_words(fit.ranks, fit.nodes), one);
        }
    }
    for (fit::FittedLevel const& level : answer.result.levels) {
        for (fit::LinkNote const& one : level.notes) { of_links.add(link_name(answer, level), words_of(one)); }
    }
    std::vector<std::string> notes = of_fits.lines("fit"), links = of_links.lines("link");
    notes.insert(notes.end(), links.begin(), links.end());
    if (!notes.empty()) { blocks.emplace_back(Items{"Notes", std::move(notes), Part::warning}); }
}

void add_left_out(fit::CommunicationFitAnswer const& answer, std::vector<Block>& blocks) {
    Said skipped;
    for (fit::SkippedGroup const& one : answer.result.skipped) {
        skipped.add(std::string{name_of(one.collective)} + ", " + fit::ranks_words(one.ranks, one.nodes) +
                        (one.system.empty() ? "" : ", " + printable(one.system)) + " (" + counted(one.rows, "row") +
                        ")",
                    words_of(one));
    }
    std::vector<std::string> items = skipped.lines("group"), read;
    for (fit::RefusedLevel const& one : answer.result.refused) {
        items.push_back("link " + link_name(answer, one.level) + ": " + words_of(one));
    }
    for (fit::MeasuredFile const& file : answer.files) {
        if (!file.refusal.empty()) { items.push_back(printable(file.refusal)); }
        for (Issue const& one : file.issues) { items.push_back(printable(file.name + ": " + words_of(one))); }
        for (std::string const& one : file.notes) { read.push_back(printable(file.name + ": " + one)); }
    }
    if (!items.empty()) { blocks.emplace_back(Items{"Not used", std::move(items), Part::warning}); }
    if (!read.empty()) { blocks.emplace_back(Items{"How the logs were read", std::move(read)}); }
}

/// The fits with the most rows, in their order.
std::vector<std::size_t> charted(fit::CommunicationFitAnswer const& answer) {
    std::vector<std::size_t> order(answer.result.fits.size());
    for (std::size_t i = 0; i < order.size(); ++i) { order[i] = i; }
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        return answer.result.fits[a].residuals.size() > answer.result.fits[b].residuals.size();
    });
    order.resize(std::min(order.size(), most_charted));
    std::ranges::sort(order);
    return order;
}

std::string verdict(fit::CommunicationFitAnswer const& answer) {
    std::vector<double> errors;
    std::size_t outliers = 0;
    for (fit::CommunicationFit const& fit : answer.result.fits) {
        errors.push_back(fit.median_relative_error);
        outliers += outliers_in(fit);
    }
    std::ranges::sort(errors);
    double const middle = errors[errors.size() / 2];
    std::string text = counted(answer.rows.size(), "measured time") + " in " +
                       counted(answer.result.fits.size(), "fit") + "; median error " + percents(middle) +
                       (errors.size() > 1 ? " % in the median fit" : " %");
    if (outliers > 0) { text += ", " + counted(outliers, "outlier") + " apart"; }
    return text + ".";
}

} // namespace

Table fits_table(fit::CommunicationFitAnswer const& answer) {
    Table table{
        .title = "Fits",
        .columns = {wrapped("collective"), "ranks", "nodes", "rows", "parts", "alpha", "bus rate", "off %", "p90 %"}};
    for (fit::CommunicationFit const& fit : answer.result.fits) {
        auto const rate = known_bus_bandwidth(fit);
        table.rows.push_back({name_in(answer, fit), std::to_string(fit.ranks), std::to_string(fit.nodes),
                              std::to_string(fit.residuals.size()), std::to_string(fit.segments.size()),
                              seconds_words(fit.segments.front().alpha_seconds.value), rate ? format(*rate) : "-",
                              percents(fit.median_relative_error), percents(fit.p90_relative_error)});
    }
    return table;
}

std::string level_words(fit::FittedLevel const& level) {
    return level.scale_out ? "between nodes (scale_out)" : "inside a node (scale_up)";
}

std::string place_of(MeasuredCollective const& row) {
    return row.line > 0 ? row.file + ":" + std::to_string(row.line) : row.file;
}

Document document_of(fit::CommunicationFitAnswer const& answer, io::Catalog const& catalog) {
    Document document{"Collectives as measured", {}, footer(catalog, "")};
    auto& blocks = document.blocks;
    std::vector<std::size_t> const shown = charted(answer);
    blocks.emplace_back(Paragraph{verdict(answer), "", true});
    blocks.emplace_back(as(Part::answer, fits_table(answer)));
    if (!answer.result.levels.empty()) { blocks.emplace_back(as(Part::answer, levels_table(answer))); }
    for (std::size_t const i : shown) {
        blocks.emplace_back(segments_table(answer.result.fits[i]));
        for (Chart& chart : comm_fit_charts(answer, answer.result.fits[i])) { blocks.emplace_back(std::move(chart)); }
    }
    if (auto table = outliers_table(answer)) { blocks.emplace_back(std::move(*table)); }
    add_notes(answer, blocks);
    add_left_out(answer, blocks);
    if (shown.size() < answer.result.fits.size()) {
        blocks.emplace_back(Paragraph{"the " + std::to_string(shown.size()) +
                                          " fits with the most rows; the others are in --format json",
                                      "drawn"});
    }
    if (!answer.saved.empty()) {
        blocks.emplace_back(
            Paragraph{printable(answer.saved) + "; give it to predict, plan or comm as --calibration", "saved"});
    }
    blocks.emplace_back(
        Paragraph{"alpha is the time of the smallest sizes, bus rate the bus bandwidth of the largest; parts are "
                  "straight segments; off and p90 are the median and the 90th percentile of |fitted / measured - 1|, "
                  "without outliers",
                  "reading"});
    return document;
}

} // namespace headroom::cli
