#include "headroom/document/chart_frame.hpp"
#include "headroom/document/gantt_pieces.hpp"
#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace headroom::document {
namespace {

/// Whole numbers in full, others with four digits.
std::string chart_number(double value) {
    bool const is_whole = std::abs(value) < 1e15 && value == std::round(value);
    return is_whole ? whole(value) : significant(value, 4);
}

std::string number_at(std::vector<double> const& values, std::size_t i) {
    return i < values.size() ? chart_number(values[i]) : "";
}

bool has_interval(Series const& series) { return !series.low.empty() && !series.high.empty(); }

/// All series next to one another.
Table wide_numbers(Chart const& chart) {
    Table table{.title = "", .columns = {chart.x.title}, .marked = chart.chosen};
    std::vector<double> const& x = chart.series.front().x;
    bool const labelled = std::ranges::any_of(chart.series, [](Series const& s) { return !s.labels.empty(); });
    if (labelled) { table.columns.push_back(left("label")); }
    for (Series const& series : chart.series) {
        if (series.mark != Mark::band) { table.columns.push_back(series.name); }
        if (has_interval(series)) {
            table.columns.push_back(series.name + ", low");
            table.columns.push_back(series.name + ", high");
        }
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
        std::vector<std::string> row{chart_number(x[i])};
        std::string label;
        for (Series const& series : chart.series) {
            if (label.empty() && i < series.labels.size()) { label = series.labels[i]; }
        }
        if (labelled) { row.push_back(std::move(label)); }
        for (Series const& series : chart.series) {
            if (series.mark != Mark::band) { row.push_back(number_at(series.y, i)); }
            if (has_interval(series)) {
                row.push_back(number_at(series.low, i));
                row.push_back(number_at(series.high, i));
            }
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

/// All series below one another.
Table long_numbers(Chart const& chart) {
    bool const labelled = std::ranges::any_of(chart.series, [](Series const& s) { return !s.labels.empty(); });
    bool const interval = std::ranges::any_of(chart.series, has_interval);
    Table table{.title = "", .columns = {left("series")}, .marked = chart.chosen};
    if (labelled) { table.columns.push_back(left("label")); }
    table.columns.push_back(chart.x.title);
    table.columns.push_back(chart.y.title);
    if (interval) {
        table.columns.push_back("low");
        table.columns.push_back("high");
    }
    for (Series const& series : chart.series) {
        for (std::size_t i = 0; i < series.x.size(); ++i) {
            std::vector<std::string> row{series.name};
            if (labelled) { row.push_back(i < series.labels.size() ? series.labels[i] : ""); }
            row.push_back(chart_number(series.x[i]));
            row.push_back(number_at(series.y, i));
            if (interval) {
                row.push_back(number_at(series.low, i));
                row.push_back(number_at(series.high, i));
            }
            table.rows.push_back(std::move(row));
        }
    }
    return table;
}

} // namespace

Table numbers_of(Chart const& chart) {
    bool const same_x = !chart.series.empty() && std::ranges::all_of(chart.series, [&](Series const& series) {
        return series.x == chart.series.front().x;
    });
    return same_x ? wide_numbers(chart) : long_numbers(chart);
}

Table numbers_of(StackedBars const& bars) {
    Table table{.title = "", .columns = {left("bar")}};
    for (std::string const& part : bars.parts) { table.columns.push_back(part); }
    table.columns.push_back("sum, " + bars.unit);
    for (std::size_t bar = 0; bar < bars.values.size(); ++bar) {
        std::vector<std::string> row{bars.labels.at(bar)};
        double sum = 0.0;
        for (std::size_t part = 0; part < bars.parts.size(); ++part) {
            double const value = part < bars.values[bar].size() ? bars.values[bar][part] : 0.0;
            sum += value;
            row.push_back(significant(value));
        }
        row.push_back(significant(sum));
        table.rows.push_back(std::move(row));
    }
    return table;
}

Table numbers_of(Gantt const& gantt) {
    Table table{.title = "", .columns = {left("lane")}};
    for (GanttKind const& kind : gantt.kinds) { table.columns.push_back(kind.name + ", " + gantt.unit); }
    table.columns.push_back(gantt.idle + ", " + gantt.unit);
    table.columns.push_back(gantt.idle + ", %");
    std::vector<std::vector<double>> const times = lane_times(gantt);
    for (std::size_t lane = 0; lane < times.size(); ++lane) {
        std::vector<std::string> row{gantt.lanes[lane]};
        for (double const time : times[lane]) { row.push_back(significant(time, 4)); }
        row.push_back(gantt.end > 0.0 ? percent(times[lane].back() / gantt.end) : "-");
        table.rows.push_back(std::move(row));
    }
    return table;
}

Table numbers_of(SpanTimeline const& timeline) {
    Table table{.title = "", .columns = {left("lane"), "intervals", "busy", left("most of it")}};
    std::size_t next = 0;
    for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
        std::map<std::uint32_t, std::int64_t> by_name;
        std::size_t const first = next;
        std::int64_t busy = 0;
        for (; next < timeline.spans.size() && timeline.spans[next].lane == lane; ++next) {
            by_name[timeline.spans[next].name] += timeline.spans[next].duration;
            busy += timeline.spans[next].duration;
        }
        auto const most = std::ranges::max_element(by_name, {}, [](auto const& one) { return one.second; });
        TimelineLane const& names = timeline.lanes[lane];
        table.rows.push_back({names.process + " " + names.name, std::to_string(next - first),
                              format(Seconds{static_cast<double>(busy) * 1e-9}),
                              most == by_name.end() ? "-" : timeline.names[most->first]});
    }
    return table;
}

Table numbers_of(HeatMap const& map) {
    std::string const corner = map.column_name.empty() ? map.row_name : map.row_name + " \\ " + map.column_name;
    Table table{.title = "", .columns = {left(corner)}};
    for (std::string const& column : map.columns) { table.columns.push_back(column); }
    for (std::size_t r = 0; r < map.values.size(); ++r) {
        std::vector<std::string> row{map.rows.at(r)};
        for (auto const& value : map.values[r]) { row.push_back(value ? significant(*value) : "-"); }
        table.rows.push_back(std::move(row));
    }
    return table;
}

std::vector<std::vector<double>> shares_of(HeatMap const& map) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (auto const& row : map.values) {
        for (auto const& value : row) {
            least = value ? std::min(least, *value) : least;
            most = value ? std::max(most, *value) : most;
        }
    }
    std::vector<std::vector<double>> shares;
    for (auto const& row : map.values) {
        shares.emplace_back();
        for (auto const& value : row) {
            shares.back().push_back(value && most > least ? (*value - least) / (most - least) : 0.0);
        }
    }
    return shares;
}

} // namespace headroom::document
