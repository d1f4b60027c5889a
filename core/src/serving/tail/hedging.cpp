#include "base/quantity/demand.hpp"
#include "sample_steps.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/fan_out.hpp"
#include "headroom/serving/queue.hpp"

#include <algorithm>
#include <limits>

namespace headroom::serving {

namespace {

constexpr char const* delay_hint = "give seconds, e.g. 0.01";

/// The smaller of X and delay + X', both of these steps.
SampleSteps smaller_of(SampleSteps const& steps, double delay) {
    SampleSteps result;
    result.reserve(2 * steps.size());
    auto first = steps.begin(), second = steps.begin();
    double first_above = 1.0, second_above = 1.0;
    while (first != steps.end() && second != steps.end()) { // beyond the end of one nothing is left
        double const value = std::min(first->value, delay + second->value);
        if (first->value == value) { first_above = (first++)->above; }
        if (delay + second->value == value) { second_above = (second++)->above; }
        result.push_back({value, first_above * second_above});
    }
    return result;
}

/// Mean of what exceeds x: E[(X - x)+].
double mean_beyond(SampleSteps const& steps, double x) {
    double sum = 0.0, before = 1.0;
    for (SampleStep const& step : steps) {
        sum += std::max(0.0, step.value - x) * (before - step.above);
        before = step.above;
    }
    return sum;
}

/// The smallest x with P(start + service > x) <= above, by bisection over sums of steps.
double sum_exceeded_by(SampleSteps const& starts, SampleSteps const& services, double above) {
    constexpr int halvings = 60;
    auto const share = [&](double x) {
        double sum = 0.0, before = 1.0;
        for (SampleStep const& service : services) {
            sum += (before - service.above) * share_above(starts, x - service.value);
            before = service.above;
        }
        return sum;
    };
    double const slack = above * (1.0 + 1e-12) + 1e-15;
    double low = starts.front().value + services.front().value, high = starts.back().value + services.back().value;
    if (share(low) <= slack) { return low; }
    for (int i = 0; i < halvings && high - low > 1e-13 * high; ++i) {
        double const middle = 0.5 * (low + high);
        (share(middle) <= slack ? high : low) = middle;
    }
    return high;
}

/// P(|W - delay - W'| < message).
double both_start(SampleSteps const& waits, double delay, double message) {
    double sum = 0.0, before = 1.0;
    for (SampleStep const& wait : waits) {
        double const middle = wait.value - delay;
        double const within = share_above(waits, middle - message) - share_from(waits, middle + message);
        sum += (before - wait.above) * std::max(0.0, within);
        before = wait.above;
    }
    return message > 0.0 ? sum : 0.0;
}

Hedge hedged(SampleSteps const& steps, double delay) {
    SampleSteps const first = smaller_of(steps, delay);
    Hedge hedge{.kind = SecondCopy::hedged, .delay = delay};
    hedge.delay_quantile = 1.0 - share_above(steps, delay);
    hedge.extra_load = share_above(steps, delay);
    hedge.extra_work = hedge.extra_load; // the second copy takes as long as any, whatever made the first one slow
    hedge.mean = mean_of(first);
    double const one = mean_of(steps);
    if (one > 0.0) { hedge.extra_work_cancelled = (hedge.mean + mean_beyond(first, delay) - one) / one; }
    hedge.p50 = value_exceeded_by(first, 0.5);
    hedge.p99 = value_exceeded_by(first, 1.0 - 0.99);
    hedge.p999 = value_exceeded_by(first, 1.0 - 0.999);
    return hedge;
}

Hedge tied(SampleSteps const& waits, SampleSteps const& services, double delay, double message) {
    SampleSteps const starts = smaller_of(waits, delay);
    double const service = mean_of(services);
    Hedge hedge{.kind = SecondCopy::tied, .delay = delay, .extra_load = 1.0};
    hedge.delay_quantile = 1.0 - share_above(waits, delay);
    hedge.extra_work = both_start(waits, delay, message);
    hedge.extra_work_cancelled = service > 0.0 ? hedge.extra_work * std::min(1.0, message / service) : 0.0;
    hedge.mean = mean_of(starts) + service;
    hedge.p50 = sum_exceeded_by(starts, services, 0.5);
    hedge.p99 = sum_exceeded_by(starts, services, 1.0 - 0.99);
    hedge.p999 = sum_exceeded_by(starts, services, 1.0 - 0.999);
    return hedge;
}

QueueAnswer queue_at(double utilization, int servers) {
    return queue_answer({.arrivals_per_second = utilization * servers, .service = Seconds{1.0}}, {.servers = servers});
}

} // namespace

Hedge hedged_request(LatencyHistogram const& samples, double delay) {
    demand_amount(delay, "delay of a second copy", delay_hint);
    return hedged(steps_of(samples), delay);
}

std::vector<Hedge> hedging_choices(LatencyHistogram const& samples, std::span<double const> delay_quantiles,
                                   double judged_by) {
    SampleSteps const steps = steps_of(samples);
    demand_share(judged_by, "quantile that choices are judged by", "give 0 to 1, e.g. 0.99");
    struct Judged {
        Hedge hedge;
        double quantile;
    };
    std::vector<Judged> choices;
    for (double const q : delay_quantiles) {
        demand_share(q, "quantile of a delay", "give 0 to 1, e.g. 0.95");
        double const delay = q == 0.0 ? 0.0 : value_exceeded_by(steps, 1.0 - q);
        choices.push_back({hedged(steps, delay), value_exceeded_by(smaller_of(steps, delay), 1.0 - judged_by)});
        choices.back().hedge.delay_quantile = q;
    }
    std::ranges::stable_sort(choices, [](Judged const& left, Judged const& right) {
        return left.quantile != right.quantile ? left.quantile < right.quantile
                                               : left.hedge.extra_load < right.hedge.extra_load;
    });
    std::vector<Hedge> result;
    for (Judged const& choice : choices) { result.push_back(choice.hedge); }
    return result;
}

Hedge tied_request(LatencyHistogram const& waits, LatencyHistogram const& services, double delay, double message) {
    demand_amount(delay, "delay of a second copy", delay_hint);
    demand_amount(message, "time of a message", delay_hint);
    return tied(steps_of(waits), steps_of(services), delay, message);
}

Hedge tied_request(LatencyHistogram const& latencies, std::optional<double> service) {
    double const served = service.value_or(latencies.least());
    demand_amount(served, "service", delay_hint);
    SampleSteps waits = steps_of(latencies);
    for (SampleStep& step : waits) { step.value = std::max(0.0, step.value - served); }
    return tied(waits, {{.value = served, .above = 0.0}}, 0.0, 0.0);
}

HedgeLoad hedge_load(Hedge const& hedge, double utilization, int servers) {
    demand_amount(utilization, "utilization", "give 0 to 1, e.g. 0.5");
    if (utilization >= 1.0) {
        refuse("utilization", "not below one", "the queue grows without second copies already", "give e.g. 0.5");
    }
    HedgeLoad load{.utilization = utilization * (1.0 + hedge.extra_work)};
    load.stable = load.utilization < 1.0;
    Seconds const now = queue_at(utilization, servers).wait;
    if (!load.stable) {
        load.wait_growth = std::numeric_limits<double>::infinity();
    } else if (now > Seconds{0.0}) {
        load.wait_growth = queue_at(load.utilization, servers).wait.in(now);
    }
    return load;
}

} // namespace headroom::serving
