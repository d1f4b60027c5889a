#include "scaling_statistics.hpp"

#include "headroom/fit/trace_fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace headroom::fit {

using namespace headroom::trace;

namespace {

constexpr double large_product = 1e10; // operations: below, filling the chip and draining it weigh

using Weighted = std::vector<std::pair<double, double>>; // value, weight

Fitted middle_of(Weighted const& values) {
    return {weighted_quantile(values, 0.5), weighted_quantile(values, 0.05), weighted_quantile(values, 0.95)};
}

std::optional<double> variation(std::vector<double> const& values) {
    if (values.size() < 3) { return {}; }
    double mean = 0.0, squares = 0.0;
    for (double const value : values) { mean += value / static_cast<double>(values.size()); }
    for (double const value : values) { squares += (value - mean) * (value - mean); }
    if (!(mean > 0.0)) { return {}; }
    return std::sqrt(squares / static_cast<double>(values.size() - 1)) / mean;
}

std::optional<TraceEfficiency> matrix_products(TraceAnswer const& answer, Accelerator const& accelerator) {
    TraceEfficiency result;
    Weighted shares;
    for (RankDigest const& rank : answer.ranks) {
        for (ShapedKernel const& kernel : rank.kernels) {
            auto const precision = product_precision(kernel.shape);
            if (!precision || kernel.flops < large_product || kernel.total <= 0) { continue; }
            double const seconds = static_cast<double>(kernel.total) * 1e-9;
            double const peak = peak_rate(accelerator, *precision).base();
            if (!(peak > 0.0)) { continue; }
            shares.emplace_back(kernel.flops * static_cast<double>(kernel.count) / seconds / peak, seconds);
            result.kernels += kernel.count;
            result.seconds += seconds;
        }
    }
    if (shares.empty()) { return {}; }
    result.share = middle_of(shares);
    return result;
}

/// Steps where there are any, each by its communication; else whole ranks.
std::optional<Fitted> hidden_share(TraceAnswer const& answer) {
    Weighted shares;
    for (RankDigest const& rank : answer.ranks) {
        auto const add = [&](DeviceTimes const& times) {
            if (times.communication <= 0) { return; }
            auto const communication = static_cast<double>(times.communication);
            shares.emplace_back(static_cast<double>(times.overlap) / communication, communication);
        };
        if (rank.breakdown.steps.empty()) { add(rank.breakdown.whole); }
        for (StepShares const& step : rank.breakdown.steps) { add(step.shares); }
    }
    return shares.empty() ? std::nullopt : std::optional(middle_of(shares));
}

/// Time of each step on its slowest rank, seconds.
std::vector<double> step_seconds(TraceAnswer const& answer) {
    std::map<std::int64_t, Ticks> slowest;
    for (RankDigest const& rank : answer.ranks) {
        for (StepShares const& step : rank.breakdown.steps) {
            auto& most = slowest[step.step.number];
            most = std::max(most, step.step.end - step.step.begin);
        }
    }
    std::vector<double> result;
    for (auto const& [number, time] : slowest) { result.push_back(static_cast<double>(time) * 1e-9); }
    return result;
}

} // namespace

std::optional<Precision> product_precision(std::string const& shape) {
    if (shape.find("BFloat16") != std::string::npos || shape.find("bf16") != std::string::npos) {
        return Precision::bf16;
    }
    if (shape.find("Half") != std::string::npos || shape.find("float16") != std::string::npos) {
        return Precision::fp16;
    }
    return {};
}

TraceFacts trace_facts(TraceAnswer const& answer, TraceFitSettings const& settings) {
    TraceFacts result;
    if (settings.accelerator) { result.matrix_products = matrix_products(answer, *settings.accelerator); }
    result.hidden = hidden_share(answer);
    result.slowdown = compute_slowdown(answer);
    auto const steps = step_seconds(answer);
    result.steps = steps.size();
    result.step_variation = variation(steps);
    constexpr double a_fifth = 0.2;
    result.two_unlike_steps = steps.size() == 2 && std::abs(steps[0] - steps[1]) >= a_fifth * (steps[0] + steps[1]);
    if (!steps.empty()) {
        std::vector<Ticks> ticks;
        for (double const step : steps) { ticks.push_back(static_cast<Ticks>(std::llround(step * 1e9))); }
        result.step_seconds = percentiles_of(std::move(ticks)).p50 * 1e-9;
    }
    std::vector<double> compute;
    for (RankDigest const& rank : answer.ranks) {
        compute.push_back(static_cast<double>(rank.breakdown.whole.compute));
    }
    result.ranks = compute.size();
    result.rank_variation = variation(compute);
    return result;
}

} // namespace headroom::fit
