#include "tables/scaling_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace headroom::io {
namespace {

/// Logarithms of the values by count, one row left out.
using Values = std::map<double, std::vector<double>>;

Values values_without(std::span<ScalingRow const> rows, std::size_t left_out) {
    Values values;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i != left_out) { values[rows[i].workers].push_back(std::log(rows[i].value)); }
    }
    for (auto& [count, some] : values) { std::ranges::sort(some); }
    return values;
}

double median_of(std::vector<double> const& sorted) { return sorted[sorted.size() / 2]; }

/// Logarithm of the value that the rows of other counts suggest; empty at the ends.
std::optional<double> between_neighbours(Values const& values, double count) {
    auto const above = values.upper_bound(count), at = values.lower_bound(count);
    if (above == values.end() || at == values.begin()) { return std::nullopt; }
    auto const below = std::prev(at);
    double const share = (std::log(count) - std::log(below->first)) / (std::log(above->first) - std::log(below->first));
    return median_of(below->second) + share * (median_of(above->second) - median_of(below->second));
}

/// Distance of a row from the others, a logarithm; empty where nothing suggests its value.
std::optional<double> distance_of(Values const& others, ScalingRow const& row) {
    auto const same = others.find(row.workers);
    constexpr std::size_t enough = 2;
    bool const repeats = same != others.end() && same->second.size() >= enough;
    auto const suggested = repeats ? std::optional{median_of(same->second)} : between_neighbours(others, row.workers);
    return suggested ? std::optional{std::log(row.value) - *suggested} : std::nullopt;
}

/// Largest distance of a median from the line between its neighbours, and of a row from its median.
double scatter_of(Values const& values) {
    double most = 0.0;
    for (auto const& [count, some] : values) {
        double const middle = median_of(some);
        most = std::max({most, some.back() - middle, middle - some.front()});
        if (auto const suggested = between_neighbours(values, count)) {
            most = std::max(most, std::abs(middle - *suggested));
        }
    }
    return most;
}

} // namespace

std::optional<ApartRow> row_apart(std::span<ScalingRow const> rows) {
    constexpr std::size_t most_rows = 200, fewest_counts = 5;
    double const apart = std::log(1.5), near = std::log(1.25);
    if (rows.size() > most_rows) { return std::nullopt; }
    if (values_without(rows, rows.size()).size() < fewest_counts) { return std::nullopt; }
    std::optional<ApartRow> found;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Values const others = values_without(rows, i);
        auto const distance = distance_of(others, rows[i]);
        if (!distance || std::abs(*distance) < apart) { continue; }
        double const scatter = scatter_of(others);
        if (scatter > near || 2.0 * scatter > std::abs(*distance) || scatter >= least) { continue; }
        least = scatter;
        found = {i, std::exp(*distance)};
    }
    return found;
}

} // namespace headroom::io
