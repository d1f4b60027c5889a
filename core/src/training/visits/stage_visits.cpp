#include "stage_visits.hpp"

#include "training/step_frame.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::training::simulation {
namespace {

constexpr std::array pass_kinds{PassKind::forward, PassKind::backward, PassKind::input_gradient,
                                PassKind::weight_gradient};
constexpr double nothing = 1e-3; ///< ticks that rounding leaves

bool makes_gradients(PassKind kind) { return kind == PassKind::backward || kind == PassKind::weight_gradient; }

double in_the_way(DataRules const& rules) { return rules.in_the_way ? 1.0 : rules.shown; }

void take(double& left, double done) { left = left - done > nothing ? left - done : 0.0; }

} // namespace

StageVisits::StageVisits(RowsOfUnits const& rows)
    : rules_{rows.rules},
      users_{rows.users},
      copies_{rows.state_with_host},
      blocking_{rows.blocking},
      order_{rows.order},
      traffic_{rows.traffic},
      stages_(rows.traffic.size()) {
    list_visits(rows);
    list_weights(rows);
    if (copies_) { list_copies(rows); }
    for (Place& place : places_) {
        for (PassKind const kind : pass_kinds) {
            Stage alone;
            place.alone[static_cast<std::size_t>(kind)] = run(alone, place, kind, 0.0, false, false);
        }
    }
}

void StageVisits::list_visits(RowsOfUnits const& rows) {
    std::vector<Unit const*> known;
    for (Unit const& unit : rows.units.variants) { known.push_back(&unit); }
    known.push_back(&rows.units.embedding);
    known.push_back(&rows.units.head);
    for (Unit const* unit : known) {
        auto& times = times_.emplace_back();
        for (PassKind const kind : pass_kinds) {
            times[static_cast<std::size_t>(kind)] = visit_of(*unit, kind, users_);
        }
    }
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
        for (int chunk = 0; chunk < rows.layout.shape.chunks; ++chunk) {
            Place& place = places_.emplace_back();
            auto const c = static_cast<std::size_t>(chunk);
            place.stage = stage;
            place.traffic = &traffic_[stage].units[c];
            place.accumulate = static_cast<double>(traffic_[stage].accumulate[c]);
            place.first = place.last = order_.passes.size();
            for (Unit const* unit : units_of(rows.layout.at(static_cast<int>(stage), chunk), rows.blocks, rows.units)) {
                auto const nth = static_cast<std::size_t>(std::ranges::find(known, unit) - known.begin());
                for (PassKind const kind : pass_kinds) {
                    auto const k = static_cast<std::size_t>(kind);
                    place.visits[k].push_back(&times_[nth][k]);
                }
            }
            for (PassKind const kind : pass_kinds) {
                if (kind != PassKind::forward) { std::ranges::reverse(place.visits[static_cast<std::size_t>(kind)]); }
            }
        }
    }
}

/// Weights are sent in the order in which the row visits units first; what hides behind nothing before all of them.
void StageVisits::list_weights(RowsOfUnits const& rows) {
    auto const chunks = static_cast<std::size_t>(rows.layout.shape.chunks);
    double const shown = in_the_way(rules_);
    for (std::size_t s = 0; s < stages_.size(); ++s) {
        Stage& stage = stages_[s];
        for (auto const& chunk : traffic_[s].units) {
            for (UnitTraffic const& unit : chunk) {
                stage.data += rules_.gathers ? shown * static_cast<double>(unit.gather) : 0.0;
            }
        }
        for (std::size_t i = order_.first[s]; i < order_.first[s + 1]; ++i) {
            Place& place = places_[s * chunks + order_.passes[i].chunk];
            if (makes_gradients(order_.passes[i].kind)) { place.last = i; }
            if (order_.passes[i].kind != PassKind::forward || place.first < order_.passes.size()) { continue; }
            place.first = i;
            for (UnitTraffic const& unit : *place.traffic) {
                stage.data += rules_.gathers ? (1.0 - shown) * static_cast<double>(unit.gather) : 0.0;
                place.gathered.push_back(stage.data);
            }
        }
    }
}

/// Weights come from the host in the order in which they are needed.
void StageVisits::list_copies(RowsOfUnits const& rows) {
    auto const chunks = static_cast<std::size_t>(rows.layout.shape.chunks);
    for (std::size_t s = 0; s < stages_.size(); ++s) {
        double at = 0.0;
        for (std::size_t i = order_.first[s]; i < order_.first[s + 1]; ++i) {
            Place& place = places_[s * chunks + order_.passes[i].chunk];
            if (place.first != i) { continue; }
            for (UnitTraffic const& unit : *place.traffic) {
                at += static_cast<double>(unit.host_up);
                place.copied.push_back(at);
            }
        }
        for (std::size_t c = 0; blocking_ && c < chunks; ++c) { std::ranges::fill(places_[s * chunks + c].copied, at); }
    }
}

/// To the host, when what has been made is there and has been reduced.
void StageVisits::copy(Stage& stage, double ticks) const {
    stage.copied = std::max(stage.copied, stage.at + stage.data) + ticks;
}

/// Nothing is computed until then.
void StageVisits::wait(Stage& stage, double until) const {
    if (until > stage.at && (stage.data > 0.0 || stage.transfers > 0.0)) {
        work(stage, {.fixed = until - stage.at}, 1.0);
    }
    stage.at = std::max(stage.at, until);
}

void StageVisits::wait_for_weights(Stage& stage, double sent) const {
    while (stage.data > 0.0 && stage.sent + nothing < sent) {
        double const missing = sent - stage.sent;
        bool const shares = users_.data && stage.transfers > 0.0;
        wait(stage, stage.at + (shares ? std::min(2.0 * missing, 2.0 * stage.transfers) : missing));
    }
}

/// So much of a stretch: rates stay until something of it, or of what is beside it, has ended.
void StageVisits::work(Stage& stage, UnitStretch const& all, double share) const {
    UnitStretch left{.kernels = all.kernels * share, .fixed = all.fixed * share, .leaving = all.leaving};
    for (double& collective : left.leaving) { collective *= share; }
    for (;;) {
        auto const under_way = std::ranges::count_if(left.leaving, [](double t) { return t > 0.0; });
        if (left.kernels <= 0.0 && left.fixed <= 0.0 && under_way == 0) { return; }
        bool const data = stage.data > 0.0, transfers = stage.transfers > 0.0;
        auto const sharers = under_way + (data && users_.data ? 1 : 0) + (transfers ? 1 : 0);
        double const shared = 1.0 / static_cast<double>(std::max<std::ptrdiff_t>(1, sharers));
        double const kernels = data ? 1.0 - rules_.slowdown : 1.0, sent = users_.data ? shared : 1.0;
        double time = std::numeric_limits<double>::infinity();
        auto const until = [&time](double ticks, double rate) {
            if (ticks > 0.0) { time = std::min(time, ticks / rate); }
        };
        until(left.kernels, kernels), until(left.fixed, 1.0), until(stage.data, sent), until(stage.transfers, shared);
        for (double const collective : left.leaving) { until(collective, shared); }
        take(left.kernels, time * kernels), take(left.fixed, time), take(stage.transfers, time * shared);
        for (double& collective : left.leaving) { take(collective, time * shared); }
        if (data) { take(stage.data, time * sent), stage.sent += time * sent; }
        stage.at += time;
    }
}

/// A visit from so much of its work to so much.
void StageVisits::work(Stage& stage, UnitVisit const& visit, double from, double to) const {
    double before = 0.0;
    for (UnitStretch const& stretch : visit.stretches) {
        double const all = stretch.work(), begin = std::max(from, before), end = std::min(to, before + all);
        if (end > begin) { work(stage, stretch, (end - begin) / all); }
        before += all;
    }
}

/// A kernel behind a unit's: compressing gradients, or adding them up.
void StageVisits::kernel(Stage& stage, double ticks) const { work(stage, {.kernels = ticks}, 1.0); }

/// A visit that makes gradients: a bucket goes when it is full, beside the collective behind the last kernel; a unit of several sends
/// them while it works.
void StageVisits::work_and_reduce(Stage& stage, UnitVisit const& visit, UnitTraffic const& traffic) const {
    auto const reduce = static_cast<double>(traffic.reduce);
    double const later = in_the_way(rules_) * reduce, bucket = stage.bucket + reduce - later;
    double const elements = stage.elements + traffic.elements;
    bool const full = reduce > 0.0 && elements >= bucket_elements;
    auto const kernels = visit.ended.size();
    auto const buckets = static_cast<std::size_t>(std::max(1.0, traffic.elements / bucket_elements));
    auto const pieces = full ? std::clamp(kernels, std::size_t{1}, buckets) : std::size_t{1};
    double done = 0.0;
    for (std::size_t piece = 1; full && piece <= pieces && kernels > 0; ++piece) {
        if (piece == pieces && traffic.compress > 0) { break; }
        double const until = piece < pieces ? visit.ended[kernels * piece / pieces - 1] : visit.made;
        work(stage, visit, done, until);
        stage.data += bucket / static_cast<double>(pieces);
        done = until;
    }
    work(stage, visit, done, visit.work);
    kernel(stage, static_cast<double>(traffic.compress));
    if (full && (kernels == 0 || traffic.compress > 0)) { stage.data += bucket / static_cast<double>(pieces); }
    stage.held_back += later;
    stage.bucket = full ? 0.0 : bucket, stage.elements = full ? 0.0 : elements;
}

double StageVisits::run(Stage& stage, Place const& place, PassKind kind, double begin, bool first, bool last) const {
    auto const& visits = place.visits[static_cast<std::size_t>(kind)];
    double host = begin, before = begin, two_before = begin;
    wait(stage, begin);
    for (std::size_t i = 0; i < visits.size(); ++i) {
        UnitVisit const& visit = *visits[i];
        if (first && rules_.gathers) { wait_for_weights(stage, place.gathered[i]); }
        if (first && copies_) { wait(stage, place.copied[i]); }
        if (visit.routed) { host = std::max(host, two_before); }
        host += visit.host;
        if (last) {
            UnitTraffic const& traffic = (*place.traffic)[visits.size() - 1 - i];
            work_and_reduce(stage, visit, traffic);
            if (copies_ && !blocking_) { copy(stage, static_cast<double>(traffic.host_down)); }
        } else {
            work(stage, visit, 0.0, visit.work);
        }
        wait(stage, host);
        two_before = before, before = stage.at;
    }
    if (makes_gradients(kind)) { kernel(stage, place.accumulate); }
    return stage.at;
}

Ticks StageVisits::end_of(std::size_t s, std::size_t at, std::size_t pass, PassKind kind, Ticks begin, Ticks) {
    Place const& place = places_[at];
    Stage& stage = stages_[s];
    wait(stage, static_cast<double>(begin));
    bool const first = pass == place.first && (rules_.gathers || copies_);
    bool const last = pass == place.last || (rules_.every_micro_batch && makes_gradients(kind));
    if (first || last || stage.data > 0.0 || stage.transfers > 0.0) {
        run(stage, place, kind, static_cast<double>(begin), first, last);
    } else {
        stage.at += place.alone[static_cast<std::size_t>(kind)];
    }
    bool const over = pass + 1 == order_.first[s + 1];
    if (over || (last && rules_.every_micro_batch)) {
        stage.data += std::exchange(stage.bucket, 0.0);
        stage.elements = 0.0;
    }
    if (over) { stage.data += std::exchange(stage.held_back, 0.0); }
    return std::llround(stage.at);
}

Ticks StageVisits::later(std::size_t s, Ticks hop, bool) {
    if (!users_.transfers || hop <= 0) { return 0; }
    Stage& stage = stages_[s];
    double const before = stage.transfers;
    stage.transfers += static_cast<double>(hop);
    double const meets = users_.data ? std::min(stage.data, stage.transfers) : 0.0;
    return std::llround(before + meets);
}

Ticks StageVisits::finished(std::size_t s, Ticks passes) {
    Stage& stage = stages_[s];
    double const meets = users_.data ? std::min(stage.data, stage.transfers) : 0.0;
    double const sent = stage.data > 0.0 ? stage.at + stage.data + meets : 0.0;
    double end = std::max(static_cast<double>(passes), sent) + static_cast<double>(traffic_[s].blocking);
    if (copies_) {
        double down = 0.0;
        for (auto const& chunk : traffic_[s].units) {
            for (UnitTraffic const& unit : chunk) { down += blocking_ ? static_cast<double>(unit.host_down) : 0.0; }
        }
        end = std::max(end, stage.copied) + down + static_cast<double>(traffic_[s].host_update);
    }
    return std::llround(end) + traffic_[s].update;
}

} // namespace headroom::training::simulation
