#include "queue_run.hpp"

#include <algorithm>
#include <limits>

namespace headroom::serving::queueing {

std::uint64_t seed_for(std::uint64_t seed, Purpose purpose) {
    return random_for(seed, static_cast<std::uint64_t>(purpose)).next();
}

std::uint32_t lines_of(QueueExperiment const& experiment) {
    return experiment.dispatch == Dispatch::shared_line ? 1U : static_cast<std::uint32_t>(experiment.shape.servers);
}

std::uint64_t places_of(QueueExperiment const& experiment) {
    return experiment.shape.places ? static_cast<std::uint64_t>(*experiment.shape.places)
                                   : std::numeric_limits<std::uint64_t>::max();
}

CounterRandom services_of(QueueExperiment const& experiment, std::uint32_t line) {
    return random_for(seed_for(experiment.seed, Purpose::service), line);
}

QueueRun::QueueRun(QueueExperiment const& experiment, std::uint32_t group, std::uint32_t groups)
    : growth_{experiment.shape.batch_growth},
      batch_{static_cast<std::uint32_t>(experiment.shape.batch)},
      places_{places_of(experiment)},
      service_{experiment.service, "service"},
      lines_((lines_of(experiment) - group + groups - 1) / groups),
      choice_{experiment.dispatch, lines_of(experiment), CounterRandom{seed_for(experiment.seed, Purpose::lines)}},
      meter_{experiment} {
    for (std::uint32_t i = 0; i < lines_.size(); ++i) {
        lines_[i].services = services_of(experiment, group + i * groups);
    }
    if (experiment.dispatch == Dispatch::shared_line) { lines_[0].free = experiment.shape.servers; }
}

double QueueRun::serve(Line& line, double now, std::uint32_t requests) {
    double const alone = service_.draw(line.services);
    return now + (requests == 1 ? alone : alone * (1.0 + growth_ * (requests - 1.0)));
}

void QueueRun::arrive(double now, std::uint32_t picked) {
    meter_.pass(now);
    meter_.event();
    if (present_ >= places_) { return meter_.blocked(now); }
    ++present_;
    choice_.come(picked);
    Line& line = lines_[picked];
    if (line.free == 0) {
        line.waiting.put(now);
        return meter_.wait(1);
    }
    --line.free;
    meter_.work(1);
    double const until = serve(line, now, 1);
    meter_.request(now, false, 0.0, until - now);
    events_.put(until, {picked, 1});
}

void QueueRun::pass(double until) {
    while (!events_.empty() && events_.next() <= until) { end(events_.next(), events_.first()); }
}

/// A server is free again: it takes those at the front of its line.
void QueueRun::end(double now, Done done) {
    meter_.pass(now);
    meter_.event();
    present_ -= done.requests;
    for (std::uint32_t i = 0; i < done.requests; ++i) { choice_.leave(done.line); }
    Line& line = lines_[done.line];
    if (line.waiting.empty()) {
        events_.take();
        ++line.free;
        return meter_.work(-1);
    }
    auto const taken = static_cast<std::uint32_t>(std::min<std::size_t>(line.waiting.size(), batch_));
    double const until = serve(line, now, taken);
    meter_.wait(-static_cast<int>(taken));
    for (std::uint32_t i = 0; i < taken; ++i) {
        double const since = line.waiting.take();
        meter_.request(since, true, now - since, until - since);
    }
    events_.replace_first(until, {done.line, taken});
}

} // namespace headroom::serving::queueing
