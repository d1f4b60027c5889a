#include "batch_chain.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

namespace headroom::serving::queueing {
namespace {

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

} // namespace

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

} // namespace headroom::serving::queueing
