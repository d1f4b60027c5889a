#include "validate/validation_chart.hpp"

#include <algorithm>

namespace headroom::cli {

using namespace headroom::training;

namespace {

constexpr std::size_t most_points = 2000;

void add(Series& series, RunComparison const& row) {
    series.x.push_back(row.run->measured.base());
    series.y.push_back(row.predicted->base());
}

} // namespace

std::optional<Chart> error_chart(std::vector<RunComparison> const& rows) {
    std::vector<RunComparison const*> known;
    for (RunComparison const& row : rows) {
        bool const positive = row.predicted && row.predicted->base() > 0.0 && row.run->measured.base() > 0.0;
        if (positive && row.relative_error && row.run->counts()) { known.push_back(&row); }
    }
    if (known.size() < 2) { return std::nullopt; }
    std::size_t const stride = (known.size() + most_points - 1) / most_points;
    Series outside{.name = "outside of its interval", .mark = Mark::points},
        inside{.name = "inside", .mark = Mark::points}, exact{.name = "exact", .mark = Mark::dashed};
    for (std::size_t i = 0; i < known.size(); i += stride) {
        add(known[i]->inside_interval ? inside : outside, *known[i]);
    }
    auto const [least, most] = std::ranges::minmax(known, {}, [](auto const* row) { return row->run->measured; });
    exact.x = {least->run->measured.base(), most->run->measured.base()};
    exact.y = exact.x;
    std::string caption =
        "Each point is a run; on the dashed line it is predicted exactly, above it too slow, below it "
        "too fast.";
    if (stride > 1) {
        caption += " One run in " + std::to_string(stride) + " of " + std::to_string(known.size()) + " is drawn.";
    }
    Chart chart{.title = "Predicted against measured",
                .caption = std::move(caption),
                .x = {"measured step, s", AxisScale::logarithmic},
                .y = {"predicted step, s", AxisScale::logarithmic}};
    for (Series* const series : {&outside, &inside, &exact}) {
        if (!series->x.empty()) { chart.series.push_back(std::move(*series)); }
    }
    return chart;
}

} // namespace headroom::cli
