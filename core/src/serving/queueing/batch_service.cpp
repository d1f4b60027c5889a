#include "batch_service.hpp"

#include "geometric_sums.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

namespace headroom::serving::queueing {
namespace {

/// One server that takes up to `batch` of those waiting, or the first that finds it idle.
struct BatchServer {
    double arrivals = 0.0;  ///< a second, Poisson; less than full batches are served
    double service = 1.0;   ///< of one alone, mean
    double variation = 1.0; ///< of any batch's service: gamma
    double growth = 0.0;
    int batch = 1;
    [[nodiscard]] double service_of(double requests) const { return service * (1.0 + growth * (requests - 1.0)); }
};

struct BatchFigures {
    double busy = 0.0;           ///< share of time that servers work
    double waits = 0.0;          ///< share of requests
    double wait = 0.0;           ///< mean, of all
    double wait_variation = 1.0; ///< c^2 of the waits of those that wait
    double batch = 1.0;
    double weighed_batch = 1.0; ///< that a request is served in, in the mean
};

using Complex = std::complex<double>;
using Row = std::vector<Complex>;

constexpr int most_batch = 64;

int taken(int left, int batch) { return std::clamp(left, 1, batch); }

/// ln K(z) of a service in which `load` arrive in the mean.
Complex log_arrivals(Complex z, double load, double variation) {
    Complex const rate = load * (1.0 - z);
    return variation > 0.0 ? -std::log(1.0 + variation * rate) / variation : -rate;
}

/// The k-th zero: z = w K_b(z)^(1/b) with w the k-th root of 1, a contraction of the disc by the server's load.
Complex zero_of(BatchServer const& server, int k) {
    double const b = server.batch, load = server.arrivals * server.service_of(b);
    Complex const turn{0.0, 2.0 * std::numbers::pi * k / b};
    auto const next = [&](Complex z) { return std::exp(turn + log_arrivals(z, load, server.variation) / b); };
    Complex z = 0.5 * std::exp(turn);
    for (int step = 0; step < 100'000; ++step) {
        Complex const then = next(z);
        // z of a line through both points, since the way shrinks by nearly the same factor each time
        Complex const after = next(then), bend = after - 2.0 * then + z;
        Complex const guess = std::abs(bend) > 1e-300 ? z - (then - z) * (then - z) / bend : after;
        double const moved = std::abs(after - then);
        z = std::abs(guess) < 1.0 ? guess : after;
        if (moved < 1e-15) { break; }
    }
    return z;
}

/// Gauss's elimination with the largest pivot of each column.
std::optional<std::vector<double>> solved(std::vector<Row> rows, Row right) {
    std::size_t const size = rows.size();
    for (std::size_t i = 0; i < size; ++i) {
        std::size_t pivot = i;
        for (std::size_t r = i + 1; r < size; ++r) {
            if (std::abs(rows[r][i]) > std::abs(rows[pivot][i])) { pivot = r; }
        }
        if (!(std::abs(rows[pivot][i]) > 0.0)) { return {}; }
        std::swap(rows[i], rows[pivot]);
        std::swap(right[i], right[pivot]);
        for (std::size_t r = i + 1; r < size; ++r) {
            Complex const factor = rows[r][i] / rows[i][i];
            for (std::size_t j = i; j < size; ++j) { rows[r][j] -= factor * rows[i][j]; }
            right[r] -= factor * right[i];
        }
    }
    std::vector<double> result(size);
    for (std::size_t i = size; i-- > 0;) {
        for (std::size_t j = i + 1; j < size; ++j) { right[i] -= rows[i][j] * right[j]; }
        right[i] /= rows[i][i];
        result[i] = right[i].real();
    }
    return result;
}

/// p_q for q < b. Where z is a zero K_b(z) = z^b, by which each equation is divided.
std::optional<std::vector<double>> few_left(BatchServer const& server) {
    int const b = server.batch;
    auto const load = [&](int n) { return server.arrivals * server.service_of(n); };
    std::vector<Row> rows(static_cast<std::size_t>(b), Row(static_cast<std::size_t>(b)));
    Row right(static_cast<std::size_t>(b), 0.0);
    for (int q = 0; q < b; ++q) { rows[0][static_cast<std::size_t>(q)] = b - q + load(taken(q, b)) - load(b); }
    right[0] = b - load(b);
    for (int k = 1; k < b; ++k) {
        Complex const z = zero_of(server, k);
        Complex power = 1.0;
        for (int q = 0; q < b; ++q, power *= z) {
            rows[static_cast<std::size_t>(k)][static_cast<std::size_t>(q)] =
                std::exp(log_arrivals(z, load(taken(q, b)), server.variation)) - power;
        }
    }
    return solved(std::move(rows), std::move(right));
}

/// Derivatives at z = 1 of z^n K(z), where K's are powers of the load times those of a gamma service.
struct Derivatives {
    double first, second, third;
};
Derivatives derivatives(double n, double load, double variation) {
    double const k2 = load * load * (1.0 + variation), k3 = load * k2 * (1.0 + 2.0 * variation);
    return {n + load, n * (n - 1.0) + 2.0 * n * load + k2,
            n * (n - 1.0) * (n - 2.0) + 3.0 * n * (n - 1.0) * load + 3.0 * n * k2 + k3};
}

/// E[q] and E[q (q - 1)] of those left: P'(1) and P''(1), from derivatives of the equation of P.
struct Left {
    double first = 0.0, second = 0.0;
};
Left moments_left(BatchServer const& server, std::vector<double> const& few) {
    double const b = server.batch, v = server.variation, full = server.arrivals * server.service_of(b);
    Derivatives const power = derivatives(b, 0.0, v), of_full = derivatives(0.0, full, v);
    double const d1 = power.first - of_full.first, d2 = power.second - of_full.second, d3 = power.third - of_full.third;
    double second = -d2, third = -d3;
    for (std::size_t i = 0; i < few.size(); ++i) {
        auto const q = static_cast<double>(i);
        Derivatives const here = derivatives(b, server.arrivals * server.service_of(std::max(q, 1.0)), v);
        Derivatives const there = derivatives(q, full, v);
        second += few[i] * (here.second - there.second);
        third += few[i] * (here.third - there.third);
    }
    double const mean = second / (2.0 * d1);
    return {mean, (third - 3.0 * mean * d2) / (3.0 * d1)};
}

/// Mean time, requests and their integrals from one departure to the next.
struct Cycle {
    double length = 0.0, requests = 0.0, squares = 0.0; ///< time; served, and their number squared
    double waiting = 0.0, pairs = 0.0;                  ///< integrals of L and of L (L - 1) over time
};

/// A share p of departures leave so many that n are served and `rest` wait on, E[rest] and E[rest (rest - 1)] times p.
void add(Cycle& cycle, BatchServer const& server, double n, double p, Left const& rest) {
    double const service = server.service_of(n), v = server.variation, rate = server.arrivals;
    double const square = service * service * (1.0 + v), cube = square * service * (1.0 + 2.0 * v);
    cycle.length += p * service;
    cycle.requests += p * n;
    cycle.squares += p * n * n;
    cycle.waiting += rest.first * service + p * rate * square / 2.0;
    cycle.pairs += rest.second * service + rest.first * rate * square + p * rate * rate * cube / 3.0;
}

/// M/G^[1,b]/1 by the chain embedded at departures, of how many q one leaves waiting: the next batch n is of 1 at q = 0,
/// else of min(q, b), and leaves max(q - b, 0) and those that arrive during its service, of which K_n(z) is the generating
/// function:
///
///     P(z) (z^b - K_b(z)) = sum_{q<b} p_q (z^b K_n(z) - z^q K_b(z))
///
/// The left side is zero at the b zeros of z^b - K_b in the unit disc, which with P(1) = 1 gives the p_q, and P'(1) the rest.
/// The line follows from the time between departures, during which q - n wait, and those that come. One leaves as many
/// behind in it as came while it waited, so that E[L(L-1)] = lambda^2 E[W^2] besides Little's law.
/// Nothing where b is above 64: the equations then lose their digits.
/// Source: [Bailey1954], [NeutsBatch1967]
std::optional<BatchFigures> batch_chain(BatchServer const& server) {
    constexpr double slack = 1e-9;
    if (server.batch > most_batch || !(server.arrivals > 0.0)) { return {}; }
    std::optional<std::vector<double>> const few = few_left(server);
    if (!few) { return {}; }
    Left beyond = moments_left(server, *few); // of b and more, once the others are taken away
    double many = 1.0, idle = (*few)[0] / server.arrivals;
    Cycle cycle{.length = idle};
    for (std::size_t i = 0; i < few->size(); ++i) {
        double const p = (*few)[i];
        auto const q = static_cast<double>(i);
        if (!(p > -slack)) { return {}; }
        many -= p;
        beyond.first -= p * q;
        beyond.second -= p * q * (q - 1.0);
        add(cycle, server, std::max(q, 1.0), p, {});
    }
    if (!(many > -slack)) { return {}; }
    double const b = server.batch;
    add(cycle, server, b, many,
        {beyond.first - b * many, beyond.second - 2.0 * b * beyond.first + b * (b + 1.0) * many});
    double const busy = 1.0 - idle / cycle.length, wait = cycle.waiting / cycle.length / server.arrivals;
    double const square = cycle.pairs / cycle.length / (server.arrivals * server.arrivals);
    return BatchFigures{.busy = busy,
                        .waits = busy,
                        .wait = wait,
                        .wait_variation = std::max(0.0, busy * square / (wait * wait) - 1.0),
                        .batch = cycle.requests,
                        .weighed_batch = cycle.squares / cycle.requests};
}

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
