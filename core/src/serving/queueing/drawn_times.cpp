#include "drawn_times.hpp"

#include "base/quantity/demand.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace headroom::serving::queueing {

CounterRandom random_for(std::uint64_t seed, std::uint64_t purpose) {
    CounterRandom first{seed};
    return CounterRandom{CounterRandom{first.next() ^ (purpose + 1) * 0xD1B54A32D192ED03ULL}.next()};
}

namespace {

/// Marsaglia's polar method, one of the two.
double normal(CounterRandom& random) {
    while (true) {
        double const x = 2.0 * random.uniform() - 1.0, y = 2.0 * random.uniform() - 1.0;
        double const square = x * x + y * y;
        if (square < 1.0) { return x * std::sqrt(-2.0 * std::log(square) / square); }
    }
}

} // namespace

TimeSource::TimeSource(DrawnTimes const& times, char const* where)
    : kind_{Kind::exponential}, mean_{times.mean.base()} {
    demand_size(mean_, where, "give the mean time");
    demand_amount(times.variation, where, "give variance over squared mean: 1 for exponential, 0 for always the same");
    if (times.samples != nullptr) {
        if (times.samples->empty() || times.samples->most() == 0.0) {
            refuse(where, "no sample above zero", "", "give times that were seen");
        }
        kind_ = Kind::samples;
        prepare(*times.samples);
    } else if (times.variation == 0.0) {
        kind_ = Kind::same;
    } else if (times.variation != 1.0) {
        kind_ = Kind::gamma;
        shape_ = 1.0 / times.variation;
        scale_ = mean_ * times.variation;
        third_ = (shape_ < 1.0 ? shape_ + 1.0 : shape_) - 1.0 / 3.0;
        factor_ = 1.0 / std::sqrt(9.0 * third_);
    }
}

/// Walker's columns, as [Vose1991] fills them: as many as cells, all equally high, each of one cell or of two.
void TimeSource::prepare(LatencyHistogram const& samples) {
    scale_ = mean_ / samples.mean();
    double total = 0.0;
    samples.each([&](LatencyHistogram::Cell const& cell) {
        columns_.push_back({.share = static_cast<double>(cell.count), .value = cell.value, .other = cell.value});
        total += static_cast<double>(cell.count);
    });
    std::vector<std::size_t> small, large;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        columns_[i].share *= static_cast<double>(columns_.size()) / total;
        (columns_[i].share < 1.0 ? small : large).push_back(i);
    }
    while (!small.empty() && !large.empty()) {
        Column& filled = columns_[small.back()];
        small.pop_back();
        Column& giver = columns_[large.back()];
        filled.other = giver.value;
        giver.share -= 1.0 - filled.share;
        if (giver.share < 1.0) {
            small.push_back(large.back());
            large.pop_back();
        }
    }
    for (std::size_t const i : small) { columns_[i].share = 1.0; } // short of 1 by rounding alone
    for (std::size_t const i : large) { columns_[i].share = 1.0; }
}

double TimeSource::sample(CounterRandom& random) const {
    double const place = random.uniform() * static_cast<double>(columns_.size());
    Column const& column = columns_[std::min(static_cast<std::size_t>(place), columns_.size() - 1)];
    return place - std::floor(place) < column.share ? column.value : column.other;
}

/// Gamma number of scale 1: the cube of a normal number, rejected as in [MarsagliaTsang2000]; for a shape below 1, that
/// of shape + 1, shortened.
double TimeSource::gamma(CounterRandom& random) const {
    double const shortened = shape_ < 1.0 ? std::pow(random.uniform(), 1.0 / shape_) : 1.0;
    while (true) {
        double const x = normal(random);
        double const root = 1.0 + factor_ * x;
        if (root <= 0.0) { continue; }
        double const cube = root * root * root;
        if (std::log(random.uniform()) < 0.5 * x * x + third_ * (1.0 - cube + std::log(cube))) {
            return shortened * third_ * cube;
        }
    }
}

} // namespace headroom::serving::queueing
