#include "base/quantity/demand.hpp"
#include "batch_service.hpp"
#include "checks.hpp"
#include "geometric_sums.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/queue.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace headroom::serving {

using namespace queueing;

namespace {

/// Times by mean and squared coefficient of variation: gamma; exponential at 1, always the mean at 0.
class ServiceTime {
public:
    ServiceTime(double mean, double variation) : mean_{mean}, variation_{variation} {}
    [[nodiscard]] double mean() const { return mean_; }
    /// P(S > x).
    [[nodiscard]] double above(double x) const;
    /// P(W + S > x) of a wait W before it.
    [[nodiscard]] double above_after(ServiceTime const& wait, double x) const;

private:
    [[nodiscard]] double above_after_exponential(double wait, double x) const;
    [[nodiscard]] double above_after_gamma(ServiceTime const& wait, double x) const;

    double mean_, variation_;
};

constexpr double precision = std::numeric_limits<double>::epsilon();
/// Below it, gamma times differ from the mean only beyond the digits of the sums.
constexpr double least_variation = 1e-8;
constexpr int most_terms = 1'000'000;

/// x^k e^-x / Gamma(k).
double density_times_x(double shape, double x) { return std::exp(shape * std::log(x) - x - std::lgamma(shape)); }

double below_by_series(double shape, double x) {
    double term = 1.0 / shape, sum = term;
    for (int n = 1; n < most_terms && term > precision * sum; ++n) { sum += term *= x / (shape + n); }
    return sum * density_times_x(shape, x);
}

/// Lentz's way through the continued fraction.
double above_by_fraction(double shape, double x) {
    double b = x + 1.0 - shape, c = 1.0 / std::numeric_limits<double>::min(), d = 1.0 / b, product = d;
    for (int n = 1; n < most_terms; ++n) {
        double const a = n * (shape - n);
        b += 2.0;
        d = 1.0 / (b + a * d);
        c = b + a / c;
        product *= c * d;
        if (std::abs(c * d - 1.0) < precision) { break; }
    }
    return product * density_times_x(shape, x);
}

/// For exponential services: the sum of two waits without memory, of rates m and t, with t as near to m as it likes.
double above_two_exponentials(double m, double t, double x) {
    double const apart = (m - t) * x;
    if (apart == 0.0) { return std::exp(-m * x) * (1.0 + m * x); }
    if (std::abs(apart) > 1.0) { return (m * std::exp(-t * x) - t * std::exp(-m * x)) / (m - t); }
    return std::exp(-m * x) * (1.0 + m * x * std::expm1(apart) / apart);
}

/// Gauss and Legendre's rule of five points on panels.
template <class F> double integral(F const& f, double low, double high, int panels) {
    constexpr std::array<double, 3> place{0.0, 0.5384693101056831, 0.9061798459386640};
    constexpr std::array<double, 3> weight{0.5688888888888889, 0.4786286704993665, 0.2369268850561891};
    double const half = 0.5 * (high - low) / panels;
    double sum = 0.0;
    for (int panel = 0; panel < panels; ++panel) {
        double const middle = low + (2.0 * panel + 1.0) * half;
        sum += weight[0] * f(middle);
        for (std::size_t i = 1; i < place.size(); ++i) {
            sum += weight[i] * (f(middle - place[i] * half) + f(middle + place[i] * half));
        }
    }
    return sum * half;
}

/// P(G > x) of a gamma distribution of shape k and scale 1: Q(k, x), by its series below k + 1 and its continued
/// fraction above. Source: [AbramowitzStegun1964] (6.5.29, 6.5.31)
double gamma_above(double shape, double x) {
    if (!(x > 0.0)) { return 1.0; }
    if (std::isinf(x)) { return 0.0; }
    return x < shape + 1.0 ? 1.0 - below_by_series(shape, x) : above_by_fraction(shape, x);
}

double ServiceTime::above(double x) const {
    if (x < 0.0) { return 1.0; }
    if (variation_ == 1.0) { return std::exp(-x / mean_); }
    if (variation_ < least_variation) { return x < mean_ ? 1.0 : 0.0; }
    return gamma_above(1.0 / variation_, x / (mean_ * variation_));
}

/// With the gamma's rate b and shape k, and the wait's rate t: where t < b
///
///     P(S > x) + e^(-t x) (b / (b - t))^k P(gamma of rate b - t <= x)
///
/// else e^(-t x) + the integral of P(S > x - y) t e^(-t y) dy over the wait y, taken over u = e^(-t y).
double ServiceTime::above_after_exponential(double wait, double x) const {
    constexpr double largest_exponent = 20.0;
    constexpr int panels = 16;
    double const t = 1.0 / wait;
    if (variation_ == 1.0) { return above_two_exponentials(1.0 / mean_, t, x); }
    if (variation_ < least_variation) { return x < mean_ ? 1.0 : std::exp(-t * (x - mean_)); }
    double const shape = 1.0 / variation_, b = shape / mean_;
    double const exponent = t < b ? -shape * std::log1p(-t / b) : largest_exponent;
    if (exponent < largest_exponent) {
        return above(x) + std::exp(exponent - t * x) * (1.0 - gamma_above(shape, (b - t) * x));
    }
    double const least = std::exp(-t * x);
    return least + integral([&](double u) { return above(x + std::log(u) * wait); }, least, 1.0, panels);
}

/// P(W > x) + the integral of P(S > x - y) f(y) dy for y up to x, over what holds all of f but 1e-12 or so. For a shape k
/// below 1 f has no bound at 0, and u = y^k takes its place.
double ServiceTime::above_after_gamma(ServiceTime const& wait, double x) const {
    constexpr int panels = 16;
    double const shape = 1.0 / wait.variation_, scale = wait.mean_ * wait.variation_;
    double const spread = wait.mean_ * std::sqrt(wait.variation_);
    double const low = shape > 1.0 ? std::max(0.0, wait.mean_ - 8.0 * spread) : 0.0;
    double const high = std::min(x, wait.mean_ + 40.0 * spread);
    if (low >= high) { return wait.above(x); }
    if (shape < 1.0) {
        double const norm = -std::lgamma(shape + 1.0);
        auto const part = [&](double u) {
            double const y = std::pow(u, 1.0 / shape); // in scales
            return above(x - y * scale) * std::exp(norm - y);
        };
        return wait.above(x) + integral(part, 0.0, std::pow(high / scale, shape), panels);
    }
    double const norm = -std::lgamma(shape) - std::log(scale);
    auto const part = [&](double y) {
        double const scaled = y / scale;
        return above(x - y) * std::exp((shape - 1.0) * std::log(scaled) - scaled + norm);
    };
    double const step = std::clamp(x - mean_, low, high); // where services that hardly vary end too late
    return wait.above(x) + integral(part, low, step, panels) + integral(part, step, high, panels);
}

double ServiceTime::above_after(ServiceTime const& wait, double x) const {
    if (wait.mean_ <= 0.0) { return above(x); }
    if (x <= 0.0) { return 1.0; }
    if (std::abs(wait.variation_ - 1.0) < 1e-6) { return above_after_exponential(wait.mean_, x); }
    if (wait.variation_ < least_variation) { return x < wait.mean_ ? 1.0 : above(x - wait.mean_); }
    return above_after_gamma(wait, x);
}

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

/// P(n arrive during one service), gamma of squared variation v: negative binomial, Poisson at v = 0.
std::vector<double> arrivals_in_service(double rho, double v, int count) {
    std::vector<double> chances(static_cast<std::size_t>(count));
    double const none = v > 0.0 ? -std::log1p(v * rho) / v : -rho;
    chances[0] = std::exp(none);
    for (std::size_t n = 1; n < chances.size(); ++n) {
        double const before = static_cast<double>(n - 1);
        chances[n] = chances[n - 1] * rho * (1.0 + v * before) / ((1.0 + v * rho) * (before + 1.0));
    }
    return chances;
}

/// M/G/1/K by the chain embedded at departures. Of the n that one leaves behind, as many go up from n as come down to
/// it:
///
///     pi(n+1) P(0 arrive) = pi(0) P(more than n arrive) + sum_{i=1..n} pi(i) P(more than n+1-i arrive)
///
/// All terms are above zero. Arrivals find p(n) = pi(n) / (pi(0) + rho), and no place with the remainder to one.
Shares embedded_chain(double rho, double v, int places) {
    auto const size = static_cast<std::size_t>(places);
    std::vector<double> const chances = arrivals_in_service(rho, v, places + 1);
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

/// A queue whose places are stated. Times are of those let in.
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
    int const waiting_places = *shape.places - shape.servers;
    bool const exact = exponential || (poisson && waiting_places == 0); // losses know services by their mean only
    Shares const shares =
        geometric_tail(rho, std::max(v, least_factor), erlang_b(offered, shape.servers), waiting_places);
    return answer_of(shares, load, shape.servers, exact ? QueueMethod::exact : QueueMethod::geometric_tail);
}

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

/// c^2 of the waits of M/G/1 that are not 0, by the moments of Takacs, for gamma services:
///
///     E[W^2] = 2 E[W]^2 + lambda E[S^3] / (3 (1 - rho)),   E[S^3] = (1 + v)(1 + 2 v) / mu^3
double wait_variation(double rho, double v) {
    if (!(rho > 0.0)) { return (1.0 + 2.0 * v) * 4.0 / (3.0 * (1.0 + v)) - 1.0; } // what is left of one service
    double const wait = rho / (1.0 - rho) * 0.5 * (1.0 + v);
    double const square = 2.0 * wait * wait + rho * (1.0 + v) * (1.0 + 2.0 * v) / (3.0 * (1.0 - rho));
    return rho * square / (wait * wait) - 1.0;
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
    if (poisson && shape.servers == 1) { answer.wait_variation = wait_variation(offered, load.service_variation); }
    answer.method = exact ? QueueMethod::exact : QueueMethod::allen_cunneen;
    return answer;
}

/// The least x at which a falling function is no more than `goal`: false position on its logarithm, which is nearly a line
/// in a tail, where the end that stays is weighed less each time; every third step halves, for functions that jump.
template <class F> double where_falls_to(F const& f, double goal, double guess) {
    constexpr double precise = 1e-10;
    constexpr double least = std::numeric_limits<double>::min();
    auto const off = [&](double x) { return std::log(std::max(f(x), least) / goal); };
    double low = 0.0, high = guess, at_low = off(low), at_high = off(high);
    while (at_high > 0.0) { low = high, at_low = at_high, high *= 2.0, at_high = off(high); }
    for (int step = 1; high - low > precise * high; ++step) {
        double const line = low + (high - low) * at_low / (at_low - at_high);
        bool const halve = step % 3 == 0 || !(line > low && line < high);
        double const x = halve ? 0.5 * (low + high) : line;
        if (!(low < x && x < high)) { break; }
        double const at = off(x);
        if (at > 0.0) {
            low = x, at_low = at, at_high *= 0.5;
        } else {
            high = x, at_high = at, at_low *= 0.5;
        }
    }
    return high;
}

void check_quantile(double q) {
    demand_share(q, "quantile", "give a share between 0 and 1, e.g. 0.99");
    if (q > 0.0 && q < 1.0) { return; }
    refuse("quantile", "not between 0 and 1", "no time is short or long enough", "give e.g. 0.99");
}

} // namespace

std::string_view name_of(QueueMethod method) {
    switch (method) {
    case QueueMethod::exact: return "exact";
    case QueueMethod::allen_cunneen: return "allen_cunneen";
    case QueueMethod::geometric_tail: return "geometric_tail";
    case QueueMethod::batches: return "batches";
    case QueueMethod::simulation: return "simulation";
    case QueueMethod::capacity: return "capacity";
    }
    return "";
}

QueueAnswer queue_answer(QueueLoad const& load, QueueShape const& shape) {
    queueing::check(load, shape);
    if (shape.places) {
        if (shape.batch > 1) {
            refuse("places", "stated for batches", "how many a batch holds besides has no closed form",
                   "leave out one of the two, or simulate");
        }
        return finite_queue(load, shape);
    }
    if (load.arrivals_per_second >= queueing::capacity(load, shape)) { return overloaded(load, shape); }
    return shape.batch > 1 ? batch_service(load, shape) : one_line(load, shape);
}

Seconds latency_quantile(QueueLoad const& load, QueueShape const& shape, double q) {
    check_quantile(q);
    QueueAnswer const answer = queue_answer(load, shape);
    if (!answer.stable) { return Seconds{never}; }
    double const waits = answer.wait_probability;
    double const mean_wait = waits > 0.0 ? answer.wait.base() / waits : 0.0;
    ServiceTime const wait{mean_wait, answer.wait_variation};
    ServiceTime const service{(answer.latency - answer.wait).base(), load.service_variation};
    auto const above = [&](double x) {
        return (1.0 - waits) * service.above(x) + waits * service.above_after(wait, x);
    };
    return Seconds{where_falls_to(above, 1.0 - q, answer.latency.base())};
}

} // namespace headroom::serving
