#include "validate/measures_report.hpp"

#include "headroom/document/text.hpp"

#include <string>

namespace headroom::cli {

using namespace headroom::training;

namespace {

std::string figure_words(AccuracyFigure const& figure, double value) {
    return figure.name == "half-width" ? "x" + significant(value) : percent(value) + " %";
}

std::string bar_words(AccuracyFigure const& figure) {
    std::string const most = figure_words(figure, figure.bar);
    return figure.least ? percent(*figure.least) + " to " + most : most;
}

} // namespace

Table measures_table(std::vector<AccuracyMeasure> const& measures) {
    Table table{.title = "What the step model is held to",
                .columns = {wrapped("runs that are"), left("constants"), "runs", left("figure"), "reached", "bar",
                            left(""), "kept"}};
    for (AccuracyMeasure const& measure : measures) {
        bool first = true;
        for (AccuracyFigure const& figure : measure.figures) {
            table.rows.push_back({first ? measure.name : "", first ? measure.constants : "",
                                  first ? std::to_string(measure.rows) : "", figure.name,
                                  figure_words(figure, figure.value), bar_words(figure), figure.holds() ? "" : "missed",
                                  figure.with_suspects ? figure_words(figure, *figure.with_suspects) : ""});
            first = false;
        }
    }
    return table;
}

} // namespace headroom::cli
