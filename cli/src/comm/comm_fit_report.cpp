#include "comm/comm_fit_report.hpp"

#include "document/text.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr std::size_t most_charted = 3;

std::string counted(std::size_t count, std::string const& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string percents(double ratio) { return percent(ratio, 2); }

std::string seconds_words(double seconds) { return seconds > 0.0 ? format(Seconds{seconds}) : "0"; }
/// A cost of a byte as the rate that it allows.
std::string rate_words(double beta) { return beta > 0.0 ? format(BytesPerSecond{1.0 / beta}) : "no limit"; }

bool one_system(CommFitAnswer const& answer) {
    return std::ranges::all_of(answer.result.fits, [&](fit::CommunicationFit const& fit) {
        return fit.system == answer.result.fits.front().system;
    });
}

std::string name_in(CommFitAnswer const& answer, fit::CommunicationFit const& fit) {
    std::string text = words_of(fit);
    if (!fit.id.empty()) { text += " " + printable(fit.id); }
    if (!one_system(answer) && !fit.system.empty()) { text += ", " + printable(fit.system); }
    return text;
}

std::size_t outliers_in(fit::CommunicationFit const& fit) {
    return static_cast<std::size_t>(std::ranges::count_if(fit.residuals, &fit::FitResidual::outlier));
}

Table fits_table(CommFitAnswer const& answer) {
    Table table{.title = "Fits",
                .columns = {{"collective", Align::left, true},
                            {"ranks", Align::left},
                            {"rows"},
                            {"parts"},
                            {"alpha"},
                            {"bus bandwidth"},
                            {"off %"},
                            {"p90 %"}},
                .rows = {}};
    for (fit::CommunicationFit const& fit : answer.result.fits) {
        auto const rate = fit.bus_bandwidth();
        table.rows.push_back({name_in(answer, fit), ranks_words(fit.ranks, fit.nodes),
                              std::to_string(fit.residuals.size()), std::to_string(fit.segments.size()),
                              seconds_words(fit.segments.front().alpha_seconds.value),
                              rate && rate->base() > 0.0 ? format(*rate) : "-", percents(fit.median_relative_error),
                              percents(fit.p90_relative_error)});
    }
    return table;
}

Table segments_table(fit::CommunicationFit const& fit) {
    Table table{.title = "Segments of " + words_of(fit) + ", " + ranks_words(fit.ranks, fit.nodes),
                .columns = {{"sizes", Align::left}, {"alpha"}, {"90 %"}, {"a byte more, at"}, {"90 %"}},
                .rows = {}};
    for (fit::FittedSegment const& one : fit.segments) {
        fit::Fitted const &alpha = one.alpha_seconds, &beta = one.beta_seconds_per_byte;
        table.rows.push_back({format_binary(one.from) + " .. " + format_binary(one.to), seconds_words(alpha.value),
                              seconds_words(alpha.low) + " .. " + seconds_words(alpha.high), rate_words(beta.value),
                              rate_words(beta.high) + " .. " + rate_words(beta.low)});
    }
    return table;
}

Table levels_table(CommFitAnswer const& answer) {
    Table table{.title = "Links: constants of closed forms, from all fits of a level",
                .columns = {{"link", Align::left, true}, {"latency"}, {"90 %"}, {"bandwidth"}, {"90 %"}, {"off %"}},
                .rows = {}};
    bool const same = one_system(answer);
    for (fit::FittedLevel const& level : answer.result.levels) {
        std::string name = level.scale_out ? "scale_out" : "scale_up";
        if (!same && !level.system.empty()) { name += ", " + printable(level.system); }
        fit::Fitted const &latency = level.latency_seconds, &beta = level.seconds_per_byte;
        bool const known = beta.value > 0.0;
        table.rows.push_back({std::move(name), seconds_words(latency.value),
                              seconds_words(latency.low) + " .. " + seconds_words(latency.high),
                              known ? rate_words(beta.value) : "does not show",
                              known ? rate_words(beta.high) + " .. " + rate_words(beta.low) : "",
                              percents(level.median_relative_error)});
    }
    return table;
}

std::optional<Table> outliers_table(CommFitAnswer const& answer) {
    Table table{.title = "Outliers, which did not move a fit",
                .columns = {{"where", Align::left, true}, {"size"}, {"measured"}, {"fitted"}, {"of it"}},
                .rows = {}};
    for (fit::CommunicationFit const& fit : answer.result.fits) {
        for (fit::FitResidual const& one : fit.residuals) {
            if (!one.outlier) { continue; }
            MeasuredCollective const& row = answer.rows[one.row];
            table.rows.push_back({printable(place_of(row)), format_binary(row.size.size), format(row.time),
                                  format(one.predicted), significant(row.time / one.predicted) + "x"});
        }
    }
    if (table.rows.empty()) { return std::nullopt; }
    return table;
}

void add_notes(CommFitAnswer const& answer, std::vector<Block>& blocks) {
    std::vector<std::string> notes;
    for (fit::CommunicationFit const& fit : answer.result.fits) {
        for (std::string const& one : fit.notes) {
            notes.push_back(name_in(answer, fit) + ", " + ranks_words(fit.ranks, fit.nodes) + ": " + one);
        }
    }
    for (fit::FittedLevel const& level : answer.result.levels) {
        for (std::string const& one : level.notes) {
            bool const named = !one_system(answer) && !level.system.empty();
            notes.push_back(level_words(level) + (named ? ", " + printable(level.system) : "") + ": " + one);
        }
    }
    if (!notes.empty()) { blocks.emplace_back(Items{"Notes", std::move(notes)}); }
}

void add_left_out(CommFitAnswer const& answer, std::vector<Block>& blocks) {
    std::vector<std::string> items;
    for (fit::SkippedGroup const& one : answer.result.skipped) {
        items.push_back(std::string{name_of(one.collective)} + " on " + ranks_words(one.ranks, one.nodes) +
                        (one.system.empty() ? "" : ", " + printable(one.system)) + ": " + one.reason + " (" +
                        counted(one.rows, "row") + ")");
    }
    for (CommFitFile const& file : answer.files) {
        if (!file.refusal.empty()) { items.push_back(printable(file.refusal)); }
        for (io::LogTrouble const& one : file.troubles) {
            items.push_back(printable(file.name + ": " + trouble_words(one)));
        }
    }
    if (!items.empty()) { blocks.emplace_back(Items{"Not used", std::move(items)}); }
    std::vector<std::string> said;
    for (CommFitFile const& file : answer.files) {
        for (std::string const& one : file.notes) { said.push_back(printable(file.name + ": " + one)); }
    }
    if (!said.empty()) { blocks.emplace_back(Items{"How the logs were read", std::move(said)}); }
}

/// The fits with the most rows, in their order.
std::vector<std::size_t> charted(CommFitAnswer const& answer) {
    std::vector<std::size_t> order(answer.result.fits.size());
    for (std::size_t i = 0; i < order.size(); ++i) { order[i] = i; }
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        return answer.result.fits[a].residuals.size() > answer.result.fits[b].residuals.size();
    });
    order.resize(std::min(order.size(), most_charted));
    std::ranges::sort(order);
    return order;
}

std::string verdict(CommFitAnswer const& answer) {
    std::vector<double> errors;
    std::size_t outliers = 0;
    for (fit::CommunicationFit const& fit : answer.result.fits) {
        errors.push_back(fit.median_relative_error);
        outliers += outliers_in(fit);
    }
    std::ranges::sort(errors);
    double const middle = errors[errors.size() / 2];
    std::string text = counted(answer.rows.size(), "measured time") + " in " +
                       counted(answer.result.fits.size(), "fit") + "; the middle one is off by " + percents(middle) +
                       " % in the median";
    if (outliers > 0) { text += ", " + counted(outliers, "outlier") + " apart"; }
    return text + ".";
}

} // namespace

std::string words_of(fit::CommunicationFit const& fit) {
    std::string text{name_of(fit.collective)};
    for (std::string const& one : {fit.algorithm, fit.protocol, fit.data_type}) {
        if (!one.empty()) { text += " " + printable(one); }
    }
    return text;
}

std::string ranks_words(int ranks, int nodes) {
    return std::to_string(ranks) + " on " + std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
}

std::string level_words(fit::FittedLevel const& level) {
    return level.scale_out ? "between nodes (scale_out)" : "inside a node (scale_up)";
}

std::string place_of(MeasuredCollective const& row) {
    return row.line > 0 ? row.file + ":" + std::to_string(row.line) : row.file;
}

std::string trouble_words(io::LogTrouble const& trouble) {
    std::string text = counted(trouble.count, "line") + " not used: " + trouble.kind;
    if (trouble.first_line > 0) { text += "; the first is line " + std::to_string(trouble.first_line); }
    return text;
}

Document document_of(CommFitAnswer const& answer, io::Catalog const& catalog) {
    Document document{"Collectives as measured", {}, footer(catalog, "")};
    auto& blocks = document.blocks;
    std::vector<std::size_t> const shown = charted(answer);
    blocks.emplace_back(Paragraph{verdict(answer), "", true});
    blocks.emplace_back(fits_table(answer));
    if (!answer.result.levels.empty()) { blocks.emplace_back(levels_table(answer)); }
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
    blocks.emplace_back(Paragraph{"alpha is that of the smallest sizes, bus bandwidth that of the largest; errors are "
                                  "shares of the time; off is the median of |fitted / measured - 1| without outliers",
                                  "reading"});
    return document;
}

Sheet sheet_of(CommFitAnswer const& answer) {
    Sheet sheet{{"id", "system", "collective", "algorithm", "protocol", "data_type", "ranks", "nodes", "file", "line",
                 "size_bytes", "measured_seconds", "predicted_seconds", "relative_error", "outlier"},
                {}};
    for (fit::CommunicationFit const& fit : answer.result.fits) {
        for (fit::FitResidual const& one : fit.residuals) {
            MeasuredCollective const& row = answer.rows[one.row];
            sheet.rows.push_back({fit.id, fit.system, std::string{name_of(fit.collective)}, fit.algorithm, fit.protocol,
                                  fit.data_type, std::to_string(fit.ranks), std::to_string(fit.nodes), row.file,
                                  std::to_string(row.line), exact(row.size.size.base()), exact(row.time.base()),
                                  exact(one.predicted.base()), exact(one.relative_error),
                                  one.outlier ? "true" : "false"});
        }
    }
    return sheet;
}

} // namespace headroom::cli
