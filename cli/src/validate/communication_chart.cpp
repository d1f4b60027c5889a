#include "validate/communication_chart.hpp"

#include <algorithm>

namespace headroom::cli {
namespace {

constexpr std::size_t most_points = 2000;

void add(Series& series, fit::CommunicationComparison const& one, std::optional<Seconds> const& predicted) {
    double const size = one.row->size.size.base();
    if (!predicted || !(predicted->base() > 0.0) || !(size > 0.0)) { return; }
    series.x.push_back(size);
    series.y.push_back(predicted->base() / one.row->time.base());
}

} // namespace

std::optional<Chart> ratio_chart(std::vector<fit::CommunicationComparison> const& rows) {
    std::size_t const stride = std::max<std::size_t>(1, (rows.size() + most_points - 1) / most_points);
    Series unfitted{.name = "from the catalog alone", .mark = Mark::points},
        fitted{.name = "fitted on the other sizes", .mark = Mark::points}, exact{.name = "exact", .mark = Mark::dashed};
    for (std::size_t i = 0; i < rows.size(); i += stride) {
        add(unfitted, rows[i], rows[i].unfitted.seconds);
        add(fitted, rows[i], rows[i].fitted);
    }
    std::vector<double> sizes = unfitted.x;
    sizes.insert(sizes.end(), fitted.x.begin(), fitted.x.end());
    if (sizes.size() < 2) { return std::nullopt; }
    auto const [least, most] = std::ranges::minmax_element(sizes);
    exact.x = {*least, *most};
    exact.y = {1.0, 1.0};
    std::string caption = "Each point is a row; above the dashed line it is predicted too slow, below it too fast.";
    if (stride > 1) { caption += " One row in " + std::to_string(stride) + " is drawn."; }
    Chart chart{.title = "Predicted over measured time",
                .caption = std::move(caption),
                .x = {"size, bytes", AxisScale::logarithmic},
                .y = {"predicted / measured", AxisScale::logarithmic}};
    for (Series* const series : {&fitted, &unfitted, &exact}) { // the first is drawn on top of the others
        if (!series->x.empty()) { chart.series.push_back(std::move(*series)); }
    }
    return chart;
}

} // namespace headroom::cli
