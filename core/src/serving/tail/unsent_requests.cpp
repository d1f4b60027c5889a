#include "unsent_requests.hpp"

#include "headroom/error.hpp"
#include "headroom/serving/latency_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace headroom::serving {
namespace {

constexpr double most_counted = 0x1p53; ///< counts beyond it have no double

/// The requests that were not sent while one took `value`: value - i, value - 2i, ... down to i.
class Unsent {
public:
    Unsent(double value, double interval) : value_{value}, interval_{interval} {
        count_ = std::max(0.0, std::floor(value / interval) - 1.0);
        if (count_ > 0.0 && latency(count_) < interval) { count_ -= 1.0; } // as the subtraction rounds
    }

    [[nodiscard]] double count() const { return count_; }
    [[nodiscard]] double latency(double number) const { return value_ - number * interval_; }
    /// Number of requests that take this long or longer.
    [[nodiscard]] double from(double latency) const {
        double const steps = std::clamp((value_ - latency) / interval_, 0.0, count_);
        return static_cast<double>(static_cast<std::int64_t>(steps)); // floor, without a call
    }

private:
    double value_, interval_;
    double count_ = 0.0;
};

/// Cells in a row, and how many requests fall into each.
class CellCounts {
public:
    CellCounts(double least, double most) {
        for (double low = LatencyHistogram::cell_of(least).low; low <= most; low = highs_.back()) {
            lows_.push_back(low);
            highs_.push_back(LatencyHistogram::cell_of(low).high);
        }
        counts_.resize(lows_.size());
    }

    /// Whichever takes fewer steps: request by request, or cell by cell.
    void add(Unsent const& unsent, std::uint64_t times) {
        shortest_ = std::min(shortest_, unsent.latency(unsent.count()));
        if (unsent.count() * steps_per_request < static_cast<double>(lows_.size())) {
            for (double number = 1.0; number <= unsent.count(); number += 1.0) {
                auto const above = std::ranges::upper_bound(lows_, unsent.latency(number));
                counts_[static_cast<std::size_t>(above - lows_.begin()) - 1] += times;
            }
            return;
        }
        double longer = unsent.count();
        for (std::size_t cell = 0; longer > 0.0; ++cell) {
            double const beyond = std::min(longer, unsent.from(highs_[cell]));
            counts_[cell] += static_cast<std::uint64_t>(longer - beyond) * times;
            longer = beyond;
        }
    }

    void add_to(LatencyHistogram& samples) const {
        for (std::size_t cell = 0; cell < lows_.size(); ++cell) {
            if (counts_[cell] > 0) { samples.record(std::max(lows_[cell], shortest_), counts_[cell]); }
        }
    }

private:
    static constexpr double steps_per_request = 8.0; ///< to find its cell

    std::vector<double> lows_, highs_;
    std::vector<std::uint64_t> counts_;
    double shortest_ = HUGE_VAL;
};

void check_sum(LatencyHistogram const& samples, double interval) {
    if (unsent_requests(samples, interval) + static_cast<double>(samples.count()) < most_counted) { return; }
    refuse("interval", "more than 2^53 requests would have been left out", "it is too short for samples this long",
           "give it in the unit of the samples");
}

} // namespace

void check_request_interval(double interval) {
    if (interval > 0.0 && std::isfinite(interval)) { return; }
    refuse("interval", "it is above zero", {}, "give the time between requests, e.g. 1 ms");
}

double unsent_requests(LatencyHistogram const& samples, double interval) {
    double sum = 0.0;
    samples.each([&](LatencyHistogram::Cell const& cell) {
        sum += Unsent{cell.value, interval}.count() * static_cast<double>(cell.count);
    });
    return sum;
}

LatencyHistogram corrected_for_omission(LatencyHistogram const& samples, double interval) {
    check_request_interval(interval);
    check_sum(samples, interval);
    LatencyHistogram corrected{samples};
    if (samples.empty() || samples.most() < interval) { return corrected; }
    CellCounts added{interval, samples.most()};
    samples.each([&](LatencyHistogram::Cell const& cell) {
        Unsent const unsent{cell.value, interval};
        if (unsent.count() > 0.0) { added.add(unsent, cell.count); }
    });
    added.add_to(corrected);
    return corrected;
}

} // namespace headroom::serving
