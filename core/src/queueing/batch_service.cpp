#include "queueing/batch_service.hpp"

#include "queueing/geometric_sums.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::queueing {
namespace {

double service_of(QueueLoad const& load, QueueShape const& shape, double batch) {
    return load.service.base() * (1.0 + shape.batch_growth * (batch - 1.0));
}

/// Exponential services whose mean does not ask for the batch: M/M^[1,b]/c.
///
/// With all c taken, n wait with a share that falls as r^n, where r is the root in (0, 1) of
///
///     lambda (1 - r) = c mu r (1 - r^b),   that is   r + r^2 + ... + r^b = lambda / (c mu)
///
/// Below, states are those of Erlang's B: a server that is free takes one. One that finds n waiting waits for
/// floor(n/b) + 1 ends of services: without memory, at rate c mu (1 - r^b).
struct Bulk {
    double root = 0.0, rest = 1.0;   ///< r; 1 - r^b
    double below = 1.0, taken = 0.0; ///< shares of time: a server is free; all serve
    double busy = 0.0;               ///< servers, in the mean
    double wait_probability = 0.0, wait = 0.0, waiting = 0.0;
    double weighed_batch = 1.0; ///< that a request is served in
};

double root_of(double per_server, int batch) {
    double low = 0.0, high = 1.0;
    for (double middle = 0.5; low < middle && middle < high; middle = 0.5 * (low + high)) {
        (middle * geometric_sums(middle, batch).plain < per_server ? low : high) = middle;
    }
    return low;
}

Bulk bulk(double arrivals, double service, int servers, int batch) {
    Bulk queue;
    double const offered = arrivals * service, rate = servers / service;
    queue.root = root_of(offered / servers, batch);
    double const r = queue.root, lost = erlang_b(offered, servers);
    GeometricSums const sums = geometric_sums(r, batch);
    queue.rest = (1.0 - r) * sums.plain;
    double const full = lost / (1.0 - r), all = 1.0 - lost + full;
    queue.below = (1.0 - lost) / all;
    queue.taken = full / all;
    queue.busy = (offered * (1.0 - lost) + servers * (full - lost)) / all;
    queue.wait_probability = queue.taken;
    queue.wait = queue.taken / (rate * queue.rest);
    queue.waiting = arrivals * queue.wait;
    if (arrivals > 0.0) { // batches of n end a wait at rate c mu p(c, n); one alone where a server is free
        double const b = batch, none_waits = lost / all;
        double const squares = none_waits * (sums.second + b * b * sums.power / (1.0 - r));
        queue.weighed_batch = queue.below + rate * squares / arrivals;
    }
    return queue;
}

} // namespace

double capacity(QueueLoad const& load, QueueShape const& shape) {
    return static_cast<double>(shape.servers) * shape.batch / service_of(load, shape, shape.batch);
}

/// The mean batch n and the service 1 + growth (n - 1) that it takes have to agree: found by bisection, since longer
/// services make larger batches.
QueueAnswer batch_service(QueueLoad const& load, QueueShape const& shape) {
    double const arrivals = load.arrivals_per_second;
    auto const at = [&](double mean_batch) {
        return bulk(arrivals, service_of(load, shape, mean_batch), shape.servers, shape.batch);
    };
    auto const fits = [&](double mean_batch) { // whether batches of that service come out no larger
        double const service = service_of(load, shape, mean_batch);
        if (arrivals * service >= static_cast<double>(shape.servers) * shape.batch) { return false; }
        return arrivals * service <= mean_batch * at(mean_batch).busy;
    };
    double low = 1.0, high = shape.batch;
    if (shape.batch_growth > 0.0 && arrivals > 0.0) {
        for (int step = 0; step < 60 && high - low > 1e-12 * high; ++step) {
            double const middle = 0.5 * (low + high);
            (fits(middle) ? high : low) = middle;
        }
    }
    bool const exponential = load.arrival_variation == 1.0 && load.service_variation == 1.0;
    Bulk const queue = at(shape.batch_growth > 0.0 ? high : 1.0);
    double const factor = 0.5 * (load.arrival_variation + load.service_variation);
    QueueAnswer answer{.utilization = queue.busy / shape.servers,
                       .wait_probability = queue.wait_probability,
                       .throughput_per_second = arrivals,
                       .wait = Seconds{queue.wait * factor},
                       .method = exponential && shape.batch_growth == 0.0 ? QueueMethod::exact : QueueMethod::batches};
    answer.latency = answer.wait + Seconds{service_of(load, shape, queue.weighed_batch)};
    answer.waiting = arrivals * answer.wait.base();
    answer.present = arrivals * answer.latency.base();
    answer.batch = arrivals > 0.0 ? arrivals * service_of(load, shape, high) / queue.busy : 1.0;
    if (shape.batch_growth == 0.0 && arrivals > 0.0) { answer.batch = arrivals * load.service.base() / queue.busy; }
    return answer;
}

} // namespace headroom::queueing
