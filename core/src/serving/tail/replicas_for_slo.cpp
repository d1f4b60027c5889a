#include "tail_points.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/queue.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

namespace headroom::serving {
namespace {

/// Whole latencies of a queue: mean and variance, of requests that came so often to so many servers.
struct SeenLatencies {
    double mean = 0.0, variance = 0.0;
    double arrivals_per_second = 0.0, arrival_variation = 1.0;
    int servers = 1;
};

QueueLoad load_with(SeenLatencies const& seen, double service, double variation) {
    return {.arrivals_per_second = seen.arrivals_per_second,
            .arrival_variation = seen.arrival_variation,
            .service = Seconds{service},
            .service_variation = variation};
}

QueueAnswer queue_of(SeenLatencies const& seen, double service, double variation) {
    return queue_answer(load_with(seen, service, variation), {.servers = seen.servers});
}

double variance_of(SeenLatencies const& seen, double service, double variation) {
    QueueAnswer const queue = queue_of(seen, service, variation);
    double const wait = queue.wait.base(), served = service * service * variation;
    if (!(queue.wait_probability > 0.0) || !(wait > 0.0)) { return served; }
    return served + wait * wait * (2.0 / queue.wait_probability - 1.0);
}

/// The c_s^2 with which the variance comes out, the mean of service being known. The variance grows with it.
double variation_for(SeenLatencies const& seen, double service) {
    double low = 0.0, high = seen.variance / (service * service);
    for (int step = 0; step < 60; ++step) {
        double const middle = 0.5 * (low + high);
        (variance_of(seen, service, middle) < seen.variance ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

double excess_mean(SeenLatencies const& seen, double service) {
    return service + queue_of(seen, service, variation_for(seen, service)).wait.base() - seen.mean;
}

/// The times of service that a queue must have to show these latencies, waiting taken out:
///
///     mean     = S + W_q(S, c_s^2)
///     variance = S^2 c_s^2 + P_w 2 (W_q / P_w)^2 - W_q^2
///
/// the wait being 0 or, with probability P_w, exponential. Of several S the largest: least waiting.
/// Assumes:    one line, first come, first served; a wait says nothing about the service after it.
/// Nothing where no queue of so many servers has such latencies.
/// Source:     [AllenCunneen1978], [Kleinrock1975]
std::optional<QueueLoad> service_behind(SeenLatencies const& seen) {
    constexpr double step = 0.98, least_share = 1e-3;
    double const full = static_cast<double>(seen.servers) / seen.arrivals_per_second;
    double const most = std::min(seen.mean, full * (1.0 - 1e-6));
    if (!(most > 0.0)) { return std::nullopt; }
    double high = most, low = most;
    while (!(excess_mean(seen, low) <= 0.0)) {
        high = low;
        low *= step;
        if (low < least_share * most) { return std::nullopt; }
    }
    for (int i = 0; i < 50 && low < high; ++i) {
        double const middle = 0.5 * (low + high);
        (excess_mean(seen, middle) <= 0.0 ? low : high) = middle;
    }
    return load_with(seen, low, variation_for(seen, low));
}

constexpr double simulated_requests = 2e5, warm_up_share = 0.1;
constexpr int most_simulations = 24, most_replicas = 1'000'000;
constexpr double alike = 0.2; ///< variations of latency and service closer than this are of one shape

/// One question and the replicas that were simulated for it.
class Search {
public:
    Search(ReplicasForSlo const& slo, TailQuestion const& question, LatencyHistogram const& values)
        : slo_{slo}, question_{question}, values_{values} {}

    SimulatedReplicas const& at(int replicas) {
        auto const found = known_.find(replicas);
        if (found != known_.end()) { return found->second; }
        return known_.emplace(replicas, simulated(replicas)).first->second;
    }
    [[nodiscard]] bool keeps(int replicas) { return at(replicas).stable && at(replicas).at_objective <= slo_.limit; }
    [[nodiscard]] bool may_go_on() const { return known_.size() < most_simulations; }

private:
    [[nodiscard]] SimulatedReplicas simulated(int replicas) const {
        QueueLoad const& load = slo_.load;
        SimulatedReplicas row{.replicas = replicas};
        row.utilization = load.arrivals_per_second * load.service.base() / replicas;
        row.stable = row.utilization < 1.0;
        if (!row.stable) { return row; }
        double const seconds = simulated_requests / load.arrivals_per_second;
        QueueExperiment experiment;
        experiment.gaps = {.mean = Seconds{1.0 / load.arrivals_per_second}, .variation = load.arrival_variation};
        experiment.service = {.mean = load.service, .variation = load.service_variation};
        if (slo_.drawn_from != ServiceFrom::gamma) { experiment.service.samples = &values_; }
        experiment.shape.servers = replicas;
        experiment.dispatch = question_.dispatch;
        experiment.duration = Seconds{seconds};
        experiment.warm_up = Seconds{warm_up_share * seconds};
        experiment.seed = question_.seed;
        SimulatedQueue const queue = simulate_queue(experiment);
        if (queue.latency.empty()) { return row; }
        row.mean = queue.latency_seconds.value;
        row.wait = queue.wait_seconds.value;
        row.wait_probability = queue.wait_probability.value;
        row.p50 = queue.latency.quantile(0.5);
        row.p99 = queue.latency.quantile(0.99);
        row.at_objective = queue.latency.quantile(slo_.objective.q);
        return row;
    }

    ReplicasForSlo const& slo_;
    TailQuestion const& question_;
    LatencyHistogram const& values_;
    std::map<int, SimulatedReplicas> known_ = {};
};

/// The fewest that keep the objective, looked for from `start` on in growing steps, then by halving.
std::optional<int> fewest(Search& search, int least, int start) {
    int low = least - 1, high = std::max(least, start); // low does not keep it, high does
    for (int step = 1; !search.keeps(high); step *= 2) {
        if (!search.may_go_on() || high > most_replicas / 2) { return std::nullopt; }
        low = high;
        high += step;
    }
    for (int step = 1; high - low > 1 && search.may_go_on(); step *= 2) {
        int const next = std::max(low + 1, high - step);
        if (!search.keeps(next)) {
            low = next;
            break;
        }
        high = next;
    }
    while (high - low > 1 && search.may_go_on()) {
        int const middle = low + (high - low) / 2;
        (search.keeps(middle) ? high : low) = middle;
    }
    return high;
}

void find_arrivals(ReplicasForSlo& slo, TailQuestion const& question, TailSet const& set) {
    slo.load.arrival_variation = set.arrival_variation.value_or(1.0);
    if (question.arrivals_per_second) {
        slo.arrivals_from = ArrivalsFrom::option;
        slo.load.arrivals_per_second = *question.arrivals_per_second;
    } else if (set.arrivals_per_second) {
        slo.arrivals_from = ArrivalsFrom::times;
        slo.load.arrivals_per_second = *set.arrivals_per_second;
    } else {
        slo.missing.push_back(ReplicaInput::arrivals);
    }
}

void take_service(ReplicasForSlo& slo, LatencyHistogram const& services, ServiceFrom from) {
    slo.service_from = slo.drawn_from = from;
    slo.load.service = Seconds{services.mean()};
    slo.load.service_variation = services.variance() / (services.mean() * services.mean());
}

/// Whether a gamma distribution of service lies above the latencies anywhere, which no service does.
bool is_above(QueueLoad const& load, LatencyHistogram const& latencies) {
    constexpr double rounding = 1.25; // services are no gamma distribution
    constexpr std::array shares{0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99};
    QueueLoad idle = load;
    idle.arrivals_per_second = 1e-9 / load.service.base();
    return std::ranges::any_of(shares, [&](double q) {
        return latency_quantile(idle, {.servers = 1}, q).base() > rounding * latencies.quantile(q);
    });
}

/// Sets the times of service: the samples themselves, or without their waiting.
void find_service(ReplicasForSlo& slo, TailQuestion const& question, TailSet const& set) {
    double const mean = set.values.mean(), variance = set.values.variance();
    if (question.service) { return take_service(slo, set.values, ServiceFrom::samples); }
    if (!question.replicas) { slo.missing.push_back(ReplicaInput::replicas_or_service); }
    if (!slo.missing.empty()) { return; }
    if (set.service) { return take_service(slo, *set.service, ServiceFrom::rebuilt); }
    auto const found = service_behind({.mean = mean,
                                       .variance = variance,
                                       .arrivals_per_second = slo.load.arrivals_per_second,
                                       .arrival_variation = slo.load.arrival_variation,
                                       .servers = *question.replicas});
    double const seen = variance / (mean * mean);
    bool const as_seen = found && std::abs(found->service_variation - seen) <= alike * seen;
    if (!found || (!as_seen && is_above(*found, set.values))) {
        slo.missing.push_back(ReplicaInput::matching_load);
        return;
    }
    slo.service_from = ServiceFrom::deduced;
    slo.load = *found;
    slo.drawn_from = as_seen ? ServiceFrom::samples : ServiceFrom::gamma;
}

/// The quantile of service alone: below it no number of replicas brings the whole.
double floor_of(ReplicasForSlo const& slo, LatencyHistogram const& values) {
    if (slo.drawn_from != ServiceFrom::gamma) {
        return values.quantile(slo.objective.q) * slo.load.service.base() / values.mean();
    }
    QueueLoad idle = slo.load;
    idle.arrivals_per_second = 1e-9 / slo.load.service.base();
    return latency_quantile(idle, {.servers = 1}, slo.objective.q).base();
}

std::optional<Hedge> hedge_that_keeps(ReplicasForSlo const& slo, LatencyHistogram const& values) {
    constexpr std::array delays{0.99, 0.95, 0.9, 0.75, 0.5}; // the least extra load first
    for (double const q : delays) {
        Hedge const hedge = hedged_request(values, values.quantile(q));
        std::optional<double> reached;
        if (slo.objective.q == 0.5) { reached = hedge.p50; }
        if (slo.objective.q == 0.99) { reached = hedge.p99; }
        if (slo.objective.q == 0.999) { reached = hedge.p999; }
        if (!reached || *reached > slo.limit) { continue; }
        bool const has_room =
            !slo.utilization || (*slo.utilization < 1.0 && hedge_load(hedge, *slo.utilization).stable);
        if (has_room) { return hedge; }
    }
    return std::nullopt;
}

} // namespace

std::string_view name_of(ArrivalsFrom from) { return from == ArrivalsFrom::option ? "--arrivals" : "times"; }

std::string_view name_of(ServiceFrom from) {
    switch (from) {
    case ServiceFrom::samples: return "samples";
    case ServiceFrom::rebuilt: return "rebuilt";
    case ServiceFrom::deduced: return "deduced";
    case ServiceFrom::gamma: return "gamma";
    }
    return "";
}

ReplicasForSlo replicas_for(TailQuestion const& question, TailSet const& set) {
    if (!set.times) { refuse("--objective", "the samples are plain numbers", "a queue is of times", "give --unit"); }
    ReplicasForSlo slo{.objective = *question.objective};
    slo.limit = value_of(slo.objective.limit, true, "--objective");
    slo.measured = set.values.quantile(slo.objective.q);
    if (!(set.values.mean() > 0.0)) {
        slo.missing.push_back(ReplicaInput::samples_above_zero);
        return slo;
    }
    find_arrivals(slo, question, set);
    find_service(slo, question, set);
    if (!slo.answered()) { return slo; }
    double const offered = slo.load.arrivals_per_second * slo.load.service.base();
    LatencyHistogram const& drawn = slo.drawn_from == ServiceFrom::rebuilt ? *set.service : set.values;
    slo.floor = floor_of(slo, drawn);
    slo.by_formula = servers_for(slo.load, {}, {.q = slo.objective.q, .latency = Seconds{slo.limit}, .blocked = 0.0});
    Search search{slo, question, drawn};
    int const least = static_cast<int>(std::floor(offered)) + 1;
    if (slo.floor <= slo.limit) { slo.by_simulation = fewest(search, least, slo.by_formula.value_or(least)); }
    if (slo.by_simulation) { slo.chosen = search.at(*slo.by_simulation); }
    if (question.replicas) {
        slo.utilization = offered / *question.replicas;
        slo.doubling = doubling(slo.load, {.servers = *question.replicas});
        slo.wait_share = slo.doubling->now.answer.wait.base() / slo.doubling->now.answer.latency.base();
        slo.now = search.at(*question.replicas);
        slo.doubled = search.at(2 * *question.replicas);
    }
    if (!slo.by_simulation && slo.careful()) { slo.missing.push_back(ReplicaInput::service); }
    if (!slo.by_simulation) { slo.hedge = hedge_that_keeps(slo, set.values); }
    return slo;
}

} // namespace headroom::serving
