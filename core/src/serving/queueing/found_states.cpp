#include "found_states.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headroom::serving::queueing {
namespace {

/// Ticks of the clock in a gap, on average.
double ticks_in_gap(QueueLoad const& load, QueueShape const& shape) {
    return shape.servers / (load.service.base() * load.arrivals_per_second);
}

/// So many that more in one gap have a chance of about e^-32.
double most_ticks(double mean, double variation) {
    return mean + 12.0 * std::sqrt(mean) + 32.0 * variation * mean + 24.0;
}

std::vector<double> of_poisson_arrivals(double offered, int servers, int places) {
    std::vector<double> logs(static_cast<std::size_t>(places) + 1, 0.0);
    for (std::size_t n = 1; n < logs.size(); ++n) {
        logs[n] = logs[n - 1] + std::log(offered / std::min(static_cast<double>(n), static_cast<double>(servers)));
    }
    double const most = *std::max_element(logs.begin(), logs.end());
    for (double& one : logs) { one = std::exp(one - most); }
    return logs;
}

/// Adds the way down one more step: chance to be at the goal after k ticks, for one that first waits for an end of chance
/// `end` a tick. Returns the chance that a gap is long enough.
double step_down(std::vector<double>& at_goal, std::vector<double> const& ticks, double end) {
    double sum = 0.0, before = at_goal[0], now = 0.0;
    at_goal[0] = 0.0;
    for (std::size_t k = 1; k < ticks.size(); ++k) {
        now = end * before + (1.0 - end) * now;
        before = at_goal[k];
        at_goal[k] = now;
        sum += ticks[k] * now;
    }
    return sum;
}

std::vector<double> of_gamma_gaps(QueueLoad const& load, QueueShape const& shape) {
    constexpr double large = 1e200;
    double const mean = ticks_in_gap(load, shape);
    auto const places = static_cast<std::size_t>(*shape.places);
    std::vector<double> const ticks =
        counts_in_gamma_time(mean, load.arrival_variation, static_cast<int>(most_ticks(mean, load.arrival_variation)));
    auto const end_of = [&](std::size_t m) { return std::min(1.0, static_cast<double>(m) / shape.servers); };
    std::vector<double> found(places + 1, 0.0);
    found[places] = 1.0;
    for (std::size_t j = places; j-- > 0;) {
        double none = 0.0, stays = 1.0;
        for (double const chance : ticks) {
            none += chance * stays;
            stays *= 1.0 - end_of(j + 1);
        }
        std::vector<double> at_goal(ticks.size(), 1.0);
        double falls = step_down(at_goal, ticks, end_of(j + 1)), down = 0.0;
        for (std::size_t m = j + 2; m <= places; ++m) {
            falls = step_down(at_goal, ticks, end_of(m));
            down += found[m - 1] * falls;
        }
        down += found[places] * falls; // one that finds no place leaves all as it is
        found[j] = down / none;
        if (found[j] > large) {
            for (double& one : found) { one /= large; }
        }
    }
    return found;
}

} // namespace

std::vector<double> counts_in_gamma_time(double mean, double variation, int count) {
    std::vector<double> chances(static_cast<std::size_t>(count));
    double const none = variation > 0.0 ? -std::log1p(variation * mean) / variation : -mean;
    chances[0] = std::exp(none);
    for (std::size_t n = 1; n < chances.size(); ++n) {
        double const before = static_cast<double>(n - 1);
        chances[n] = chances[n - 1] * mean * (1.0 + variation * before) / ((1.0 + variation * mean) * (before + 1.0));
    }
    return chances;
}

bool has_found_states(QueueLoad const& load, QueueShape const& shape) {
    constexpr double most_work = 2e6, most_mean = 200.0; // of which e^-mean keeps all sums finite
    constexpr int most_places = 20'000;
    bool const exponential = shape.places && *shape.places <= most_places && shape.batch == 1 &&
                             load.service_variation == 1.0 && load.arrivals_per_second > 0.0;
    if (!exponential || load.arrival_variation == 1.0) { return exponential; }
    double const mean = ticks_in_gap(load, shape), places = *shape.places;
    return mean < most_mean && places * places * most_ticks(mean, load.arrival_variation) < most_work;
}

std::vector<double> found_states(QueueLoad const& load, QueueShape const& shape) {
    std::vector<double> found =
        load.arrival_variation == 1.0
            ? of_poisson_arrivals(load.arrivals_per_second * load.service.base(), shape.servers, *shape.places)
            : of_gamma_gaps(load, shape);
    double const sum = std::accumulate(found.begin(), found.end(), 0.0);
    for (double& one : found) { one /= sum; }
    return found;
}

} // namespace headroom::serving::queueing
