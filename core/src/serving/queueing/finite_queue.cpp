#include "finite_queue.hpp"

#include "found_states.hpp"
#include "geometric_sums.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom::serving::queueing {
namespace {

/// Shares of time, up to a factor, in which: a server is free; all serve and a place is left; no place is left. And the
/// sum of those that wait over the last two.
struct Shares {
    double free = 0.0, full = 0.0, blocked = 0.0, waiting = 0.0;
    double first = 0.0, second = 0.0; ///< over the second, of those that wait already and of their square
    [[nodiscard]] double sum() const { return free + full + blocked; }
};

/// One that finds j waiting has j + 1 ends of services before it: their mean's share of chance, and that of j.
double wait_variation(Shares const& shares, double service_variation) {
    if (!(shares.full > 0.0)) { return 1.0; }
    double const first = shares.first / shares.full, second = shares.second / shares.full;
    return (service_variation * (first + 1.0) + std::max(0.0, second - first * first)) /
           ((first + 1.0) * (first + 1.0));
}

QueueAnswer answer_of(Shares const& shares, QueueLoad const& load, int servers, QueueMethod method) {
    QueueAnswer answer{.method = method};
    double const sum = shares.sum(), service = load.service.base();
    answer.blocked = shares.blocked / sum;
    double const let_in = (shares.free + shares.full) / sum;
    answer.throughput_per_second = load.arrivals_per_second * let_in;
    answer.utilization = answer.throughput_per_second * service / servers;
    answer.wait_probability = let_in > 0.0 ? shares.full / (shares.free + shares.full) : 1.0;
    answer.wait_variation = wait_variation(shares, load.service_variation);
    answer.waiting = shares.waiting / sum;
    answer.wait = Seconds{answer.throughput_per_second > 0.0 ? answer.waiting / answer.throughput_per_second : 0.0};
    answer.latency = answer.wait + load.service;
    answer.present = answer.throughput_per_second * answer.latency.base();
    return answer;
}

/// States up to c as in M/M/c, with the shares B of state c and 1 - B below it. From there on, with v = (c_a^2 + c_s^2)/2,
///
///     p(c + j) = B (1 - z)/(1 - rho) z^j,   p(K) = B z^(K - c),   z = v rho / (1 - rho + v rho)
///
/// For v = 1 z = rho: the birth-death chain. Else the decay z is that with which the mean wait of the queue without
/// bounds is Allen and Cunneen's, and the share of p(K) lets as many in as are served. Above rho = 1 free places take the
/// part of those taken: z = (rho - 1 + v)/v, which meets the other at 1 with its slope.
Shares geometric_tail(double rho, double v, double below_full, int waiting_places) {
    Shares shares{.free = 1.0 - below_full};
    double const m = waiting_places;
    if (rho <= 1.0) {
        double const z = v * rho / (1.0 - rho + v * rho), factor = below_full / (1.0 - rho + v * rho);
        GeometricSums const sums = geometric_sums(z, waiting_places);
        shares.full = factor * sums.plain;
        shares.blocked = below_full * sums.power;
        shares.first = factor * sums.first;
        shares.second = factor * sums.second;
        shares.waiting = shares.first + m * shares.blocked;
        return shares;
    }
    // Divided by z^(K - c), which may be beyond all numbers; counted from the last place.
    double const inverse = v / (rho - 1.0 + v), factor = below_full / v * inverse;
    GeometricSums const sums = geometric_sums(inverse, waiting_places);
    shares.free *= sums.power;
    shares.full = factor * sums.plain;
    shares.blocked = below_full;
    shares.first = factor * ((m - 1.0) * sums.plain - sums.first);
    shares.second = factor * ((m - 1.0) * (m - 1.0) * sums.plain - 2.0 * (m - 1.0) * sums.first + sums.second);
    shares.waiting = shares.first + m * shares.blocked;
    return shares;
}

/// M/G/1/K by the chain embedded at departures. Of the n that one leaves behind, as many go up from n as come down to
/// it:
///
///     pi(n+1) P(0 arrive) = pi(0) P(more than n arrive) + sum_{i=1..n} pi(i) P(more than n+1-i arrive)
///
/// All terms are above zero. Arrivals find p(n) = pi(n) / (pi(0) + rho), and no place with the remainder to one.
Shares embedded_chain(double rho, double v, int places) {
    auto const size = static_cast<std::size_t>(places);
    std::vector<double> const chances = counts_in_gamma_time(rho, v, places + 1);
    std::vector<double> more(size + 1); // P(more than n arrive)
    double up_to = 0.0;
    for (std::size_t n = 0; n <= size; ++n) { more[n] = std::max(0.0, 1.0 - (up_to += chances[n])); }
    for (std::size_t n = size; n-- > 0;) { more[n] = std::max(more[n], more[n + 1] + chances[n + 1]); }
    std::vector<double> left(size, 0.0);
    left[0] = 1.0;
    double sum = 1.0;
    for (std::size_t n = 0; n + 1 < size; ++n) {
        double up = left[0] * more[n];
        for (std::size_t i = 1; i <= n; ++i) { up += left[i] * more[n + 1 - i]; }
        left[n + 1] = up / chances[0];
        sum += left[n + 1];
    }
    Shares shares{.free = left[0] / sum};
    for (std::size_t n = 1; n < size; ++n) {
        double const share = left[n] / sum, waiting = static_cast<double>(n - 1);
        shares.full += share;
        shares.first += waiting * share;
        shares.second += waiting * waiting * share;
    }
    shares.blocked = std::max(0.0, shares.free + rho - 1.0);
    shares.waiting = shares.first + (places - 1.0) * shares.blocked;
    return shares;
}

/// Whether the chain's numbers stay within bounds, and its work in sight.
bool chain_fits(double rho, double v, int places) {
    constexpr int most_places = 2048;
    constexpr double most_growth = 600.0; // of ln pi over all places
    double const none = v > 0.0 ? std::log1p(v * rho) / v : rho;
    return places <= most_places && (rho < 1.0 ? none : none * places) < most_growth;
}

/// GI/M/c/K by the states that arrivals find; those that wait by Little's law from their waits.
Shares shares_found(QueueLoad const& load, QueueShape const& shape, double rho) {
    std::vector<double> const found = found_states(load, shape);
    Shares shares{.blocked = found.back()};
    for (std::size_t n = 0; n + 1 < found.size(); ++n) {
        double const before = static_cast<double>(n) - shape.servers;
        (before < 0.0 ? shares.free : shares.full) += found[n];
        shares.first += std::max(before, 0.0) * found[n];
        shares.second += std::max(before, 0.0) * before * found[n];
    }
    shares.waiting = rho * (shares.first + shares.full);
    return shares;
}

} // namespace

QueueAnswer finite_queue(QueueLoad const& load, QueueShape const& shape) {
    constexpr double least_factor = 1e-6;
    double const offered = load.arrivals_per_second * load.service.base();
    double const rho = offered / shape.servers;
    double const v = 0.5 * (load.arrival_variation + load.service_variation);
    bool const poisson = load.arrival_variation == 1.0, exponential = poisson && load.service_variation == 1.0;
    if (poisson && !exponential && shape.servers == 1 && *shape.places > 1 &&
        chain_fits(rho, load.service_variation, *shape.places)) {
        return answer_of(embedded_chain(rho, load.service_variation, *shape.places), load, 1, QueueMethod::exact);
    }
    if (!poisson && has_found_states(load, shape)) {
        return answer_of(shares_found(load, shape, rho), load, shape.servers, QueueMethod::exact);
    }
    int const waiting_places = *shape.places - shape.servers;
    bool const exact = exponential || (poisson && waiting_places == 0); // losses know services by their mean only
    Shares const shares =
        geometric_tail(rho, std::max(v, least_factor), erlang_b(offered, shape.servers), waiting_places);
    return answer_of(shares, load, shape.servers, exact ? QueueMethod::exact : QueueMethod::geometric_tail);
}

} // namespace headroom::serving::queueing
