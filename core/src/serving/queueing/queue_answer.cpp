#include "base/quantity/demand.hpp"
#include "batch_service.hpp"
#include "checks.hpp"
#include "finite_queue.hpp"
#include "service_time.hpp"
#include "single_server_tail.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/queue.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::serving {
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
        return queueing::finite_queue(load, shape);
    }
    if (load.arrivals_per_second >= queueing::capacity(load, shape)) { return overloaded(load, shape); }
    return shape.batch > 1 ? queueing::batch_service(load, shape) : one_line(load, shape);
}

Seconds latency_quantile(QueueLoad const& load, QueueShape const& shape, double q) {
    check_quantile(q);
    QueueAnswer const answer = queue_answer(load, shape);
    if (!answer.stable) { return Seconds{never}; }
    if (load.service_variation != 1.0 && queueing::is_single_server(load, shape)) {
        return queueing::single_server_quantile(answer.utilization,
                                                queueing::tail_of(load.service.base(), load.service_variation), q,
                                                answer.latency.base() * -std::log1p(-q));
    }
    double const waits = answer.wait_probability;
    double const mean_wait = waits > 0.0 ? answer.wait.base() / waits : 0.0;
    queueing::ServiceTime const wait{mean_wait, answer.wait_variation};
    queueing::ServiceTime const service{(answer.latency - answer.wait).base(), load.service_variation};
    auto const above = [&](double x) {
        return (1.0 - waits) * service.above(x) + waits * service.above_after(wait, x);
    };
    return Seconds{where_falls_to(above, 1.0 - q, answer.latency.base())};
}

} // namespace headroom::serving
