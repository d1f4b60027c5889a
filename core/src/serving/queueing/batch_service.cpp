#include "batch_service.hpp"

#include "batch_chain.hpp"
#include "geometric_sums.hpp"

#include <optional>

namespace headroom::serving::queueing {
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
    double wait = 0.0;
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
    queue.wait = queue.taken / (rate * queue.rest);
    // Batches of n begin at rate c mu p(c, n), and those of one alone where a server is free.
    double const b = batch, squares = lost / all * (sums.second + b * b * sums.power / (1.0 - r));
    queue.weighed_batch = queue.below + rate * squares / arrivals;
    return queue;
}

} // namespace

double capacity(QueueLoad const& load, QueueShape const& shape) {
    return static_cast<double>(shape.servers) * shape.batch / service_of(load, shape, shape.batch);
}

namespace {

/// The mean batch n and the service 1 + growth (n - 1) that it takes, which have to agree: found by bisection, since longer
/// services make larger batches.
double agreed_batch(QueueLoad const& load, QueueShape const& shape) {
    double const arrivals = load.arrivals_per_second, most = static_cast<double>(shape.servers) * shape.batch;
    auto const fits = [&](double batch) { // whether batches of that service come out no larger
        double const service = service_of(load, shape, batch);
        if (arrivals * service >= most) { return false; }
        return arrivals * service <= batch * bulk(arrivals, service, shape.servers, shape.batch).busy;
    };
    double low = 1.0, high = shape.batch;
    for (int step = 0; step < 60 && high - low > 1e-12 * high; ++step) {
        double const middle = 0.5 * (low + high);
        (fits(middle) ? high : low) = middle;
    }
    return high;
}

/// Figures of one server that is as fast as all c together. Departures of c independent servers look random even where
/// their services are even, but for a share 1/c. Where the line holds several batches, only the number of departures in
/// a long time counts, and that is as even as services are. Between the two the fourth power of the load interpolates,
/// as simulations show.
std::optional<BatchFigures> fast_server(QueueLoad const& load, QueueShape const& shape) {
    double const used = load.arrivals_per_second / capacity(load, shape), v = load.service_variation;
    double const chance = (1.0 - 1.0 / shape.servers) * (1.0 - used * used * used * used);
    return batch_chain({.arrivals = load.arrivals_per_second,
                        .service = load.service.base() / shape.servers,
                        .variation = v < 1.0 ? v + (1.0 - v) * (1.0 - v) * chance : v,
                        .growth = shape.batch_growth,
                        .batch = shape.batch});
}

QueueAnswer answer_of(QueueLoad const& load, QueueShape const& shape, BatchFigures const& figures, QueueMethod method) {
    double const arrivals = load.arrivals_per_second;
    QueueAnswer answer{.utilization = figures.busy,
                       .wait_probability = figures.waits,
                       .throughput_per_second = arrivals,
                       .wait = Seconds{figures.wait},
                       .batch = figures.batch,
                       .wait_variation = figures.wait_variation,
                       .method = method};
    answer.latency = answer.wait + Seconds{service_of(load, shape, figures.weighed_batch)};
    answer.waiting = arrivals * answer.wait.base();
    answer.present = arrivals * answer.latency.base();
    return answer;
}

} // namespace

/// Where nothing exact is known: as many wait as with exponential services of the mean batch's, and those as long as for
/// one server that is as fast as all, times (c_a^2 + c_s^2) / (1 + c_s^2); without its figures as long as with those
/// exponential services, times (c_a^2 + c_s^2) / 2.
QueueAnswer batch_service(QueueLoad const& load, QueueShape const& shape) {
    double const arrivals = load.arrivals_per_second;
    bool const poisson = load.arrival_variation == 1.0, grows = shape.batch_growth > 0.0;
    bool const exponential = poisson && load.service_variation == 1.0;
    if (arrivals == 0.0) { return answer_of(load, shape, {}, QueueMethod::exact); }
    double const agreed = grows ? agreed_batch(load, shape) : 1.0;
    double const service = service_of(load, shape, agreed);
    Bulk const queue = bulk(arrivals, service, shape.servers, shape.batch);
    BatchFigures figures{.busy = queue.busy / shape.servers,
                         .waits = queue.taken,
                         .wait = queue.wait,
                         .batch = arrivals * service / queue.busy,
                         .weighed_batch = queue.weighed_batch};
    if (exponential && !grows) { return answer_of(load, shape, figures, QueueMethod::exact); }
    std::optional<BatchFigures> const fast = fast_server(load, shape);
    if (fast && poisson && shape.servers == 1) { return answer_of(load, shape, *fast, QueueMethod::exact); }
    if (fast) {
        figures.wait = fast->wait / fast->waits * figures.waits * (load.arrival_variation + load.service_variation) /
                       (1.0 + load.service_variation);
        figures.wait_variation = fast->wait_variation;
        figures.weighed_batch = 1.0 + (fast->weighed_batch - 1.0) / fast->waits * figures.waits;
    } else {
        figures.wait *= 0.5 * (load.arrival_variation + load.service_variation);
    }
    return answer_of(load, shape, figures, QueueMethod::batches);
}

} // namespace headroom::serving::queueing
