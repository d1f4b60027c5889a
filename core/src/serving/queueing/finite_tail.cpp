#include "finite_tail.hpp"

#include "found_states.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace headroom::serving::queueing {
namespace {

/// Probability that a request is still there after so many steps of the clock.
class Survival {
public:
    Survival(std::vector<double> const& found, int servers) : stays_{1.0 - 1.0 / servers} {
        std::vector<double> ends(found.size() - static_cast<std::size_t>(servers) + 1, 0.0); // to wait for
        for (std::size_t n = 0; n < found.size(); ++n) {
            std::size_t const c = static_cast<std::size_t>(servers);
            ends[n < c ? 0 : n - c + 1] += found[n];
        }
        double waiting = 1.0, served = 0.0;
        for (double const share : ends) {
            waiting = std::max(0.0, waiting - share);
            served = served * stays_ + share;
            after_.push_back(waiting + served);
        }
    }
    [[nodiscard]] double after(double steps) const {
        double const last = static_cast<double>(after_.size() - 1);
        if (steps <= last) { return after_[static_cast<std::size_t>(steps)]; }
        return after_.back() * std::pow(stays_, steps - last);
    }

private:
    double stays_;
    std::vector<double> after_;
};

/// The mean of `survival` over a Poisson number of steps.
double still_there(Survival const& survival, double mean) {
    double const width = 9.0 * std::sqrt(mean) + 20.0;
    double sum = 0.0, weight = 0.0;
    for (double k = std::max(0.0, std::floor(mean - width)); k <= mean + width; k += 1.0) {
        double const share = std::exp(k * std::log(mean) - mean - std::lgamma(k + 1.0));
        sum += share * survival.after(k);
        weight += share;
    }
    return sum / weight;
}

} // namespace

Seconds finite_quantile(QueueLoad const& load, QueueShape const& shape, double q) {
    double const service = load.service.base();
    std::vector<double> found = found_states(load, shape);
    found.pop_back(); // turned away
    double const let_in = std::accumulate(found.begin(), found.end(), 0.0);
    for (double& one : found) { one /= let_in; }
    Survival const survival{found, shape.servers};
    double const rate = shape.servers / service;
    double low = 0.0, high = service;
    while (still_there(survival, rate * high) > 1.0 - q) {
        low = high;
        high *= 2.0;
    }
    for (int step = 0; step < 60 && high - low > 1e-9 * high; ++step) {
        double const middle = 0.5 * (low + high);
        (still_there(survival, rate * middle) > 1.0 - q ? low : high) = middle;
    }
    return Seconds{high};
}

} // namespace headroom::serving::queueing
