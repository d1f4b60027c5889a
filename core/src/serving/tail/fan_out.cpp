#include "headroom/serving/fan_out.hpp"

#include "base/quantity/demand.hpp"
#include "greatest.hpp"
#include "none_drawn.hpp"
#include "sample_steps.hpp"

#include "headroom/error.hpp"
#include "headroom/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::serving {

namespace {

constexpr char const* quantile_hint = "give 0 to 1, e.g. 0.99";

void check_slow(double slow) {
    if (!std::isnan(slow)) { return; }
    refuse("slow", "not a number", {}, "give the time from which on one is slow");
}

/// F^K of the share above.
double all_below(double above, double k) { return std::exp(k * std::log1p(-above)); }

/// Probability with which one of K may exceed a value so that the slowest of them keeps q: 1 - q^(1/K).
double above_for_each(double q, Ranks workers) { return -std::expm1(std::log(q) / workers.count()); }

template <class Quantile> void fill_quantiles(FanOut& answer, Quantile const& quantile_above) {
    answer.p50 = quantile_above(above_for_each(0.5, answer.workers));
    answer.p90 = quantile_above(above_for_each(0.9, answer.workers));
    answer.p99 = quantile_above(above_for_each(0.99, answer.workers));
    answer.p999 = quantile_above(above_for_each(0.999, answer.workers));
}

double slowdown_of(double slowest, double one) {
    if (std::isinf(one) || std::isinf(slowest)) { return std::numeric_limits<double>::infinity(); }
    return one == 0.0 && slowest == 0.0 ? 1.0 : slowest / one;
}

/// Mean of the greatest of k of the steps, of those that more than `beyond` exceed or that lie next to them.
double mean_of_greatest(SampleSteps const& steps, double k, double beyond) {
    double const most = all_below(beyond, k);
    double sum = 0.0, before = 0.0, last = 0.0;
    for (SampleStep const& step : steps) {
        double const now = std::min(most, all_below(step.above, k));
        if (now > before) { sum += step.value * (now - before); }
        before = std::max(before, now);
        last = step.value;
        if (step.above <= beyond) { break; }
    }
    return sum + last * (most - before);
}

double share_slow(LatencyHistogram const& samples, double slow) {
    double const n = static_cast<double>(samples.count());
    return std::clamp((n - samples.count_up_to(slow)) / n, 0.0, 1.0);
}

/// Whether the 99th percentile of the slowest is above the greatest sample but one in n.
bool rests_beyond(LatencyHistogram const& samples, Ranks workers) {
    return above_for_each(0.99, workers) < 1.0 / static_cast<double>(samples.count());
}

} // namespace

double quantile_for_each(double q, Ranks workers) {
    demand_share(q, "quantile", quantile_hint);
    return std::pow(q, 1.0 / workers.count());
}

FanOut fan_out(LatencyHistogram const& samples, Ranks workers, double slow) {
    check_slow(slow);
    SampleSteps const steps = steps_of(samples);
    double const k = workers.count();
    FanOut answer{.workers = workers};
    answer.probability_slow = probability_any_slow(share_slow(samples, slow), workers);
    fill_quantiles(answer, [&](double above) { return value_exceeded_by(steps, above); });
    if (k == 1.0) { answer.p50 = samples.median(); }
    answer.mean = mean_of_greatest(steps, k, 0.0);
    answer.slowdown = slowdown_of(answer.mean, mean_of_greatest(steps, 1.0, 0.0));
    double const greatest = samples.most() * -std::expm1(k * std::log1p(-1.0 / static_cast<double>(samples.count())));
    answer.beyond_samples = answer.mean > 0.0 ? std::min(1.0, greatest / answer.mean) : 0.0;
    answer.p99_beyond_samples = rests_beyond(samples, workers);
    return answer;
}

FanOut fan_out(TailDistribution const& distribution, Ranks workers, double slow) {
    check_slow(slow);
    demand_distribution(distribution);
    if (distribution.family == TailFamily::pareto_tail) {
        refuse("pareto tail", "no distribution below its threshold", {}, "give the samples with it");
    }
    FanOut answer{.workers = workers};
    answer.probability_slow = probability_any_slow(distribution.share_above(slow), workers);
    fill_quantiles(answer, [&](double above) { return distribution.quantile_above(above); });
    answer.mean = expected_maximum(distribution, workers);
    answer.slowdown = slowdown_of(answer.mean, expected_maximum(distribution, Ranks{1}));
    return answer;
}

FanOut fan_out(LatencyHistogram const& samples, TailDistribution const& tail, Ranks workers, double slow) {
    check_slow(slow);
    demand_distribution(tail);
    bool const pareto = tail.family == TailFamily::pareto_tail;
    SampleSteps const steps = steps_of(samples);
    double const n = static_cast<double>(samples.count());
    FanOut answer{.workers = workers};
    if (pareto) {
        auto const mean_of_slowest = [&](Ranks count) {
            return mean_of_greatest(steps, count.count(), tail.share_beyond) +
                   mean_from_highest(tail, count, tail.share_beyond);
        };
        double const one_slow = slow >= tail.threshold ? tail.share_above(slow) : share_slow(samples, slow);
        answer.probability_slow = probability_any_slow(one_slow, workers);
        fill_quantiles(answer, [&](double above) {
            return above < tail.share_beyond ? tail.quantile_above(above) : value_exceeded_by(steps, above);
        });
        answer.mean = mean_of_slowest(workers);
        answer.slowdown = slowdown_of(answer.mean, mean_of_slowest(Ranks{1}));
    } else {
        answer = fan_out(tail, workers, slow);
    }
    double const extrapolated = mean_from_highest(tail, workers, 1.0 / n) / answer.mean;
    answer.beyond_samples = std::isinf(answer.mean) ? 1.0 : std::clamp(extrapolated, 0.0, 1.0);
    answer.p99_beyond_samples = rests_beyond(samples, workers);
    return answer;
}

double expected_maximum(LatencyHistogram const& samples, Ranks workers) {
    double const n = static_cast<double>(samples.count()), k = workers.count();
    if (k > n) {
        too_little("samples", "fewer than workers", "each sample is drawn once at most",
                   "give more samples, or draw with replacement");
    }
    double sum = 0.0, before = 0.0;
    for (SampleStep const& step : steps_of(samples)) {
        double const now = none_drawn(std::round(step.above * n), k, n); // a count, to the last one below 2^52
        sum += step.value * (now - before);
        before = now;
    }
    return sum;
}

} // namespace headroom::serving
