#include "headroom/fit/pooling.hpp"

#include "scaling_statistics.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::fit {
namespace {

constexpr double z = 1.6448536269514722; // normal quantile of 95 %: both ends of 90 %
constexpr double least_interval = 1e-3;  // ln(high / low)

struct LogSource {
    double value = 0.0, variance = 0.0;
};

std::vector<LogSource> logs_of(std::span<Fitted const> sources) {
    std::vector<LogSource> logs;
    for (Fitted const& one : sources) {
        bool const fine =
            one.low > 0.0 && one.low <= one.value && one.value <= one.high && std::isfinite(std::log(one.high));
        if (!fine) {
            refuse("joining measurements", "a value outside of its interval, or not above zero",
                   "they are joined on a logarithmic scale");
        }
        double const deviation = std::max(std::log(one.high / one.low), least_interval) / (2.0 * z);
        logs.push_back({std::log(one.value), deviation * deviation});
    }
    return logs;
}

struct Mean {
    double value = 0.0, sum = 0.0, squares = 0.0; ///< of the weights
};

Mean mean_of(std::vector<LogSource> const& logs, double between) {
    Mean mean;
    for (LogSource const& one : logs) {
        double const weight = 1.0 / (one.variance + between);
        mean.value += weight * one.value;
        mean.sum += weight;
        mean.squares += weight * weight;
    }
    mean.value /= mean.sum;
    return mean;
}

/// sum w (y - mean)^2
double scatter_of(std::vector<LogSource> const& logs, double between, double mean) {
    double scatter = 0.0;
    for (LogSource const& one : logs) { scatter += (one.value - mean) * (one.value - mean) / (one.variance + between); }
    return scatter;
}

} // namespace

Pooled pool(std::span<Fitted const> sources) {
    if (sources.empty()) { too_little("joining measurements", "there are none"); }
    auto const logs = logs_of(sources);
    if (logs.size() == 1) {
        return {.value = sources.front(), .between = 0.0, .heterogeneity = 0.0, .ratio = 1.0, .weights = {1.0}};
    }
    auto const freedom = static_cast<double>(logs.size() - 1);
    Mean const alone = mean_of(logs, 0.0);
    double const scatter = scatter_of(logs, 0.0, alone.value);
    double const between = std::max(0.0, (scatter - freedom) / (alone.sum - alone.squares / alone.sum));
    Mean const mean = mean_of(logs, between);
    double half = z / std::sqrt(mean.sum);
    if (between > 0.0) {
        double const spread = std::max(1.0, scatter_of(logs, between, mean.value) / freedom);
        half =
            std::max(half, student_t_quantile(0.95, static_cast<int>(logs.size()) - 1) * std::sqrt(spread / mean.sum));
    }
    Pooled result{.value = {std::exp(mean.value), std::exp(mean.value - half), std::exp(mean.value + half)},
                  .between = std::sqrt(between),
                  .heterogeneity = scatter > freedom ? (scatter - freedom) / scatter : 0.0,
                  .ratio = 1.0,
                  .weights = {}};
    auto const [least, most] = std::ranges::minmax(logs, {}, &LogSource::value);
    result.ratio = std::exp(most.value - least.value);
    for (LogSource const& one : logs) { result.weights.push_back(1.0 / (one.variance + between) / mean.sum); }
    return result;
}

} // namespace headroom::fit
