#include "base/quantity/demand.hpp"
#include "batch_service.hpp"
#include "checks.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/queue.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::serving {
namespace {

constexpr double often = 0.99;

LoadPoint point_at(QueueLoad const& load, QueueShape const& shape) {
    LoadPoint point{.arrivals_per_second = load.arrivals_per_second, .answer = queue_answer(load, shape)};
    point.p50 = latency_quantile(load, shape, 0.5);
    point.p99 = latency_quantile(load, shape, often);
    return point;
}

QueueLoad at_utilization(QueueLoad load, QueueShape const& shape, double utilization) {
    load.arrivals_per_second = utilization * queueing::capacity(load, shape);
    return load;
}

/// Throughput over latency; 0 where the line grows.
double power(QueueLoad const& load, QueueShape const& shape) {
    QueueAnswer const answer = queue_answer(load, shape);
    return answer.stable ? answer.throughput_per_second / answer.latency.base() : 0.0;
}

bool keeps(QueueLoad const& load, QueueShape const& shape, LatencyObjective const& objective) {
    QueueAnswer const answer = queue_answer(load, shape);
    return answer.stable && answer.blocked <= objective.blocked &&
           latency_quantile(load, shape, objective.q) <= objective.latency;
}

/// P(S <= t) is a share q at that t.
Seconds service_quantile(QueueLoad const& load, double q) {
    return latency_quantile(
        {.arrivals_per_second = 0.0, .service = load.service, .service_variation = load.service_variation}, {}, q);
}

int doubled(int count) {
    return count > std::numeric_limits<int>::max() / 2 ? std::numeric_limits<int>::max() : 2 * count;
}

} // namespace

std::optional<int> servers_for(QueueLoad const& load, QueueShape shape, LatencyObjective const& objective, int most) {
    demand_share(objective.blocked, "share turned away", "give 0 to 1, e.g. 0.001");
    demand_size(objective.latency.base(), "latency", "give the time that the objective allows, e.g. 200 ms");
    if (most < 1) { refuse("servers", "at most fewer than one", "", "give at least one"); }
    most = std::min(most, queueing::most_servers);
    if (shape.places) { most = std::min(most, *shape.places); } // one for whom there is no place serves none
    auto const suffices = [&](int servers) {
        shape.servers = servers;
        return keeps(load, shape, objective);
    };
    if (suffices(1)) { return 1; }
    if (service_quantile(load, objective.q) > objective.latency) { return {}; }
    int low = 1, high = 1; // the former does not
    do {
        if (high >= most) { return {}; }
        low = high;
        high = std::min(doubled(high), most);
    } while (!suffices(high));
    while (high - low > 1) {
        int const middle = low + (high - low) / 2;
        (suffices(middle) ? high : low) = middle;
    }
    return high;
}

std::vector<LoadPoint> load_curve(QueueLoad const& load, QueueShape const& shape,
                                  std::span<double const> utilizations) {
    queueing::check(load, shape);
    std::vector<LoadPoint> curve;
    for (double const utilization : utilizations) {
        demand_amount(utilization, "utilization", "give a share of capacity, e.g. 0.9");
        curve.push_back(point_at(at_utilization(load, shape, utilization), shape));
    }
    return curve;
}

LoadPoint knee(QueueLoad const& load, QueueShape const& shape) {
    queueing::check(load, shape);
    constexpr int parts = 32;
    auto const power_at = [&](double utilization) { return power(at_utilization(load, shape, utilization), shape); };
    int best = 1;
    for (int part = 2; part <= parts; ++part) {
        if (power_at(static_cast<double>(part) / parts) > power_at(static_cast<double>(best) / parts)) { best = part; }
    }
    // Between the neighbours of the best, by the golden section.
    double low = static_cast<double>(best - 1) / parts, high = std::min(1.0, static_cast<double>(best + 1) / parts);
    double const golden = 0.5 * (std::sqrt(5.0) - 1.0);
    double left = high - golden * (high - low), right = low + golden * (high - low);
    double of_left = power_at(left), of_right = power_at(right);
    while (high - low > 1e-9) {
        if (of_left < of_right) {
            low = left, left = right, of_left = of_right;
            of_right = power_at(right = low + golden * (high - low));
        } else {
            high = right, right = left, of_right = of_left;
            of_left = power_at(left = high - golden * (high - low));
        }
    }
    return point_at(at_utilization(load, shape, 0.5 * (low + high)), shape);
}

Doubling doubling(QueueLoad const& load, QueueShape const& shape) {
    queueing::check(load, shape);
    QueueShape twice = shape;
    twice.servers = doubled(shape.servers);
    if (shape.places) { twice.places = doubled(*shape.places); }
    QueueLoad half = load, twofold = load;
    half.arrivals_per_second *= 0.5;
    half.arrival_variation = 0.5 * (1.0 + load.arrival_variation);
    twofold.arrivals_per_second *= 2.0;
    return {.now = point_at(load, shape),
            .shared_line = point_at(load, twice),
            .own_lines = point_at(half, shape),
            .twice_traffic = point_at(twofold, twice),
            .service_p99 = service_quantile(load, often)};
}

} // namespace headroom::serving
