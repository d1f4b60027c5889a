#include "headroom/document/text.hpp"
#include "measure/measure_comm.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {

using namespace headroom::network;

namespace {

constexpr std::size_t most_series = 6; ///< of one chart, each with its curve

/// Dots that were measured, and the fitted curve through them.
void add_fit(CommMeasureReport const& report, fit::CommunicationFit const& fit, std::string const& name, Chart& chart) {
    constexpr int steps = 80;
    Series dots{.name = name, .mark = Mark::points}, line{.name = name + ", fitted", .mark = Mark::smooth};
    double first = INFINITY, last = 0.0;
    for (fit::FitResidual const& one : fit.residuals) {
        MeasuredCollective const& row = report.rows[one.row];
        double const bytes = row.size.size.base();
        if (!(bytes > 0.0)) { continue; } // logarithmic axis
        first = std::min(first, bytes);
        last = std::max(last, bytes);
        dots.x.push_back(bytes);
        dots.y.push_back(row.time.in(units::us));
    }
    if (dots.x.empty()) { return; }
    for (int i = 0; i <= steps && last > first; ++i) {
        double const bytes = first * std::pow(last / first, static_cast<double>(i) / steps);
        line.x.push_back(bytes);
        line.y.push_back(fit.time(TotalBytes{Bytes{bytes}}).in(units::us));
    }
    chart.series.push_back(std::move(dots));
    if (!line.x.empty()) { chart.series.push_back(std::move(line)); }
}

Chart empty_chart(std::string title) {
    return {.title = std::move(title),
            .caption = "Dots: medians. Lines: alpha + n beta, in straight parts.",
            .x = {"size, bytes", AxisScale::logarithmic},
            .y = {"time, us", AxisScale::logarithmic},
            .series = {}};
}

std::string series_name(fit::CommunicationFit const& fit) {
    bool const message = fit.collective == Collective::point_to_point;
    if (message) { return fit.algorithm + (fit.nodes > 1 ? " between hosts" : " inside a host"); }
    return std::string{name_of(fit.collective)} + (fit.algorithm == "library" ? "" : " " + fit.algorithm);
}

} // namespace

std::vector<Chart> comm_measure_charts(CommMeasureReport const& report) {
    std::vector<Chart> charts;
    Chart messages = empty_chart("Messages: time over size"), collectives = empty_chart("Collectives: time over size");
    std::size_t left_out = 0;
    for (fit::CommunicationFit const& fit : report.fits.fits) {
        bool const message = fit.collective == Collective::point_to_point;
        Chart& chart = message ? messages : collectives;
        if (chart.series.size() >= 2 * most_series) {
            ++left_out;
            continue;
        }
        add_fit(report, fit, series_name(fit), chart);
    }
    if (left_out > 0) { collectives.caption += " " + std::to_string(left_out) + " more are in the table."; }
    for (Chart* const chart : {&messages, &collectives}) {
        if (!chart->series.empty()) { charts.push_back(std::move(*chart)); }
    }
    return charts;
}

} // namespace headroom::cli
