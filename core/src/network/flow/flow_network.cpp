#include "flow_network.hpp"

#include "../ticks.hpp"
#include "base/events/moments.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace headroom::network {
namespace flow {
namespace {

[[noreturn]] void refuse_network(std::string problem, std::string why, std::string hint) {
    headroom::refuse("simulation", std::move(problem), std::move(why), std::move(hint));
}

} // namespace

void FlowNetwork::check(PlacedSchedule const& placed) const {
    if (placed.schedule->participants() > std::ssize(placed.endpoints)) {
        refuse_network("a schedule has more participants than endpoints",
                       "switches that add are no endpoints of a network", "take an algorithm without them");
    }
    std::vector<bool> taken(static_cast<std::size_t>(topology_.endpoints()));
    for (int const endpoint : placed.endpoints) {
        if (endpoint < 0 || endpoint >= topology_.endpoints()) {
            refuse_network("there is no endpoint " + std::to_string(endpoint),
                           "the network has " + std::to_string(topology_.endpoints()), "ask for a larger network");
        }
        if (taken[static_cast<std::size_t>(endpoint)]) {
            refuse_network("endpoint " + std::to_string(endpoint) + " is twice in a group", "", "name each once");
        }
        taken[static_cast<std::size_t>(endpoint)] = true;
    }
}

void FlowNetwork::push(Ticks time, Kind kind, std::uint32_t of, std::uint32_t about) {
    events_.put(time, {.kind = kind, .of = of, .about = about});
}

/// Never before now: rounding may have put the end of what is under way a picosecond back.
Ticks FlowNetwork::later(Ticks base, double seconds) const {
    return std::max(checked_sum(base + ticks_of(seconds)), now_);
}

SimulatedFlows FlowNetwork::run(std::span<PlacedSchedule const> schedules, std::stop_token const& stop) {
    schedules_ = schedules;
    turns_.clear();
    result_ = {};
    result_.finished.assign(schedules.size(), 0);
    carried_.assign(topology_.links().size(), 0.0);
    for (std::uint32_t i = 0; i < schedules.size(); ++i) {
        check(schedules[i]);
        turns_.push_back(std::make_unique<Turns>(*schedules[i].schedule, *schedules[i].layout));
        result_.finished[i] = ticks_of(schedules[i].start.base());
        push(result_.finished[i], Kind::begins, i);
    }
    now_ = events_.empty() ? 0 : std::min<Ticks>(0, events_.next());
    events::run_moments(
        events_, now_, stop, [this](Event const& event) { take(event); }, [this] { settle(); });
    for (double const bytes : carried_) { result_.carried.emplace_back(bytes); }
    return std::move(result_);
}

void FlowNetwork::take(Event const& event) {
    switch (event.kind) {
    case Kind::begins:
        turns_[event.of]->begin(ready_);
        begin_ready(event.of);
        return;
    case Kind::enters: enter(event.of); return;
    case Kind::arrives:
        if (moving_[event.of].version == event.about) { arrive(event.of); }
        return;
    case Kind::is_added: through(event.of, event.about); return;
    }
}

void FlowNetwork::begin_ready(std::uint32_t schedule) {
    for (Turns::Id const message : ready_) { begin(schedule, message); }
    ready_.clear();
}

/// The latencies of the route first. What carries nothing has arrived then.
void FlowNetwork::begin(std::uint32_t schedule, Turns::Id message) {
    if (unused_.empty()) {
        unused_.push_back(static_cast<std::uint32_t>(moving_.size()));
        moving_.emplace_back();
    }
    std::uint32_t const id = unused_.back();
    unused_.pop_back();
    Turns::Waiting const& what = turns_[schedule]->message(message);
    std::vector<int> const& endpoints = schedules_[schedule].endpoints;
    topology_.route(endpoints[what.from], endpoints[what.to], route_);
    double const latency = topology_.latency_of(route_).base();
    moving_[id] = {.schedule = schedule,
                   .message = message,
                   .version = moving_[id].version,
                   .base = now_,
                   .since = latency,
                   .left = what.bytes};
    ++result_.messages;
    push(later(now_, latency), what.bytes > 0.0 ? Kind::enters : Kind::arrives, id, moving_[id].version);
}

void FlowNetwork::enter(std::uint32_t id) {
    Moving& one = moving_[id];
    Turns::Waiting const& what = turns_[one.schedule]->message(one.message);
    std::vector<int> const& endpoints = schedules_[one.schedule].endpoints;
    topology_.route(endpoints[what.from], endpoints[what.to], route_);
    one.flow = share_.add(route_);
    if (*one.flow >= of_flow_.size()) { of_flow_.resize(*one.flow + 1); }
    of_flow_[*one.flow] = id;
}

void FlowNetwork::arrive(std::uint32_t id) {
    Moving& one = moving_[id];
    ++one.version;
    std::uint32_t const schedule = one.schedule;
    Turns::Waiting const what = turns_[schedule]->message(one.message);
    if (one.flow) {
        share_.for_links(*one.flow, [&](LinkId link) { carried_[link] += what.bytes; });
        share_.remove(*one.flow);
        one.flow.reset();
    }
    turns_[schedule]->drop(one.message);
    unused_.push_back(id);
    through(schedule, what.from);
    double const adding = what.adds ? what.bytes * schedules_[schedule].reduction.base() : 0.0;
    if (adding > 0.0) {
        push(later(now_, adding), Kind::is_added, schedule, what.to);
    } else {
        through(schedule, what.to);
    }
}

void FlowNetwork::through(std::uint32_t schedule, std::uint32_t participant) {
    result_.finished[schedule] = now_;
    turns_[schedule]->through(participant, ready_);
    begin_ready(schedule);
}

/// New rates for what is under way, and from them new ends.
void FlowNetwork::settle() {
    std::span<FairShare::Flow const> const changed = share_.settle();
    for (FairShare::Flow const flow : changed) { set_pace(of_flow_[flow], share_.rate(flow)); }
    result_.settlements += changed.empty() ? 0 : 1;
}

/// Where the rate never changes, the end is the begin plus latency and bytes over rate, rounded once: as in `simulate`.
void FlowNetwork::set_pace(std::uint32_t id, double rate) {
    Moving& one = moving_[id];
    double const gone = static_cast<double>(now_ - one.base) * picosecond - one.since;
    if (one.rate > 0.0 && gone > 0.0) {
        one.left = std::max(0.0, one.left - gone * one.rate);
        one.base = now_;
        one.since = 0.0;
    }
    one.rate = rate;
    push(later(one.base, one.since + one.left * (1.0 / rate)), Kind::arrives, id, ++one.version);
}

} // namespace flow

Ticks SimulatedFlows::last() const {
    return finished.empty() ? 0 : *std::max_element(finished.begin(), finished.end());
}

SimulatedFlows simulate_flows(std::span<PlacedSchedule const> schedules, Topology const& topology) {
    return flow::FlowNetwork{topology}.run(schedules);
}

} // namespace headroom::network
