#include "stream_clocks.hpp"

#include "stream_checks.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace headroom::training::simulation {

using namespace headroom::laws;

namespace {

/// floor(x a / b) without a product of more than 64 bits, for a and b of less than 2^37 and 2^26.
Ticks share(Ticks x, Ticks a, Ticks b) {
    if (a == b) { return x; }
    return x / b * a + x % b * a / b;
}

/// ceil(x a / b), likewise.
Ticks stretch(Ticks x, Ticks a, Ticks b) {
    if (a == b) { return x; }
    return x / b * a + (x % b * a + b - 1) / b;
}

std::size_t chip_count(StreamProgram const& program) {
    std::size_t chips = 0;
    for (Stream const& stream : program.streams) { chips = std::max(chips, std::size_t{stream.chip} + 1); }
    return chips;
}

/// Influences on the rate of a launch wait: the link, not the network of its chip.
Influence of_waits(Influence const& kernels) { return {.link = kernels.link}; }

std::size_t link_count(StreamProgram const& program) {
    std::size_t links = 0;
    for (Stream const& stream : program.streams) {
        if (stream.link != no_link) { links = std::max(links, std::size_t{stream.link} + 1); }
    }
    return links;
}

} // namespace

std::vector<Influence> influences_on(StreamProgram const& program) {
    std::vector<std::uint32_t> on_link(link_count(program), 0);
    std::vector<bool> has_network(chip_count(program), false);
    for (Stream const& stream : program.streams) {
        if (stream.link != no_link) { ++on_link[stream.link]; }
        if (stream.network) { has_network[stream.chip] = true; }
    }
    std::vector<Influence> influences;
    influences.reserve(program.streams.size());
    for (Stream const& stream : program.streams) {
        bool const slows = stream.computes && lost_rate(program) > 0 && has_network[stream.chip];
        bool const shares = stream.link != no_link && on_link[stream.link] > 1;
        influences.push_back({slows ? stream.chip : no_influence, shares ? stream.link : no_influence});
    }
    return influences;
}

bool can_be_slowed(StreamProgram const& program) {
    std::vector<Influence> const found = influences_on(program);
    return std::ranges::any_of(found, &Influence::any);
}

StreamClocks::StreamClocks(StreamProgram const& program)
    // of a stream at most two: its kernels' and its waits'
    : slowed_{whole_rate - lost_rate(program)}, whole_{whole_rate}, ends_{2 * program.streams.size()} {
    Ticks const common = std::gcd(slowed_, whole_);
    slowed_ /= common;
    whole_ /= common;
    make_clocks(program);
}

/// Makes one clock for each set of streams with equal influences.
void StreamClocks::make_clocks(StreamProgram const& program) {
    std::map<Influence, std::vector<StreamId>> members;
    std::vector<Influence> const influences = influences_on(program);
    for (std::size_t s = 0; s < influences.size(); ++s) {
        auto const stream = static_cast<StreamId>(s);
        members[influences[s]].push_back(stream);
        if (influences[s] != of_waits(influences[s])) { members[of_waits(influences[s])].push_back(stream); }
    }
    routes_.resize(program.streams.size());
    sharers_.assign(link_count(program), 0);
    of_link_.resize(sharers_.size());
    network_.assign(chip_count(program), 0);
    of_chip_.resize(network_.size());
    for (auto const& [influence, streams] : members) {
        auto const clock = static_cast<std::uint32_t>(clocks_.size());
        clocks_.push_back({.influence = influence});
        clocks_.back().running.reserve(streams.size());
        if (influence.chip != none) { of_chip_[influence.chip].push_back(clock); }
        if (influence.link != none) { of_link_[influence.link].push_back(clock); }
        for (StreamId const s : streams) {
            Stream const& stream = program.streams[s];
            Route& route = routes_[s];
            if (influence == influences[s]) { route.clock = clock; }
            if (influence == of_waits(influences[s])) { route.clock_of_waits = clock; }
            route.link = influence.link;
            route.network = stream.network ? stream.chip : none;
        }
    }
}

void StreamClocks::advance(Clock& clock, Ticks now) const {
    if (!clock.running.empty()) { clock.shows += share(now - clock.at, clock.gains, clock.in); }
    clock.at = now;
}

void StreamClocks::note(std::uint32_t clock) {
    if (clocks_[clock].noted) { return; }
    clocks_[clock].noted = true;
    noted_.push_back(clock);
}

void StreamClocks::note_all(std::span<std::uint32_t const> clocks) {
    for (std::uint32_t const clock : clocks) { note(clock); }
}

/// Counts a task of the stream as begun (`tasks` = 1) or ended (-1), and notes the clocks whose rates may change.
void StreamClocks::count(StreamId stream, std::uint32_t clock, int tasks) {
    Route const& route = routes_[stream];
    note(clock);
    if (route.link != none) {
        sharers_[route.link] += tasks;
        note_all(of_link_[route.link]);
    }
    if (route.network != none) {
        network_[route.network] += static_cast<std::uint32_t>(tasks);
        note_all(of_chip_[route.network]);
    }
}

void StreamClocks::take_ended(std::uint32_t of, Ticks now, std::vector<TaskId>& ended) {
    Clock& clock = clocks_[of];
    advance(clock, now);
    while (!clock.running.empty() && clock.running.next() <= clock.shows) {
        Running const one = clock.running.take();
        ended.push_back(one.task);
        count(one.stream, of, -1);
    }
}

void StreamClocks::begin(TaskId task, StreamProgram const& program, Ticks now) {
    StreamId const stream = program.stream[task];
    Route const& route = routes_[stream];
    std::uint32_t const of = program.kind[task] == WorkKind::launch ? route.clock_of_waits : route.clock;
    Clock& clock = clocks_[of];
    advance(clock, now);
    clock.running.put(clock.shows + program.cost[task], {.task = task, .stream = stream});
    count(stream, of, 1);
}

/// Changes the rate of a clock. The remaining work of its tasks is rounded up to whole ticks, as of `now`.
void StreamClocks::set_rate(Clock& clock, Ticks now) const {
    bool const is_slowed = clock.influence.chip != none && network_[clock.influence.chip] > 0;
    Ticks const gains = is_slowed ? slowed_ : 1;
    Ticks const in = (is_slowed ? whole_ : 1) *
                     (clock.influence.link == none ? 1 : std::max<Ticks>(sharers_[clock.influence.link], 1));
    if (gains * clock.in == clock.gains * in) { return; }
    advance(clock, now);
    clock.gains = gains;
    clock.in = in;
}

Ticks StreamClocks::end_of_first(Clock const& clock) const {
    if (clock.running.empty()) { return never; }
    return clock.at + stretch(clock.running.next() - clock.shows, clock.in, clock.gains);
}

void StreamClocks::settle(Ticks now) {
    for (std::uint32_t const noted : noted_) {
        Clock& clock = clocks_[noted];
        set_rate(clock, now);
        ends_.set(noted, end_of_first(clock));
        clock.noted = false;
    }
    noted_.clear();
}

} // namespace headroom::training::simulation
