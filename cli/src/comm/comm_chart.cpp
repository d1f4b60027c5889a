#include "comm/comm_chart.hpp"

#include "document/text.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

using Rows = std::vector<CommRow const*>;

struct TimeUnit {
    Seconds unit;
    char const* name;
};

/// The unit that the slowest of them reads well in.
TimeUnit unit_of(Rows const& rows) {
    Seconds longest;
    for (CommRow const* row : rows) { longest = std::max(longest, row->time.total()); }
    if (longest < 0.1 * units::s) { return {units::us, "us"}; }
    return longest < 100.0 * units::s ? TimeUnit{units::ms, "ms"} : TimeUnit{units::s, "s"};
}

/// Rates, which are comparable with a link's, where the movement has them; else times.
bool have_rates(Rows const& rows) {
    return std::ranges::all_of(rows, [](CommRow const* row) { return row->bus_bandwidth.has_value(); });
}

/// One line an algorithm, in the order of the rows.
std::vector<Series> series_of(Rows const& rows, bool over_ranks, bool rates, Seconds unit) {
    std::vector<Series> all;
    for (CommRow const* row : rows) {
        auto found = std::ranges::find(all, row->algorithm, &Series::name);
        if (found == all.end()) { found = all.insert(all.end(), {.name = row->algorithm, .mark = Mark::line}); }
        found->x.push_back(over_ranks ? static_cast<double>(row->ranks) : row->size.size.base());
        found->y.push_back(rates ? row->bus_bandwidth->in(units::GB / units::s) : row->time.total().in(unit));
    }
    return all;
}

Chart chart_of(Rows const& rows, bool over_ranks, std::string const& who) {
    bool const rates = have_rates(rows);
    TimeUnit const unit = unit_of(rows);
    CommRow const& any = *rows.front();
    Chart chart{.title = rates ? "Bus bandwidth" : "Time",
                .caption = rates ? "Higher is faster" : "Lower is faster",
                .x = {over_ranks ? who + "s" : "size, bytes", AxisScale::logarithmic},
                .y = {rates ? "bus bandwidth, GB/s" : std::string{"time, "} + unit.name, AxisScale::logarithmic},
                .series = series_of(rows, over_ranks, rates, unit.unit)};
    chart.title += over_ranks ? " of " + format(any.size.size) + " over " + who + "s"
                              : " over size, at " + std::to_string(any.ranks) + " " + who + (any.ranks == 1 ? "" : "s");
    chart.caption += rates ? "; comparable with the rate of a link. Where lines cross, the fastest algorithm changes."
                           : ". Where lines cross, the fastest algorithm changes.";
    return chart;
}

/// Sizes at which the fastest changes, inside what was asked about.
void add_crossovers(Chart& chart, CommReport const& report, int ranks) {
    Bytes const least = sizes_of(report.question).front().size, most = report.question.size.size;
    for (CommCrossover const& one : report.crossovers) {
        if (one.ranks != ranks || one.size.size < least || one.size.size > most) { continue; }
        chart.rules.push_back(
            {true, one.size.size.base(), one.below + " | " + one.above + ": " + format(one.size.size)});
    }
}

} // namespace

std::vector<Chart> comm_charts(CommReport const& report) {
    std::vector<Chart> charts;
    CommQuestion const& question = report.question;
    std::string const who = question.actors ? "actor" : "rank";
    int const ranks = std::ranges::max(question.ranks);
    Rows over_sizes, over_ranks;
    for (CommRow const& row : report.rows) {
        if (row.ranks == ranks) { over_sizes.push_back(&row); }
        if (row.size.size == question.size.size) { over_ranks.push_back(&row); }
    }
    if (sizes_of(question).size() > 1) {
        charts.push_back(chart_of(over_sizes, false, who));
        add_crossovers(charts.back(), report, ranks);
    }
    if (question.ranks.size() > 1) { charts.push_back(chart_of(over_ranks, true, who)); }
    return charts;
}

} // namespace headroom::cli
