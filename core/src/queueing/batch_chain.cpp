#include "queueing/batch_chain.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

namespace headroom::queueing {
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

/// Mean number left, by the second derivatives at z = 1.
double mean_left(BatchServer const& server, std::vector<double> const& few) {
    double const b = server.batch, full = server.arrivals * server.service_of(b), v = 1.0 + server.variation;
    double second = -(b * (b - 1.0) - full * full * v);
    for (std::size_t i = 0; i < few.size(); ++i) {
        auto const q = static_cast<double>(i);
        double const load = server.arrivals * server.service_of(std::max(q, 1.0));
        second += few[i] *
                  (b * (b - 1.0) + 2.0 * b * load + load * load * v - q * (q - 1.0) - 2.0 * q * full - full * full * v);
    }
    return second / (2.0 * (b - full));
}

} // namespace

std::optional<BatchFigures> batch_chain(BatchServer const& server) {
    constexpr double slack = 1e-9;
    if (server.batch > most_batch || !(server.arrivals > 0.0)) { return {}; }
    std::optional<std::vector<double>> const few = few_left(server);
    if (!few) { return {}; }
    double const b = server.batch, full = server.service_of(b), v = 1.0 + server.variation;
    double many = 1.0, beyond = mean_left(server, *few); // of b and more: share, and sum of what is left
    double length = (*few)[0] / server.arrivals, requests = 0.0, served = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < few->size(); ++i) {
        double const p = (*few)[i], q = static_cast<double>(i), n = std::max(q, 1.0), service = server.service_of(n);
        if (!(p > -slack)) { return {}; }
        many -= p;
        beyond -= p * q;
        length += p * service;
        requests += p * n;
        served += p * n * n;
        squares += p * service * service * v;
    }
    if (!(many > -slack)) { return {}; }
    length += many * full;
    requests += many * b;
    served += many * b * b;
    squares += many * full * full * v;
    double const waiting = ((beyond - b * many) * full + 0.5 * server.arrivals * squares) / length;
    double const busy = 1.0 - (*few)[0] / server.arrivals / length;
    return BatchFigures{.busy = busy,
                        .waits = busy,
                        .wait = waiting / server.arrivals,
                        .batch = requests,
                        .weighed_batch = served / requests};
}

} // namespace headroom::queueing
