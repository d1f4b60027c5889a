#include "scaling_statistics.hpp"

#include <array>
#include <cstdio>
#include <numbers>

namespace headroom::fit {
namespace {

constexpr int nearly_normal = 2000; ///< degrees of freedom from which t and normal agree to 1e-3

/// P(-t <= T <= t) by the finite sums for whole degrees of freedom.
double central_probability(double t, int df) {
    double const theta = std::atan(t / std::sqrt(static_cast<double>(df)));
    double const cosine = std::cos(theta), square = cosine * cosine;
    double term = df % 2 == 1 ? cosine : 1.0, sum = df == 1 ? 0.0 : term;
    for (int i = df % 2 == 1 ? 3 : 2; i < df; i += 2) { // each term is the one before times (i-1)/i cos^2
        term *= square * (i - 1.0) / i;
        sum += term;
    }
    double const by_sine = std::sin(theta) * sum;
    return df % 2 == 1 ? 2.0 / std::numbers::pi * (theta + by_sine) : by_sine;
}

} // namespace

double student_t_quantile(double p, int degrees_of_freedom) {
    int const df = std::clamp(degrees_of_freedom, 1, nearly_normal);
    double const central = 2.0 * p - 1.0;
    double low = 0.0, high = 1.0;
    while (central_probability(high, df) < central && high < 1e12) { high *= 2.0; }
    for (int i = 0; i < 200 && high - low > 1e-14 * high; ++i) {
        double const middle = 0.5 * (low + high);
        (central_probability(middle, df) < central ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

std::optional<double> aicc_of(double rss, double mean_square, int samples, int coefficients) {
    double const n = samples, k = coefficients + 1.0;
    if (n - k - 1.0 < 0.5) { return std::nullopt; }
    constexpr double rounding = 1e-24; // squared, of values that were written with 12 digits or more
    double const floor = std::max(rounding * mean_square, 1e-300);
    return n * std::log(std::max(rss / n, floor)) + 2.0 * k + 2.0 * k * (k + 1.0) / (n - k - 1.0);
}

double smape_of(std::span<double const> actual, std::span<double const> predicted) {
    double sum = 0.0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        double const size = std::abs(actual[i]) + std::abs(predicted[i]);
        if (size > 0.0) { sum += 200.0 * std::abs(actual[i] - predicted[i]) / size; }
    }
    return actual.empty() ? 0.0 : sum / static_cast<double>(actual.size());
}

double mean_square_of(std::span<ScalingSample const> samples) {
    double sum = 0.0;
    for (ScalingSample const& sample : samples) { sum += sample.weight * sample.value * sample.value; }
    return sum / static_cast<double>(std::max<std::size_t>(1, samples.size()));
}

std::optional<double> adjusted_r2_of(std::span<ScalingSample const> samples, double rss, int degrees_of_freedom) {
    double weight = 0.0, mean = 0.0, total = 0.0;
    for (ScalingSample const& sample : samples) {
        weight += sample.weight;
        mean += sample.weight * sample.value;
    }
    mean /= weight;
    for (ScalingSample const& sample : samples) {
        total += sample.weight * (sample.value - mean) * (sample.value - mean);
    }
    if (!(total > 0.0) || degrees_of_freedom < 1) { return std::nullopt; }
    return 1.0 - (rss / degrees_of_freedom) / (total / static_cast<double>(samples.size() - 1));
}

std::vector<ScalingSample> means_of(std::span<ScalingSample const> samples) {
    std::vector<ScalingSample> sorted(samples.begin(), samples.end());
    std::ranges::stable_sort(sorted, {}, &ScalingSample::workers);
    std::vector<ScalingSample> means;
    for (ScalingSample const& sample : sorted) {
        if (means.empty() || means.back().workers != sample.workers) {
            means.push_back(sample);
            continue;
        }
        ScalingSample& mean = means.back();
        mean.weight += sample.weight;
        mean.value += (sample.value - mean.value) * sample.weight / mean.weight;
    }
    return means;
}

std::vector<ScalingSample> medians_of(std::span<ScalingSample const> samples) {
    std::vector<ScalingSample> medians;
    for (ScalingSample const& mean : means_of(samples)) {
        std::vector<double> values;
        for (ScalingSample const& sample : samples) {
            if (sample.workers == mean.workers) { values.push_back(sample.value); }
        }
        std::ranges::sort(values);
        medians.push_back({.workers = mean.workers, .value = quantile_of(values, 0.5)});
    }
    return medians;
}

double quantile_of(std::span<double const> sorted, double share) {
    double const place = share * static_cast<double>(sorted.size() - 1);
    auto const below = static_cast<std::size_t>(place);
    if (below + 1 >= sorted.size()) { return sorted.back(); }
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

double median_of(std::vector<double> values) {
    if (values.empty()) { return 0.0; }
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) { return *middle; }
    return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

double weighted_quantile(std::vector<std::pair<double, double>> values, double share) {
    std::ranges::sort(values);
    double all = 0.0, below = 0.0;
    for (auto const& [value, weight] : values) { all += weight; }
    for (auto const& [value, weight] : values) {
        below += weight;
        if (below >= share * all) { return value; }
    }
    return values.empty() ? 0.0 : values.back().first;
}

std::string number_words(double value, char const* format) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}

} // namespace headroom::fit
