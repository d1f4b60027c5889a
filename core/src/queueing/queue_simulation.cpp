#include "headroom/queue_simulation.hpp"

#include "quantity/demand.hpp"
#include "queueing/batch_service.hpp"
#include "queueing/checks.hpp"
#include "queueing/hedged_run.hpp"
#include "queueing/queue_run.hpp"

#include <cmath>

namespace headroom {
namespace {

using queueing::refuse;

constexpr double most_requests = 1e10, most_waiting = 1e8;
constexpr int least_batches = 8, most_batches = 1'000'000;

double squared_variation(DrawnTimes const& times) {
    if (times.samples == nullptr || times.samples->empty()) { return times.variation; }
    double const mean = times.samples->mean();
    return mean > 0.0 ? times.samples->variance() / (mean * mean) : 0.0;
}

/// Mean load of the experiment, checked.
QueueLoad load_of(QueueExperiment const& experiment) {
    demand_size(experiment.gaps.mean.base(), "gaps", "give the mean time between two arrivals");
    QueueLoad const load{.arrivals_per_second = 1.0 / experiment.gaps.mean.base(),
                         .arrival_variation = squared_variation(experiment.gaps),
                         .service = experiment.service.mean,
                         .service_variation = squared_variation(experiment.service)};
    queueing::check(load, experiment.shape);
    return load;
}

void check(QueueExperiment const& experiment, QueueLoad const& load, double capacity) {
    demand_size(experiment.duration.base(), "duration", "give how long requests are counted, e.g. 1 h");
    demand_amount(experiment.warm_up.base(), "warm-up", "give 0 or more");
    double const seconds = experiment.duration.base() + experiment.warm_up.base();
    if (!(load.arrivals_per_second * seconds <= most_requests)) {
        refuse("duration", "more than 10^10 requests", "", "simulate a shorter time");
    }
    if (!experiment.shape.places && (load.arrivals_per_second - capacity) * seconds > most_waiting) {
        refuse("arrivals", "more than servers can serve", "the line would grow beyond 10^8 requests",
               "simulate a shorter time, or state places");
    }
    if (experiment.batches < least_batches || experiment.batches > most_batches) {
        refuse("batches", "outside 8 to 10^6", "an interval needs several, and each some requests", "give e.g. 32");
    }
    if (!experiment.hedge_after) { return; }
    demand_amount(experiment.hedge_after->base(), "hedge", "give the delay before the second copy, 0 or more");
    if (queueing::lines_of(experiment) < 2) {
        refuse("hedge", "no other line", "a second copy goes to another line than the first",
               "give two servers with lines of their own");
    }
}

template <class Run> SimulatedQueue simulated(QueueExperiment const& experiment) {
    queueing::TimeSource gaps{experiment.gaps, "gaps", seed_for(experiment.seed, queueing::Purpose::gaps)};
    Run run{experiment};
    std::uint64_t const events = queueing::drive(run, gaps, experiment.warm_up.base() + experiment.duration.base());
    return run.result(events);
}

} // namespace

std::string_view name_of(Dispatch dispatch) {
    switch (dispatch) {
    case Dispatch::shared_line: return "shared line";
    case Dispatch::random: return "random";
    case Dispatch::round_robin: return "round robin";
    case Dispatch::two_choices: return "two choices";
    case Dispatch::shortest_line: return "shortest line";
    }
    return "";
}

SimulatedQueue simulate_queue(QueueExperiment const& experiment) {
    QueueLoad const load = load_of(experiment);
    double const capacity = queueing::capacity(load, experiment.shape);
    check(experiment, load, capacity);
    SimulatedQueue result =
        experiment.hedge_after ? simulated<queueing::HedgedRun>(experiment) : simulated<queueing::QueueRun>(experiment);
    result.stable = experiment.shape.places.has_value() || load.arrivals_per_second < capacity;
    return result;
}

} // namespace headroom
