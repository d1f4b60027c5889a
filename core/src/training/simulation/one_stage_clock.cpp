#include "one_stage_clock.hpp"

#include <algorithm>
#include <limits>

namespace headroom::training::simulation {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

double seconds_of(Ticks ticks) { return static_cast<double>(ticks) * 1e-12; }

bool goes_on(Leg const& leg, PassItem const& item) {
    bool const bare = std::ranges::all_of(item.beside, [](Ticks hidden) { return hidden == 0; });
    return bare && !leg.ends.empty() && leg.shown == OfGroups{} && leg.beside == OfGroups{};
}

void add_kernel(std::vector<Leg>& legs, PassItem const& item) {
    bool const more = !legs.empty() && goes_on(legs.back(), item);
    if (!more) { legs.emplace_back(); }
    Leg& leg = legs.back();
    (more ? leg.issue : leg.launch) += seconds_of(item.launch);
    leg.last = seconds_of(item.cost);
    leg.kernels += leg.last;
    leg.ends.push_back(leg.kernels);
    for (std::size_t g = 0; g < group3_count; ++g) { leg.beside[g] += seconds_of(item.beside[g]); }
}

/// Which of two groups stands behind the other matters: one may leave by the adapter of what is queued.
void add_collective(std::vector<Leg>& legs, PassItem const& item) {
    auto const group = static_cast<std::size_t>(item.role) - static_cast<std::size_t>(Role::tensor);
    auto const goes_with = [group](Leg const& leg) {
        for (std::size_t g = 0; g < group3_count; ++g) {
            if (g != group && leg.shown[g] > 0.0) { return false; }
        }
        return !leg.waits;
    };
    if (legs.empty() || !goes_with(legs.back())) { legs.emplace_back(); }
    legs.back().shown[group] += seconds_of(item.cost);
}

} // namespace

std::vector<Leg> legs_of(UnitPass const& pass) {
    std::vector<Leg> legs;
    for (PassItem const& item : pass.items) {
        if (item.role == Role::host) {
            legs.back().standing += seconds_of(item.launch);
        } else if (item.role != Role::compute) {
            add_collective(legs, item);
        } else if (item.kind == WorkKind::launch) {
            Leg& wait = legs.emplace_back();
            wait.launch = seconds_of(item.launch), wait.late = seconds_of(item.cost), wait.waits = true;
        } else {
            add_kernel(legs, item);
        }
    }
    return legs;
}

double StageClock::share_of_adapter(State const& s, OfGroups const& groups) const {
    double n = rules_.data_leaves && busy(s) ? 1.0 : 0.0;
    for (std::size_t g = 0; g < group3_count; ++g) { n += rules_.leaves[g] && groups[g] > rules_.tick ? 1.0 : 0.0; }
    return n > 1.0 ? 1.0 / n : 1.0;
}

double StageClock::until_change(State const& s, OfGroups const& groups) const {
    double const shared = share_of_adapter(s, groups);
    double first = never;
    if (busy(s)) { first = (queued_ - s.sent) / (rules_.data_leaves ? shared : 1.0); }
    for (std::size_t g = 0; g < group3_count; ++g) {
        if (groups[g] > rules_.tick) { first = std::min(first, groups[g] / (rules_.leaves[g] ? shared : 1.0)); }
    }
    return first;
}

void StageClock::pass(State& s, OfGroups& groups, double seconds) {
    double const shared = share_of_adapter(s, groups);
    if (busy(s)) {
        double const rate = rules_.data_leaves ? shared : 1.0, sent = std::min(queued_, s.sent + seconds * rate);
        for (; s.copies < copies_.size() && copies_[s.copies].mark <= sent + rules_.tick; ++s.copies) {
            double const left = copies_[s.copies].mark - s.sent;
            if (left > 0.0) { copies_[s.copies].sent = s.now + left / rate; }
        }
        s.sent = sent;
    }
    for (std::size_t g = 0; g < group3_count; ++g) {
        groups[g] = std::max(0.0, groups[g] - seconds * (rules_.leaves[g] ? shared : 1.0));
    }
    s.now += seconds;
}

void StageClock::idle_until(State& s, OfGroups& groups, double time) {
    while (time - s.now > rules_.tick) { pass(s, groups, std::min(time - s.now, until_change(s, groups))); }
}

void StageClock::follow(State& s, Behind const& wait) {
    OfGroups groups = wait.groups;
    auto const any = [&] { return std::ranges::any_of(groups, [this](double left) { return left > rules_.tick; }); };
    switch (wait.kind) {
    case Wait::together:
        while (any()) { pass(s, groups, until_change(s, groups)); }
        break;
    case Wait::traffic:
        while (busy(s) && wait.seconds - s.sent > rules_.tick) {
            double const rate = rules_.data_leaves ? share_of_adapter(s, groups) : 1.0;
            pass(s, groups, std::min((wait.seconds - s.sent) / rate, until_change(s, groups)));
        }
        break;
    case Wait::until: idle_until(s, groups, wait.seconds); break;
    case Wait::alone: idle_until(s, groups, s.now + wait.seconds); break;
    case Wait::hold: s.host = std::max(s.host, wait.seconds); break;
    case Wait::host:
        s.host += wait.launch;
        idle_until(s, groups, std::max(s.host, s.now) + wait.seconds);
        s.host += wait.standing;
        s.compute = s.now;
        break;
    }
}

void StageClock::add(Behind const& wait) {
    trail_.push_back(wait);
    follow(state_, wait);
}

void StageClock::run_kernels(Leg const& leg, double share, std::size_t done, std::span<Queued const>& queued,
                             OfGroups& rest) {
    State& s = state_;
    s.host += leg.launch * share;
    double const all = leg.kernels * share, paced = std::max(0.0, leg.kernels - leg.last) * share;
    double const pace = paced > 0.0 ? leg.issue * share / paced : 0.0; // of the host, over that of the chip
    bool const issues = leg.launch + leg.issue > 0.0;                  // embedding and head are issued by nobody
    // where the next of what is queued is ready
    auto const place = [&] {
        if (queued.empty() || queued.front().after > done + leg.ends.size()) { return all + 1.0; }
        return queued.front().after > done ? share * leg.ends[queued.front().after - done - 1] : 0.0;
    };
    double at = 0.0;
    while (all - at > rules_.tick) {
        double const issued = issues ? s.host + pace * std::min(at, paced) : s.now;
        if (issued - s.now > rules_.tick) {
            idle_until(s, rest, issued);
            continue;
        }
        double const rate = busy(s) ? 1.0 - rules_.loss : 1.0;
        bool const behind_host = paced - at > rules_.tick && pace * rate > 1.0;
        double speed = rate, goal = paced - at > rules_.tick ? paced : all;
        if (behind_host) {
            double const until_late = (s.now - issued) / (pace - 1.0 / rate);
            if (until_late > rules_.tick) {
                goal = std::min(goal, at + until_late);
            } else {
                speed = 1.0 / pace;
            }
        }
        goal = std::min(goal, std::max(at, place()));
        double const seconds = std::min((goal - at) / speed, until_change(s, rest));
        at = seconds * speed < goal - at ? at + seconds * speed : goal;
        pass(s, rest, seconds);
        for (; place() - at <= rules_.tick; queued = queued.subspan(1)) { queued_ += queued.front().seconds; }
    }
    s.host += leg.issue * share;
}

void StageClock::run(Leg const& leg, double share, std::size_t done, std::span<Queued const>& queued) {
    if (leg.waits) {
        add({.kind = Wait::host,
             .seconds = leg.late * share,
             .launch = leg.launch * share,
             .standing = leg.standing * share});
        return;
    }
    if (!leg.ends.empty()) {
        OfGroups rest = leg.beside;
        for (double& seconds : rest) { seconds *= share; }
        run_kernels(leg, share, done, queued, rest);
        state_.compute = state_.now;
        made_ = state_;
        trail_.clear();
        if (rest != OfGroups{}) { add({.kind = Wait::together, .groups = rest}); }
    }
    for (std::size_t g = 0; g < group3_count; ++g) {
        if (leg.shown[g] <= 0.0) { continue; }
        Behind wait{.kind = Wait::together};
        wait.groups[g] = leg.shown[g] * share;
        add(wait);
    }
}

void StageClock::kernel(double seconds) {
    std::span<Queued const> none;
    Leg one;
    one.kernels = one.last = seconds, one.ends = {seconds};
    run(one, 1.0, 0, none);
}

void StageClock::queue(double seconds) {
    if (seconds <= 0.0) { return; }
    state_ = made_;
    queued_ += seconds;
    for (Behind const& wait : trail_) { follow(state_, wait); }
}

void StageClock::wait_for_traffic(double mark) { add({.kind = Wait::traffic, .seconds = mark}); }
void StageClock::wait_until(double time) { add({.kind = Wait::until, .seconds = time}); }
void StageClock::wait_alone(double seconds) { add({.kind = Wait::alone, .seconds = seconds}); }

double StageClock::drained() const { return state_.now + std::max(0.0, queued_ - state_.sent); }

void StageClock::copy_behind(double mark, double ready, double seconds) {
    copies_.push_back({.mark = mark, .ready = ready, .seconds = seconds, .sent = 0.0});
}

double StageClock::copied(double free) const {
    double traffic = state_.now;
    for (CopyBehind const& copy : copies_) {
        bool const through = copy.mark <= state_.sent + rules_.tick;
        traffic = through ? copy.sent : state_.now + copy.mark - state_.sent;
        free = std::max({free, copy.ready, traffic}) + copy.seconds;
    }
    return free;
}

} // namespace headroom::training::simulation
