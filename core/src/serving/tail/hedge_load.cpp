#include "base/quantity/demand.hpp"
#include "hedging.hpp"
#include "sample_steps.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/fan_out.hpp"
#include "headroom/serving/queue.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headroom::serving {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::array best_of{0.0, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999};

QueueAnswer queue_at(double utilization, int servers) {
    return queue_answer({.arrivals_per_second = utilization * servers, .service = Seconds{1.0}}, {.servers = servers});
}

/// Factors on the number of requests that wait, and on the duration of their waits.
struct WaitChange {
    double more = 1.0, longer = 1.0;
};

WaitChange wait_change(double from, double to, int servers) {
    QueueAnswer const now = queue_at(from, servers), then = queue_at(to, servers);
    if (!(now.wait > Seconds{0.0})) { return {}; }
    double const more = then.wait_probability / now.wait_probability;
    return {.more = more, .longer = then.wait.in(now.wait) / more};
}

/// P(X > x) once waits have changed; more requests exceed the service than before where more wait.
double changed_share(SampleSteps const& steps, double x, double service, WaitChange const& change) {
    if (x < service) { return std::max(share_above(steps, x), changed_share(steps, service, service, change)); }
    return std::min(1.0, change.more * share_above(steps, service + (x - service) / change.longer));
}

SampleSteps changed(SampleSteps steps, double service, WaitChange const& change) {
    double const waiting = changed_share(steps, service, service, change);
    for (SampleStep& step : steps) {
        bool const waits = step.value >= service; // equal to it: a wait of nothing
        step.above = waits ? std::min(1.0, change.more * step.above) : std::max(waiting, step.above);
        if (waits) { step.value = service + change.longer * (step.value - service); }
    }
    return steps;
}

LoadedHedge loaded(SampleSteps const& steps, double delay, HedgedServers const& servers, double judged_by) {
    constexpr int most_rounds = 10'000;
    constexpr double settled = 1e-9;
    // More copies never make fewer: the share grows from round to round, to the least one that brings about itself.
    LoadedHedge answer{.hedge = {}, .load = {}, .judged = infinity};
    double copies = share_above(steps, delay);
    WaitChange change;
    for (int round = 0; round < most_rounds; ++round) {
        answer.load = hedge_load({.extra_work = copies}, servers.utilization, servers.servers);
        if (!answer.load.stable) { break; }
        change = wait_change(servers.utilization, answer.load.utilization, servers.servers);
        double const next = changed_share(steps, delay, servers.service, change);
        bool const settles = next - copies <= settled;
        copies = std::max(copies, next);
        if (settles) { break; }
    }
    if (!answer.load.stable) {
        answer.hedge = {.delay = delay,
                        .extra_load = copies,
                        .extra_work = copies,
                        .mean = infinity,
                        .p50 = infinity,
                        .p99 = infinity,
                        .p999 = infinity};
        return answer;
    }
    SampleSteps const now = changed(steps, servers.service, change);
    answer.hedge = hedged(now, delay);
    answer.judged = value_exceeded_by(smaller_of(now, delay), 1.0 - judged_by);
    return answer;
}

/// The servers after checks, with the service as the histogram holds it: samples in the cell of the service have not
/// waited.
HedgedServers checked(HedgedServers servers, double judged_by) {
    demand_amount(servers.service, "service", "give seconds, e.g. 0.01");
    demand_share(judged_by, "quantile that hedges are judged by", "give 0 to 1, e.g. 0.99");
    servers.service = LatencyHistogram::cell_of(servers.service).value;
    return servers;
}

} // namespace

HedgeLoad hedge_load(Hedge const& hedge, double utilization, int servers) {
    demand_amount(utilization, "utilization", "give 0 to 1, e.g. 0.5");
    if (utilization >= 1.0) {
        throw InputError{Fault::usage,
                         {.where = "utilization",
                          .problem = "not below one",
                          .why = "the queue grows without second copies already",
                          .hint = "give e.g. 0.5"}};
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

LoadedHedge hedge_under_load(LatencyHistogram const& samples, double delay, HedgedServers const& servers,
                             double judged_by) {
    demand_amount(delay, "delay of a second copy", "give seconds, e.g. 0.01");
    return loaded(steps_of(samples), delay, checked(servers, judged_by), judged_by);
}

std::optional<LoadedHedge> best_hedge(LatencyHistogram const& samples, HedgedServers const& servers, double judged_by) {
    HedgedServers const known = checked(servers, judged_by);
    SampleSteps const steps = steps_of(samples);
    std::optional<LoadedHedge> best;
    double least = value_exceeded_by(steps, 1.0 - judged_by);
    for (double const q : best_of) {
        double const delay = q == 0.0 ? 0.0 : value_exceeded_by(steps, 1.0 - q);
        LoadedHedge const found = loaded(steps, delay, known, judged_by);
        if (found.judged < least) {
            least = found.judged;
            best = found;
        }
    }
    return best;
}

} // namespace headroom::serving
