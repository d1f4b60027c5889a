#include "headroom/training/goodput.hpp"

#include "base/quantity/demand.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::training {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

void check(FailureModel const& model) {
    demand_amount(model.checkpoint.base(), "checkpoint", "give the time that training waits, e.g. 60 s");
    demand_amount(model.restart.base(), "restart", "give the time from failure to the next step, e.g. 5 min");
    demand_positive(model.mtbf.base(), "mean time between failures", "give that of the whole job, e.g. 3.1 h");
}

void check(FailureModel const& model, Seconds interval) {
    check(model);
    demand_not_negative(interval.base(), "checkpoint interval", "give the work between two checkpoints, e.g. 20 min");
}

/// `time` in units of M; nothing is 0 of it, and anything finite is 0 of an infinite M.
double in_mtbf(Seconds time, FailureModel const& model) {
    return std::isinf(model.mtbf.base()) || time == Seconds{} ? 0.0 : time / model.mtbf;
}

/// x / (exp(x) - 1): the share of a segment's attempts that succeeds, 1 at x = 0 and 0 at infinity.
double kept_of_attempts(double x) {
    if (x == 0.0) { return 1.0; }
    if (std::isinf(x)) { return 0.0; }
    return x / std::expm1(x);
}

/// tau / (tau + C): of what is kept, the share that is work.
double work_of_segment(FailureModel const& model, Seconds interval) {
    if (model.checkpoint == Seconds{} || std::isinf(interval.base())) { return 1.0; }
    return 1.0 / (1.0 + model.checkpoint / interval);
}

/// u in (1-u) exp(u + c) = 1 over Young's sqrt(2c), for small c: the series of Lambert's function at its branch point.
double series_over_young(double c) {
    double const p = std::sqrt(-2.0 * std::expm1(-c));
    double const series =
        1.0 - p * (1.0 / 3.0 - p * (11.0 / 72.0 - p * (43.0 / 540.0 - p * (769.0 / 17280.0 - p * 221.0 / 8505.0))));
    return c > 0.0 ? series * p / std::sqrt(2.0 * c) : 1.0;
}

/// 1 - u for larger c. Newton on ln y - y + 1 + c, which is concave: from a point left of the root every step stays
/// there; the first terms of the series and of y = exp(-1-c) exp(y) are two.
double one_less_interval(double c) {
    constexpr int most_steps = 50;
    double y = std::max(1.0 - std::sqrt(-2.0 * std::expm1(-c)), std::exp(-1.0 - c));
    for (int step = 0; step < most_steps && y > 0.0; ++step) {
        double const change = -(std::log(y) - y + 1.0 + c) / (1.0 / y - 1.0);
        y += change;
        if (std::abs(change) <= 1e-15 * y) { break; }
    }
    return std::clamp(y, 0.0, 1.0);
}

} // namespace

Seconds cluster_mtbf(Seconds part_mtbf, Ranks devices, Ranks devices_per_part) {
    demand_positive(part_mtbf.base(), "mean time between failures of a part", "give e.g. 50700 h");
    int const parts = (devices.count() - 1) / devices_per_part.count() + 1;
    return part_mtbf / static_cast<double>(parts);
}

Seconds checkpoint_duration(CheckpointWrite const& write) {
    demand_amount(write.state.base(), "checkpoint state", "give its bytes, e.g. 14 for each parameter");
    demand_positive(write.rate.base(), "write rate", "give that of one writer, e.g. 2 GB/s");
    return write.state / static_cast<double>(write.writers.count()) / write.rate;
}

Seconds checkpoint_blocking(CheckpointWrite const& write) {
    demand_share(write.blocking_share, "blocking share", "give 1 for synchronous checkpoints, about 0.1 for others");
    return write.blocking_share * checkpoint_duration(write);
}

Seconds young_interval(FailureModel const& model) {
    check(model);
    if (model.checkpoint == Seconds{}) { return Seconds{}; }
    return Seconds{std::sqrt(2.0 * model.checkpoint.base()) * std::sqrt(model.mtbf.base())};
}

Seconds daly_interval(FailureModel const& model) {
    Seconds const young = young_interval(model);
    if (model.checkpoint >= 2.0 * model.mtbf) { return model.mtbf; }
    double const half = 0.5 * in_mtbf(model.checkpoint, model);
    return young * (1.0 + std::sqrt(half) / 3.0 + half / 9.0) - model.checkpoint;
}

Seconds exact_interval(FailureModel const& model) {
    constexpr double series_below = 1e-5; // the seventh term of the series is below 1e-13 there
    Seconds const young = young_interval(model);
    double const c = in_mtbf(model.checkpoint, model);
    if (c < series_below) { return young * series_over_young(c); }
    return model.mtbf * (1.0 - one_less_interval(c));
}

double time_over_work(FailureModel const& model, Seconds interval) {
    double const work = goodput(model, interval);
    return work > 0.0 ? 1.0 / work : infinite;
}

TimeShares time_shares(FailureModel const& model, Seconds interval) {
    check(model, interval);
    double const running = std::exp(-in_mtbf(model.restart, model));
    double const in_segment = std::isinf(model.mtbf.base()) ? 0.0 : (interval + model.checkpoint) / model.mtbf;
    double const kept = kept_of_attempts(in_segment);
    double const work = work_of_segment(model, interval);
    return {.work = work * kept * running,
            .checkpoint = (1.0 - work) * kept * running,
            .redone = (1.0 - kept) * running,
            .restart = -std::expm1(-in_mtbf(model.restart, model))};
}

double goodput(FailureModel const& model, Seconds interval) { return time_shares(model, interval).work; }

} // namespace headroom::training
