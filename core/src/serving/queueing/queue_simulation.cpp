#include "headroom/serving/queue_simulation.hpp"

#include "base/quantity/demand.hpp"
#include "batch_service.hpp"
#include "checks.hpp"
#include "hedged_run.hpp"
#include "queue_run.hpp"

#include "headroom/error.hpp"
#include "headroom/interrupt.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

namespace headroom::serving {
namespace {

constexpr double most_requests = 1e10, most_waiting = 1e8;
constexpr std::uint32_t most_lines = 10'000'000;
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
    if (queueing::lines_of(experiment) > most_lines) {
        refuse("servers", "more than 10^7 lines of their own", "", "let them share one, or simulate fewer");
    }
    if (!experiment.hedge_after) { return; }
    demand_amount(experiment.hedge_after->base(), "hedge", "give the delay before the second copy, 0 or more");
    if (queueing::lines_of(experiment) < 2) {
        refuse("hedge", "no other line", "a second copy goes to another line than the first",
               "give two servers with lines of their own");
    }
}

/// When requests come.
class Arrivals {
public:
    explicit Arrivals(QueueExperiment const& experiment)
        : gaps_{experiment.gaps, "gaps"},
          random_{seed_for(experiment.seed, queueing::Purpose::gaps)},
          end_{experiment.warm_up.base() + experiment.duration.base()},
          next_{gaps_.draw(random_)} {}
    [[nodiscard]] bool has_next() const { return next_ < end_; }
    double take() {
        double const now = next_;
        next_ += gaps_.draw(random_);
        return now;
    }

private:
    queueing::TimeSource gaps_;
    CounterRandom random_;
    double end_, next_;
};

constexpr double never = std::numeric_limits<double>::infinity();

template <class Run> SimulatedQueue simulated(QueueExperiment const& experiment) {
    Arrivals arrivals{experiment};
    Run run{experiment};
    constexpr std::uint64_t between_looks = 4096;
    for (std::uint64_t count = 0; arrivals.has_next(); ++count) {
        if (count % between_looks == 0) { keep_on(experiment.stop); }
        double const now = arrivals.take();
        run.pass(now);
        run.arrive(now);
    }
    run.pass(never);
    run.meter().finish();
    return run.meter().result(experiment.shape.servers);
}

/// Whether lines know nothing of each other.
bool lines_are_apart(QueueExperiment const& experiment) {
    bool const blind = experiment.dispatch == Dispatch::random || experiment.dispatch == Dispatch::round_robin;
    return blind && !experiment.hedge_after && !experiment.shape.places;
}

/// Lines in groups side by side, which take arrivals by the thousand. As many groups whoever works on them, so that sums
/// are the same; and queues of a few lines each are faster than one of all.
SimulatedQueue simulated_apart(QueueExperiment const& experiment, Executor const& executor) {
    constexpr std::uint32_t most_groups = 8;
    constexpr std::size_t at_once = 65'536;
    struct Arrival {
        double at;
        std::uint32_t line;
    };
    std::uint32_t const lines = queueing::lines_of(experiment), groups = std::min(lines, most_groups);
    Arrivals arrivals{experiment};
    queueing::LineChoice choice{experiment.dispatch, lines,
                                CounterRandom{seed_for(experiment.seed, queueing::Purpose::lines)}};
    std::vector<std::unique_ptr<queueing::QueueRun>> runs;
    for (std::uint32_t group = 0; group < groups; ++group) {
        runs.push_back(std::make_unique<queueing::QueueRun>(experiment, group, groups));
    }
    std::vector<std::vector<Arrival>> taken(groups);
    auto const work = [&](int group) {
        queueing::QueueRun& run = *runs[static_cast<std::size_t>(group)];
        for (Arrival const& arrival : taken[static_cast<std::size_t>(group)]) {
            run.pass(arrival.at);
            run.arrive(arrival.at, arrival.line);
        }
        if (arrivals.has_next()) { return; }
        run.pass(never);
        run.meter().finish();
    };
    do {
        keep_on(experiment.stop);
        for (auto& of_group : taken) { of_group.clear(); }
        for (std::size_t i = 0; i < at_once && arrivals.has_next(); ++i) {
            std::uint32_t const line = choice.pick();
            taken[line % groups].push_back({arrivals.take(), line / groups});
        }
        run_each(executor, static_cast<int>(groups), work);
    } while (arrivals.has_next());
    for (std::uint32_t group = 1; group < groups; ++group) { runs[0]->meter().add(runs[group]->meter()); }
    return runs[0]->meter().result(experiment.shape.servers);
}

SimulatedQueue simulated_by(QueueExperiment const& experiment, Executor const& executor) {
    if (lines_are_apart(experiment)) { return simulated_apart(experiment, executor); }
    if (experiment.hedge_after) { return simulated<queueing::HedgedRun>(experiment); }
    return simulated<queueing::QueueRun>(experiment);
}

} // namespace

std::string_view name_of(Dispatch dispatch) {
    switch (dispatch) {
    case Dispatch::shared_line: return "shared-line";
    case Dispatch::random: return "random";
    case Dispatch::round_robin: return "round-robin";
    case Dispatch::two_choices: return "two-choices";
    case Dispatch::shortest_line: return "shortest-line";
    }
    return "";
}

SimulatedQueue simulate_queue(QueueExperiment const& experiment, Executor const& executor) {
    QueueLoad const load = load_of(experiment);
    double const capacity = queueing::capacity(load, experiment.shape);
    check(experiment, load, capacity);
    SimulatedQueue result = simulated_by(experiment, executor);
    result.stable = experiment.shape.places.has_value() || load.arrivals_per_second < capacity;
    return result;
}

} // namespace headroom::serving
