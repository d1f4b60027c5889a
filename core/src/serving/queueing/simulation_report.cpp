#include "queue_rows.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::serving {
namespace {

constexpr double most_requests = 1e9;
constexpr double longest_default = 1e7; ///< requests, however slowly the queue forgets
constexpr double warm_share = 0.1;
constexpr double memories = 160.0; ///< of the queue, in a run: five in each of 32 parts
constexpr double near = 0.02;      ///< a difference that nobody acts on
constexpr double none_seen = 3.7;  ///< expected events of which none is seen once in 40 times

/// Time in which a queue forgets how full it was, seconds: s v / (c (1 - sqrt rho)^2), as with exponential times.
double memory_seconds(ServedQueue const& queue) {
    double const capacity = queue.shape.servers * capacity_of_server(queue.load, queue.shape);
    double const rho = std::min(queue.load.arrivals_per_second / capacity, 1.0);
    double const gap = 1.0 - std::sqrt(rho);
    double const variation = std::max(1.0, (queue.load.arrival_variation + queue.load.service_variation) / 2.0);
    double const lines = queue.dispatch == Dispatch::shared_line ? 1.0 : queue.shape.servers;
    double const room = queue.shape.places ? *queue.shape.places * variation / capacity : 1e300; // all are new by then
    return std::min(room, variation * lines / (capacity * std::max(gap * gap, 1e-9)));
}

Seconds duration_for(ServedQueue const& queue, double requests) {
    double const rate = queue.load.arrivals_per_second;
    double const wanted = std::max(requests, memories * memory_seconds(queue) * rate);
    return Seconds{std::clamp(wanted, requests, std::max(requests, longest_default)) / rate};
}

void check_length(ServedQueue const& queue, Seconds duration) {
    double const requests = queue.load.arrivals_per_second * duration.base();
    auto const refuse = [&](char const* why, char const* hint) {
        headroom::refuse("--simulate", format_count(requests) + " requests in " + format(duration), why, hint);
    };
    if (requests > most_requests) { refuse("at most 10^9 are simulated", "give a shorter time"); }
    if (requests < 1000.0) { refuse("fewer than 1000 say little", "give a longer time"); }
}

ComparedMean compared(std::string quantity, std::string unit, double closed_form, SimulatedMean const& simulated) {
    ComparedMean mean{std::move(quantity), std::move(unit), closed_form, simulated};
    double const off = std::abs(closed_form - simulated.value);
    double const half = 0.5 * (simulated.high - simulated.low);
    mean.agrees = off <= 2.0 * half || off <= near * std::abs(simulated.value) || off < 1e-12;
    return mean;
}

/// Requests that a server takes at once, from how busy it is: c U = lambda s (1 + g (b - 1)) / b. Where each further
/// request takes as long as the first (g = 1), batches are as good as none: 1.
double mean_batch(ServedQueue const& queue, double served_per_second, double utilization) {
    QueueShape const& shape = queue.shape;
    if (shape.batch == 1 || shape.batch_growth >= 1.0) { return 1.0; }
    double const alone = served_per_second * queue.load.service.base(); // servers at work without batches
    double const grows = alone * shape.batch_growth;
    return std::clamp((alone - grows) / (shape.servers * utilization - grows), 1.0, static_cast<double>(shape.batch));
}

} // namespace

SimulationReport simulate_report(ServedQueue const& queue, std::optional<Seconds> duration,
                                 std::optional<Seconds> hedge, std::uint64_t seed, double requests) {
    SimulationReport report;
    report.duration = duration.value_or(duration_for(queue, requests));
    if (duration) { check_length(queue, report.duration); }
    report.warm_up = report.duration * warm_share;
    Seconds const gap{1.0 / queue.load.arrivals_per_second};
    report.run = simulate_queue(
        {.gaps = {.mean = gap, .variation = queue.load.arrival_variation},
         .service = {.mean = queue.load.service, .variation = queue.load.service_variation, .samples = queue.service},
         .shape = queue.shape,
         .dispatch = queue.dispatch,
         .hedge_after = hedge,
         .duration = report.duration,
         .warm_up = report.warm_up,
         .seed = seed,
         .stop = queue.stop});
    for (std::size_t i = 0; i < queue_quantiles.size(); ++i) {
        SimulatedQuantile const found = simulated_quantile(report.run, queue_quantiles[i]);
        report.intervals.push_back({queue_quantiles[i], found.low, found.high});
        report.quantiles[i] = Seconds{found.value};
    }
    Seconds const memory{memory_seconds(queue)};
    if (memories / 5.0 * memory > report.duration) { report.memory = memory; }
    return report;
}

void compare_with(SimulationReport& simulation, QueueRow const& closed_form) {
    QueueAnswer const& answer = closed_form.answer;
    SimulatedQueue const& run = simulation.run;
    double const asked = static_cast<double>(run.requests + run.blocked);
    SimulatedMean waits = run.wait_probability;
    bool const none_waits = waits.value == 0.0;
    if (none_waits) { waits.high = none_seen / asked; }
    simulation.compared = {compared("utilization", "1", answer.utilization, run.utilization),
                           compared("wait_probability", "1", answer.wait_probability, waits),
                           compared("wait", "seconds", answer.wait.base(), run.wait_seconds),
                           compared("latency", "seconds", answer.latency.base(), run.latency_seconds),
                           compared("waiting", "requests", answer.waiting, run.waiting)};
    if (none_waits) { // the waits of nobody have no mean
        simulation.compared[2].agrees = simulation.compared[4].agrees = simulation.compared[1].agrees;
    }
    if (answer.blocked > 0.0 || run.blocked > 0) {
        SimulatedMean share = run.blocked_share;
        if (run.blocked == 0) { share.high = none_seen / asked; }
        simulation.compared.push_back(compared("blocked", "1", answer.blocked, share));
    }
    simulation.agrees = std::ranges::all_of(simulation.compared, &ComparedMean::agrees);
}

QueueRow row_of(SimulationReport const& simulation, ServedQueue const& queue) {
    SimulatedQueue const& run = simulation.run;
    QueueRow row;
    double const blocked = run.blocked_share.value;
    double const let_in = queue.load.arrivals_per_second * (1.0 - blocked);
    row.answer = {.stable = true,
                  .utilization = run.utilization.value,
                  .wait_probability = run.wait_probability.value,
                  .blocked = blocked,
                  .throughput_per_second = let_in,
                  .wait = Seconds{run.wait_seconds.value},
                  .latency = Seconds{run.latency_seconds.value},
                  .waiting = run.waiting.value,
                  .present = let_in * run.latency_seconds.value,
                  .batch = mean_batch(queue, let_in, run.utilization.value),
                  .method = QueueMethod::simulation};
    row.quantiles = simulation.quantiles;
    return row;
}

} // namespace headroom::serving
