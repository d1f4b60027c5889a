#include "headroom/serving/queue_simulation.hpp"

#include "base/quantity/demand.hpp"
#include "batch_service.hpp"
#include "checks.hpp"
#include "queue_run.hpp"

#include "headroom/error.hpp"
#include "headroom/interrupt.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

namespace headroom::serving {

using namespace queueing;

namespace {

/// Requests of which a second copy goes to another line when no answer has come after a delay. The first answer counts. A
/// copy that waits when the other is answered (if tied: when the other's service begins) is withdrawn; one that is served
/// is served to its end.
class HedgedRun {
public:
    explicit HedgedRun(QueueExperiment const& experiment);
    void pass(double until);
    void arrive(double now);
    QueueMeter& meter() { return meter_; }

private:
    enum class Stage : std::uint8_t { unsent, waits, served, over };
    struct Copy {
        std::uint32_t line = 0;
        Stage stage = Stage::unsent;
    };
    struct Request {
        double arrival = 0.0, begun = 0.0;
        std::array<Copy, 2> copies;
        bool is_begun = false, is_answered = false;
        int holds = 0; ///< events and entries of lines that name it: it is forgotten with the last
    };
    struct Entry {
        std::uint32_t request, copy;
    };
    struct Event {
        enum Kind : std::uint32_t { served, second } kind;
        std::uint32_t of; ///< line, or request
    };
    struct Line {
        WaitingLine<Entry> waiting; ///< with those that were withdrawn
        std::vector<Entry> served;
        CounterRandom services{0};
    };

    std::uint32_t enter(double now);
    void send(double now, Entry entry, std::uint32_t line);
    void begin(double now, std::uint32_t line);
    void join(double now, Line& line, Entry entry);
    void end(double now, std::uint32_t line);
    void answer(double now, Entry entry);
    void withdraw(Entry entry);
    void second(double now, std::uint32_t request);
    void let_go(std::uint32_t request);

    double delay_, growth_;
    bool tied_;
    std::size_t batch_;
    std::uint64_t places_, present_ = 0;
    TimeSource service_;
    std::vector<Line> lines_;
    LineChoice choice_;
    std::vector<Request> requests_;
    std::vector<std::uint32_t> unused_;
    events::EventQueue<double, Event> events_;
    QueueMeter meter_;
};

HedgedRun::HedgedRun(QueueExperiment const& experiment)
    : delay_{experiment.hedge_after->base()},
      growth_{experiment.shape.batch_growth},
      tied_{experiment.tied},
      batch_{static_cast<std::size_t>(experiment.shape.batch)},
      places_{places_of(experiment)},
      service_{experiment.service, "service"},
      lines_(lines_of(experiment)),
      choice_{experiment.dispatch, lines_of(experiment), CounterRandom{seed_for(experiment.seed, Purpose::lines)}},
      meter_{experiment} {
    for (std::uint32_t i = 0; i < lines_.size(); ++i) { lines_[i].services = services_of(experiment, i); }
}

std::uint32_t HedgedRun::enter(double now) {
    if (unused_.empty()) {
        unused_.push_back(static_cast<std::uint32_t>(requests_.size()));
        requests_.emplace_back();
    }
    std::uint32_t const id = unused_.back();
    unused_.pop_back();
    requests_[id] = {.arrival = now, .copies = {}, .holds = 1}; // held by what sends the second copy
    return id;
}

void HedgedRun::let_go(std::uint32_t request) {
    if (--requests_[request].holds == 0) { unused_.push_back(request); }
}

void HedgedRun::arrive(double now) {
    meter_.pass(now);
    meter_.event();
    if (present_ >= places_) { return meter_.blocked(now); }
    ++present_;
    std::uint32_t const id = enter(now);
    send(now, {id, 0}, choice_.pick());
    events_.put(now + delay_, {Event::second, id});
}

void HedgedRun::send(double now, Entry entry, std::uint32_t line) {
    Request& request = requests_[entry.request];
    request.copies[entry.copy] = {line, Stage::waits};
    ++request.holds;
    choice_.come(line);
    meter_.wait(1);
    lines_[line].waiting.put(entry);
    if (lines_[line].served.empty()) {
        meter_.work(1);
        begin(now, line);
    }
}

/// The server takes those at the front of its line that still wait; where none does it is free.
void HedgedRun::begin(double now, std::uint32_t line) {
    Line& of = lines_[line];
    while (of.served.size() < batch_ && !of.waiting.empty()) {
        Entry const entry = of.waiting.take();
        if (requests_[entry.request].copies[entry.copy].stage == Stage::waits) {
            join(now, of, entry);
        } else {
            let_go(entry.request);
        }
    }
    if (of.served.empty()) { return meter_.work(-1); }
    double const others = static_cast<double>(of.served.size()) - 1.0;
    events_.put(now + service_.draw(of.services) * (1.0 + growth_ * others), {Event::served, line});
}

void HedgedRun::join(double now, Line& line, Entry entry) {
    Request& request = requests_[entry.request];
    request.copies[entry.copy].stage = Stage::served;
    meter_.wait(-1);
    line.served.push_back(entry);
    if (request.is_begun) { return; }
    request.is_begun = true;
    request.begun = now;
    if (tied_) { withdraw({entry.request, 1 - entry.copy}); }
}

/// Its entry stays in the line, and is passed over.
void HedgedRun::withdraw(Entry entry) {
    Copy& copy = requests_[entry.request].copies[entry.copy];
    if (copy.stage != Stage::waits) { return; }
    copy.stage = Stage::over;
    meter_.wait(-1);
    choice_.leave(copy.line);
}

void HedgedRun::pass(double until) {
    while (!events_.empty() && events_.next() <= until) {
        double const now = events_.next();
        meter_.pass(now);
        meter_.event();
        Event const event = events_.take();
        event.kind == Event::served ? end(now, event.of) : second(now, event.of);
    }
}

void HedgedRun::end(double now, std::uint32_t line) {
    for (Entry const& entry : lines_[line].served) {
        choice_.leave(line);
        answer(now, entry);
        let_go(entry.request);
    }
    lines_[line].served.clear();
    begin(now, line);
}

void HedgedRun::answer(double now, Entry entry) {
    Request& request = requests_[entry.request];
    request.copies[entry.copy].stage = Stage::over;
    if (request.is_answered) { return; }
    request.is_answered = true;
    --present_;
    double const wait = request.begun - request.arrival;
    meter_.request(request.arrival, wait > 0.0, wait, now - request.arrival);
    withdraw({entry.request, 1 - entry.copy});
}

/// A tied request whose service has begun needs no second copy.
void HedgedRun::second(double now, std::uint32_t id) {
    Request const& request = requests_[id];
    if (!request.is_answered && !(tied_ && request.is_begun)) {
        meter_.hedged(request.arrival);
        send(now, {id, 1}, choice_.pick_other(request.copies[0].line));
    }
    let_go(id);
}

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
    check(load, experiment.shape);
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
    if (lines_of(experiment) > most_lines) {
        refuse("servers", "more than 10^7 lines of their own", "", "let them share one, or simulate fewer");
    }
    if (!experiment.hedge_after) { return; }
    demand_amount(experiment.hedge_after->base(), "hedge", "give the delay before the second copy, 0 or more");
    if (lines_of(experiment) < 2) {
        refuse("hedge", "no other line", "a second copy goes to another line than the first",
               "give two servers with lines of their own");
    }
}

/// When requests come.
class Arrivals {
public:
    explicit Arrivals(QueueExperiment const& experiment)
        : gaps_{experiment.gaps, "gaps"},
          random_{seed_for(experiment.seed, Purpose::gaps)},
          end_{experiment.warm_up.base() + experiment.duration.base()},
          next_{gaps_.draw(random_)} {}
    [[nodiscard]] bool has_next() const { return next_ < end_; }
    double take() {
        double const now = next_;
        next_ += gaps_.draw(random_);
        return now;
    }

private:
    TimeSource gaps_;
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
    std::uint32_t const lines = lines_of(experiment), groups = std::min(lines, most_groups);
    Arrivals arrivals{experiment};
    LineChoice choice{experiment.dispatch, lines, CounterRandom{seed_for(experiment.seed, Purpose::lines)}};
    std::vector<std::unique_ptr<QueueRun>> runs;
    for (std::uint32_t group = 0; group < groups; ++group) {
        runs.push_back(std::make_unique<QueueRun>(experiment, group, groups));
    }
    std::vector<std::vector<Arrival>> taken(groups);
    auto const work = [&](int group) {
        QueueRun& run = *runs[static_cast<std::size_t>(group)];
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
    if (experiment.hedge_after) { return simulated<HedgedRun>(experiment); }
    return simulated<QueueRun>(experiment);
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

SimulatedQuantile simulated_quantile(SimulatedQueue const& run, double q) {
    if (!(q > 0.0 && q < 1.0)) { refuse("quantile", "not between 0 and 1", "", "give e.g. 0.99"); }
    SimulatedQuantile quantile{.value = run.latency.quantile(q), .low = {}, .high = {}};
    double const up_to = LatencyHistogram::cell_of(quantile.value).high;
    std::vector<BatchSum> shares;
    for (LatencyHistogram const& batch : run.batches) {
        auto const count = static_cast<double>(batch.count());
        shares.push_back({count > 0.0 ? count - batch.share_above(up_to) * count : 0.0, count});
    }
    SimulatedMean const share = batch_mean(shares);
    double const half = 0.5 * (share.high - share.low), least = 1.0 / static_cast<double>(run.latency.count());
    if (q - half >= least) { quantile.low = run.latency.quantile(q - half); }
    if (q + half <= 1.0 - least) { quantile.high = run.latency.quantile(q + half); }
    return quantile;
}

} // namespace headroom::serving
