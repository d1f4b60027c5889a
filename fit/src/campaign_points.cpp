#include "campaign_points.hpp"

#include "headroom/fit/campaign_fit.hpp"
#include "headroom/sample_statistics.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace headroom::fit {

using namespace headroom::measure;

namespace {

constexpr std::size_t least_samples = 3;
constexpr double coverage = 0.9;

/// The z with P(|Z| <= z) = p, by bisection of erf.
double two_sided_normal(double p) {
    double low = 0.0, high = 10.0;
    for (int i = 0; i < 100; ++i) {
        double const middle = 0.5 * (low + high);
        (std::erf(middle / std::sqrt(2.0)) < p ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

} // namespace

std::string word_of(MeasuredPoint const& point, std::span<std::string_view const> names) {
    for (auto const name : names) {
        if (auto const word = fact(point.parameters, name)) { return std::string{*word}; }
    }
    return {};
}

std::optional<double> count_of(MeasuredPoint const& point, std::span<std::string_view const> names) {
    std::string const word = word_of(point, names);
    double value = 0.0;
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    bool const whole = error == std::errc{} && end == word.data() + word.size() && std::floor(value) == value;
    if (!whole || !(value >= 1.0) || value > 1e18) { return {}; }
    return value;
}

std::optional<Fitted> point_median(std::span<double const> samples) {
    if (samples.size() < least_samples) { return {}; }
    if (!std::ranges::all_of(samples, [](double s) { return s > 0.0 && std::isfinite(s); })) { return {}; }
    auto const summary = summarize(samples, coverage);
    double const wider =
        summary.coverage >= coverage ? 1.0 : two_sided_normal(coverage) / two_sided_normal(summary.coverage);
    auto const moved = [&](double end) { return summary.median * std::pow(end / summary.median, wider); };
    return Fitted{summary.median, moved(summary.low), moved(summary.high)};
}

} // namespace headroom::fit
