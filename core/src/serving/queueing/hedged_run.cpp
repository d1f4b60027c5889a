#include "hedged_run.hpp"

namespace headroom::serving::queueing {

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

} // namespace headroom::serving::queueing
