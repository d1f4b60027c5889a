#include "comm/comm_fit_report.hpp"

#include "headroom/document/text.hpp"
#include "headroom/network/comparison.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::cli {

using namespace headroom::network;

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

} // namespace headroom::cli
