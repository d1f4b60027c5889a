#include "scaling_statistics.hpp"

#include "headroom/fit/trace_fit.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::fit {

using namespace headroom::trace;

namespace {

constexpr std::int64_t least_runs = 3; // of a kernel, on each side

} // namespace

Fitted TraceSlowdown::lost_rate() const {
    auto const lost = [](double slower) { return std::max(0.0, 1.0 - 1.0 / slower); };
    return {lost(ratio.value), lost(ratio.low), lost(ratio.high)};
}

std::optional<TraceSlowdown> compute_slowdown(TraceAnswer const& answer) {
    TraceSlowdown result;
    double alone = 0.0, alone_variance = 0.0, beside_variance = 0.0;
    std::int64_t freedom = 0;
    for (RankDigest const& rank : answer.ranks) {
        for (KernelBeside const& one : rank.beside) {
            if (one.alone.count < least_runs || one.beside.count < least_runs) { continue; }
            auto const runs = static_cast<double>(one.beside.count);
            result.seconds += one.beside.sum;
            alone += runs * one.alone.mean();
            beside_variance += runs * one.beside.variance();
            alone_variance += runs * runs * one.alone.variance() / static_cast<double>(one.alone.count);
            result.alone += one.alone.count;
            result.beside += one.beside.count;
            freedom += std::min(one.alone.count, one.beside.count) - 1;
            ++result.kernels;
        }
    }
    if (result.kernels == 0) { return {}; }
    double const ratio = result.seconds / alone;
    double const deviation =
        std::sqrt(beside_variance / (result.seconds * result.seconds) + alone_variance / (alone * alone));
    constexpr std::int64_t as_good_as_normal = 10'000;
    double const half = student_t_quantile(0.95, static_cast<int>(std::min(freedom, as_good_as_normal))) * deviation;
    result.ratio = {ratio, ratio * std::exp(-half), ratio * std::exp(half)};
    return result;
}

} // namespace headroom::fit
