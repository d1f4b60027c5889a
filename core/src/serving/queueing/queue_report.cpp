#include "queue_rows.hpp"

#include "headroom/error.hpp"
#include "headroom/interrupt.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::serving {
namespace {

constexpr double row_requests = 1e5, answer_requests = 1e6; ///< simulated, where there is no closed form
constexpr std::array utilizations{0.05, 0.1, 0.2,  0.3, 0.4,   0.5,  0.6,  0.7,
                                  0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.97, 0.98};
constexpr std::array beyond_capacity{1.0, 1.1, 1.25, 1.5, 2.0}; ///< shown where requests can be turned away
constexpr std::array pooled{1, 2, 4, 8, 16, 32, 64};

double capacity_of(QueueQuestion const& question, int replicas) {
    return replicas * capacity_of_server(question.queue.load, question.queue.shape);
}

/// Whether a queue whose requests take that long at most, but for the share that may be late, keeps the objective.
bool keeps(QueueAnswer const& answer, Seconds late, LatencyObjective const& objective) {
    return answer.stable && answer.blocked <= objective.blocked && late <= objective.latency;
}

QueueRow unstable_row(ServedQueue const& queue, double capacity) {
    QueueRow row;
    Seconds const never{std::numeric_limits<double>::infinity()};
    row.answer = {.stable = false,
                  .utilization = queue.load.arrivals_per_second / capacity,
                  .wait_probability = 1.0,
                  .throughput_per_second = capacity,
                  .wait = never,
                  .latency = never,
                  .waiting = never.base(),
                  .present = never.base(),
                  .method = QueueMethod::capacity};
    row.quantiles.fill(never);
    return row;
}

QueueRow closed_row(ServedQueue const& queue, QueueAnswer const& answer) {
    QueueRow row;
    row.answer = answer;
    for (std::size_t i = 0; i < queue_quantiles.size(); ++i) {
        Seconds const before = i > 0 ? row.quantiles[i - 1] : Seconds{}; // each is found within its own rounding
        row.quantiles[i] = std::max(before, *quantile_of(queue, queue_quantiles[i]));
    }
    return row;
}

QueueRow row_with(QueueQuestion const& question, int replicas, double arrivals, double requests) {
    ServedQueue const queue = queue_with(question, replicas, arrivals);
    double const capacity = capacity_of(question, replicas);
    double const q = question.objective ? question.objective->q : 0.99;
    QueueRow row;
    Seconds late;
    if (auto const answer = near_answer(queue)) {
        row = closed_row(queue, *answer);
        late = *quantile_of(queue, q);
    } else if (arrivals >= capacity) {
        row = unstable_row(queue, capacity);
    } else {
        SimulationReport const simulation = simulate_report(queue, {}, {}, question.seed, requests);
        row = row_of(simulation, queue);
        late = Seconds{simulation.run.latency.quantile(q)};
    }
    row.replicas = replicas;
    row.arrivals_per_second = arrivals;
    row.capacity_per_second = capacity;
    if (question.objective) { row.keeps = keeps(row.answer, late, *question.objective); }
    if (question.price) { row.cost = *question.price * replicas; }
    return row;
}

// ---- the load -----------------------------------------------------------------------------------------------------

void add_curve(QueueReport& report, int replicas) {
    QueueQuestion const& question = report.question;
    double const capacity = capacity_of(question, replicas);
    for (double const share : utilizations) { report.curve.push_back(queue_row(question, replicas, share * capacity)); }
    if (question.queue.shape.places) {
        for (double const share : beyond_capacity) {
            report.curve.push_back(queue_row(question, replicas, share * capacity));
        }
    }
}

double power_of(QueueRow const& row) { return row.answer.throughput_per_second / row.answer.latency.base(); }

/// Where power is greatest: by closed form of one line, else among the points of the curve.
void add_knee(QueueReport& report, int replicas) {
    QueueQuestion const& question = report.question;
    ServedQueue const queue = queue_with(question, replicas, question.queue.load.arrivals_per_second);
    if (auto const line = load_of_line(queue.load, replicas, queue.dispatch)) {
        QueueShape shape = queue.shape;
        if (queue.dispatch != Dispatch::shared_line) { shape.servers = 1; }
        double const arrivals = knee(*line, shape).arrivals_per_second * replicas / shape.servers;
        report.knee = queue_row(question, replicas, arrivals);
        return;
    }
    report.knee = *std::ranges::max_element(report.curve, {}, power_of);
}

void add_doubling(QueueReport& report) {
    QueueQuestion question = report.question;
    QueueRow const& now = report.answer;
    double const arrivals = now.arrivals_per_second;
    if (now.replicas > 500'000) { return; }
    if (question.queue.shape.places) { question.queue.shape.places = 2 * *question.queue.shape.places; }
    QueueDoubling doubling{.now = now,
                           .same = queue_row(question, 2 * now.replicas, arrivals),
                           .twice_traffic = queue_row(question, 2 * now.replicas, 2.0 * arrivals),
                           .service_mean = question.queue.load.service,
                           .service_p99 = service_quantile(question, 0.99)};
    if (question.queue.dispatch == Dispatch::shared_line) { // the other way: two lines, each before half of them
        question.queue.load.arrival_variation = 1.0 + (question.queue.load.arrival_variation - 1.0) / 2.0;
        question.queue.shape.places = report.question.queue.shape.places;
        doubling.two_lines = queue_row(question, now.replicas, arrivals / 2.0);
    } else {
        question.queue.dispatch = Dispatch::shared_line;
        doubling.one_line = queue_row(question, 2 * now.replicas, arrivals);
    }
    report.doubling = doubling;
}

/// Adds rows of more and more replicas at the present utilization, all behind one line.
void add_pooling(QueueReport& report) {
    QueueQuestion const& question = report.question;
    QueueRow const& answer = report.answer;
    QueueShape const& shape = question.queue.shape;
    bool const plain = question.queue.dispatch == Dispatch::shared_line && !shape.places && shape.batch == 1;
    if (!plain || !answer.answer.stable) { return; }
    double const each = answer.arrivals_per_second / answer.replicas;
    for (int const count : pooled) { report.pooling.push_back(queue_row(question, count, each * count)); }
}

void add_scale(QueueReport& report) {
    QueueQuestion const& question = report.question;
    if (!question.factor) { return; }
    ServedQueue const queue = queue_with(question, report.answer.replicas, question.queue.load.arrivals_per_second);
    double const more = *question.factor * queue.shape.servers;
    if (more != std::floor(more)) {
        refuse("--scale-up",
               format_base(*question.factor, {}, 3) + "x of " + std::to_string(queue.shape.servers) + " replicas is " +
                   format_base(more, {}, 3) + " of them",
               "what the same money buys is a whole number", "give another factor, or another --replicas");
    }
    if (!load_of_line(queue.load, queue.shape.servers, queue.dispatch)) {
        refuse("--scale-up", "has no closed form of --dispatch " + std::string{name_of(queue.dispatch)}, "",
               "leave --dispatch out: lines shared and at random are both shown");
    }
    report.scale = scale_choices(queue, *question.factor);
    bool const plain = queue.dispatch == Dispatch::shared_line && !queue.shape.places && queue.shape.batch == 1;
    if (plain) { report.more_win_above = variation_where_more_win(queue.load, queue.shape.servers, *question.factor); }
}

void add_simulation(QueueReport& report) {
    QueueQuestion const& question = report.question;
    QueueRow const& answer = report.answer;
    ServedQueue const queue = queue_with(question, answer.replicas, question.queue.load.arrivals_per_second);
    if (!answer.answer.stable) { return; }
    // an approximation is never printed without the simulated value
    QueueMethod const method = answer.answer.method;
    if (question.simulate || (method != QueueMethod::exact && method != QueueMethod::simulation)) {
        report.simulation = simulate_report(queue, question.duration, {}, question.seed, answer_requests);
        if (method != QueueMethod::simulation) { compare_with(*report.simulation, answer); }
    }
    if (question.hedge) {
        if (queue.shape.servers < 2) {
            refuse("--hedge", "needs a second replica", "a second copy goes to another", "give --replicas 2 or more");
        }
        HedgingReport hedging{
            .delay = *question.hedge,
            .with = simulate_report(queue, question.duration, question.hedge, question.seed, answer_requests),
            .without = simulate_report(queue, question.duration, {}, question.seed, answer_requests)};
        hedging.copies = static_cast<double>(hedging.with.run.hedged) / static_cast<double>(hedging.with.run.requests);
        report.hedging = std::move(hedging);
    }
}

} // namespace

std::optional<QueueAnswer> near_answer(ServedQueue const& queue) {
    auto const answer = answer_of(queue);
    bool const by_mean_batch = answer && answer->stable && answer->method == QueueMethod::batches;
    // Erlang's losses hold for Poisson arrivals only: others turn away several times as many, or hardly any
    bool const by_wrong_losses = answer && answer->method == QueueMethod::geometric_tail &&
                                 queue.dispatch == Dispatch::shared_line && queue.load.arrival_variation != 1.0;
    return by_mean_batch || by_wrong_losses ? std::nullopt : answer;
}

ServedQueue queue_with(QueueQuestion const& question, int replicas, double arrivals_per_second) {
    ServedQueue queue = question.queue;
    queue.load.arrivals_per_second = arrivals_per_second;
    queue.shape.servers = replicas;
    queue.service = question.samples ? &question.samples->values : nullptr;
    return queue;
}

QueueRow queue_row(QueueQuestion const& question, int replicas, double arrivals_per_second) {
    return row_with(question, replicas, arrivals_per_second, row_requests);
}

Seconds service_quantile(QueueQuestion const& question, double q) {
    ServedQueue idle = queue_with(question, 1, 0.0);
    idle.dispatch = Dispatch::shared_line;
    return *quantile_of(idle, q);
}

QueueReport queue_report(QueueQuestion question) {
    QueueReport report;
    question.queue.service = question.samples ? &question.samples->values : nullptr;
    report.question = std::move(question);
    report.assumptions = report.question.assumptions;
    QueueQuestion const& asked = report.question;
    double const arrivals = asked.queue.load.arrivals_per_second;
    if (asked.objective) { report.fewest = fewest_replicas(asked, *asked.objective); }
    LatencyObjective const floor{.q = 0.99, .latency = service_quantile(asked, 0.99) * near_the_floor, .blocked = 0.01};
    report.enough = fewest_replicas(asked, floor);
    int const answered = answered_replicas(report);
    report.answer = row_with(asked, answered, arrivals, answer_requests);
    try {
        for (int const count : listed_replicas(report, answered)) {
            report.rows.push_back(count == answered ? report.answer : queue_row(asked, count, arrivals));
        }
        add_curve(report, answered);
        add_knee(report, answered);
        add_doubling(report);
        add_pooling(report);
        add_scale(report);
        add_simulation(report);
    } catch (Interrupted const&) { report.complete = false; }
    return report;
}

} // namespace headroom::serving
