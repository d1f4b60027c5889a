#include "quantity/demand.hpp"
#include "queueing/batch_service.hpp"
#include "queueing/checks.hpp"
#include "queueing/finite_queue.hpp"
#include "queueing/service_time.hpp"

#include "headroom/queue.hpp"

#include <cmath>
#include <limits>

namespace headroom {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// As much is served as can be, and the line grows.
QueueAnswer overloaded(QueueLoad const& load, QueueShape const& shape) {
    double const capacity = queueing::capacity(load, shape);
    return {.stable = false,
            .utilization = load.arrivals_per_second / capacity,
            .wait_probability = 1.0,
            .throughput_per_second = capacity,
            .wait = Seconds{never},
            .latency = Seconds{never},
            .waiting = never,
            .present = never,
            .batch = static_cast<double>(shape.batch)};
}

QueueAnswer one_line(QueueLoad const& load, QueueShape const& shape) {
    double const arrivals = load.arrivals_per_second, service = load.service.base();
    double const offered = arrivals * service, servers = shape.servers;
    double const factor = 0.5 * (load.arrival_variation + load.service_variation);
    bool const poisson = load.arrival_variation == 1.0;
    QueueAnswer answer{.utilization = offered / servers,
                       .wait_probability = erlang_c(offered, shape.servers),
                       .throughput_per_second = arrivals};
    answer.wait = Seconds{answer.wait_probability * service / (servers - offered) * factor};
    answer.latency = answer.wait + load.service;
    answer.waiting = arrivals * answer.wait.base();
    answer.present = arrivals * answer.latency.base();
    bool const exact = poisson && (load.service_variation == 1.0 || shape.servers == 1);
    answer.method = exact ? QueueMethod::exact : QueueMethod::allen_cunneen;
    return answer;
}

void check_quantile(double q) {
    demand_share(q, "quantile", "give a share between 0 and 1, e.g. 0.99");
    if (q > 0.0 && q < 1.0) { return; }
    queueing::refuse("quantile", "not between 0 and 1", "no time is short or long enough", "give e.g. 0.99");
}

} // namespace

std::string_view name_of(QueueMethod method) {
    switch (method) {
    case QueueMethod::exact: return "exact";
    case QueueMethod::allen_cunneen: return "Allen-Cunneen";
    case QueueMethod::geometric_tail: return "geometric tail";
    case QueueMethod::batches: return "batches";
    }
    return "";
}

QueueAnswer queue_answer(QueueLoad const& load, QueueShape const& shape) {
    queueing::check(load, shape);
    if (shape.places) {
        if (shape.batch > 1) {
            queueing::refuse("places", "stated for batches", "how many a batch holds besides has no closed form",
                             "leave out one of the two, or simulate");
        }
        return queueing::finite_queue(load, shape);
    }
    if (load.arrivals_per_second >= queueing::capacity(load, shape)) { return overloaded(load, shape); }
    return shape.batch > 1 ? queueing::batch_service(load, shape) : one_line(load, shape);
}

Seconds latency_quantile(QueueLoad const& load, QueueShape const& shape, double q) {
    check_quantile(q);
    QueueAnswer const answer = queue_answer(load, shape);
    if (!answer.stable) { return Seconds{never}; }
    double const waits = answer.wait_probability;
    double const wait = waits > 0.0 ? answer.wait.base() / waits : 0.0; // of those who wait
    queueing::ServiceTime const service{(answer.latency - answer.wait).base(), load.service_variation};
    auto const above = [&](double x) {
        return (1.0 - waits) * service.above(x) + waits * service.above_after(wait, x);
    };
    double low = 0.0, high = answer.latency.base();
    while (above(high) > 1.0 - q) { low = high, high *= 2.0; }
    for (int step = 0; step < 100 && high - low > 1e-12 * high; ++step) {
        double const middle = 0.5 * (low + high);
        (above(middle) > 1.0 - q ? low : high) = middle;
    }
    return Seconds{high};
}

} // namespace headroom
