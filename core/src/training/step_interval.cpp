#include "training/step_interval.hpp"

#include "base/statistics/normal.hpp"

#include "headroom/order_statistics.hpp"
#include "headroom/sample_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace headroom::training {
namespace {

constexpr double coverage = 0.9;

/// Every so many values, at most 300: the test of drift compares all pairs.
std::vector<double> thinned(std::vector<double> const& values) {
    constexpr std::size_t most = 300;
    std::size_t const stride = (values.size() + most - 1) / most;
    std::vector<double> some;
    for (std::size_t i = 0; i < values.size(); i += std::max<std::size_t>(stride, 1)) { some.push_back(values[i]); }
    return some;
}

std::optional<StepDrift> drift_of(std::vector<double> const& values) {
    constexpr double least_change = 0.03, chance = 0.01;
    auto const drift = find_drift(thinned(values));
    if (!drift || drift->probability > chance || std::abs(drift->change) < least_change) { return std::nullopt; }
    return StepDrift{drift->change, drift->probability};
}

/// The last steps of lines that state means since the first step: a of t = a + b / n; empty where such a fall does not fit them.
std::optional<Seconds> mean_at_end(std::span<SteadyLine const> lines) {
    constexpr std::size_t fewest = 10;
    constexpr double closest = 0.995; ///< coefficient of determination
    if (lines.size() < fewest) { return std::nullopt; }
    double const count = static_cast<double>(lines.size());
    double x = 0.0, t = 0.0, xx = 0.0, xt = 0.0, tt = 0.0;
    auto const inverse = [](SteadyLine const& line) { return 1.0 / std::max(static_cast<double>(line.number), 1.0); };
    for (SteadyLine const& line : lines) {
        x += inverse(line) / count;
        t += line.seconds / count;
    }
    for (SteadyLine const& line : lines) {
        double const dx = inverse(line) - x, dt = line.seconds - t;
        xx += dx * dx;
        xt += dx * dt;
        tt += dt * dt;
    }
    if (!(xx > 0.0) || !(tt > 0.0) || !(xt > 0.0) || xt * xt < closest * xx * tt) { return std::nullopt; }
    double const last = t - x * xt / xx;
    return last > 0.0 ? std::optional{Seconds{last}} : std::nullopt;
}

/// The median of a third: 0 the first, 2 the last.
double median_of_third(std::vector<double> const& values, std::size_t third) {
    std::size_t const size = std::max<std::size_t>(values.size() / 3, 1);
    auto const begin = values.begin() + static_cast<std::ptrdiff_t>(third == 0 ? 0 : values.size() - size);
    return quantile({begin, begin + static_cast<std::ptrdiff_t>(size)}, 0.5);
}

/// The mean of all lines with its interval, by the scatter of lines.
struct Mean {
    double value = 0.0, low = 0.0, high = 0.0;
};
Mean mean_of(std::span<SteadyLine const> lines) {
    double steps = 0.0, seconds = 0.0, squares = 0.0;
    for (SteadyLine const& line : lines) {
        steps += line.steps;
        seconds += line.steps * line.seconds;
    }
    double const mean = seconds / steps;
    for (SteadyLine const& line : lines) { squares += line.steps * std::pow(line.seconds - mean, 2.0); }
    double const half =
        normal_exceeded_by(0.5 * (1.0 - coverage)) * std::sqrt(squares / (steps * static_cast<double>(lines.size())));
    return {mean, mean - std::min(half, 0.5 * mean), mean + half};
}

/// Whether the median of many lines is not the mean step: steps of several times.
bool is_mixed(double median, double mean, std::size_t lines) {
    constexpr double most_apart = 0.05;
    constexpr std::size_t fewest = 10;
    return lines >= fewest && std::abs(std::log(mean / median)) > most_apart;
}

void set_interval(SteadyStep& steady, std::vector<double> const& values, Mean const& mean, double half_unit) {
    auto const summary = summarize(values, coverage);
    double const step = steady.mixed ? mean.value : summary.median;
    double low = summary.low, high = summary.high;
    if (steady.mixed) { std::tie(low, high) = std::pair{mean.low, mean.high}; }
    if (!steady.mixed && values.size() > 1 && summary.coverage < coverage) {
        auto const z = [](double share) { return normal_exceeded_by(0.5 * (1.0 - share)); };
        double const wider = z(coverage) / z(summary.coverage);
        low = summary.median * std::pow(low / summary.median, wider);
        high = summary.median * std::pow(high / summary.median, wider);
    }
    if (steady.drift) {
        double const first = median_of_third(values, 0), last = median_of_third(values, 2);
        low = std::min({low, first, last});
        high = std::max({high, first, last});
    }
    if (steady.mean_at_end) { low = std::min(low, steady.mean_at_end->base()); }
    for (StepRegime const& regime : steady.regimes) {
        low = std::min(low, regime.step.base());
        high = std::max(high, regime.step.base());
    }
    constexpr double scatter_of_means = 0.03;
    if (values.size() == 1) { half_unit = std::max(half_unit, scatter_of_means * summary.median); }
    half_unit = std::min(half_unit, 0.5 * step);
    steady.step = Seconds{step};
    steady.low = Seconds{std::min(low, step - half_unit)};
    steady.high = Seconds{std::max(high, step + half_unit)};
    steady.spread = summary.spread;
}

} // namespace

void set_step(SteadyStep& steady, std::span<SteadyLine const> lines, double half_unit) {
    std::vector<double> values;
    for (SteadyLine const& line : lines) { values.push_back(line.seconds); }
    Mean const mean = mean_of(lines);
    steady.mixed |= is_mixed(quantile(values, 0.5), mean.value, values.size());
    steady.drift = drift_of(values);
    if (steady.drift && steady.drift->change < 0.0) { steady.mean_at_end = mean_at_end(lines); }
    set_interval(steady, values, mean, half_unit);
}

} // namespace headroom::training
