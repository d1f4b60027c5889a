#include "single_server_tail.hpp"

#include "service_time.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace headroom::serving::queueing {
namespace {

constexpr std::size_t steps = 1024;

/// Sums over all samples from each on.
struct Atoms {
    std::vector<double> value, share, first, second;

    void add(double seconds, double chance) {
        value.push_back(seconds);
        share.push_back(chance);
    }
    void finish() {
        share.push_back(0.0);
        first.assign(share.size(), 0.0);
        second.assign(share.size(), 0.0);
        for (std::size_t i = value.size(); i-- > 0;) {
            first[i] = first[i + 1] + share[i] * value[i];
            second[i] = second[i + 1] + share[i] * value[i] * value[i];
            share[i] += share[i + 1];
        }
    }
    [[nodiscard]] std::size_t after(double x) const {
        return static_cast<std::size_t>(std::ranges::upper_bound(value, x) - value.begin());
    }
};

ServiceTail tail_of(Atoms atoms) {
    atoms.finish();
    auto const held = std::make_shared<Atoms const>(std::move(atoms));
    return {.mean = held->first.front(),
            .above = [held](double x) { return held->share[held->after(x)]; },
            .square_above =
                [held](double x) {
                    std::size_t const i = held->after(x);
                    return std::max(0.0, held->second[i] - 2.0 * x * held->first[i] + x * x * held->share[i]);
                }};
}

/// Chances of waits of 0, 1, 2 ... steps.
std::vector<double> waits(double rho, ServiceTail const& service, double step) {
    std::vector<double> after(steps + 1), remainder(steps), wait(steps);
    for (std::size_t k = 0; k < after.size(); ++k) {
        after[k] = service.square_above(static_cast<double>(k) * step) / (2.0 * service.mean * step);
    }
    remainder[0] = 1.0 - (after[0] - after[1]);
    for (std::size_t k = 1; k < steps; ++k) {
        remainder[k] = std::max(0.0, after[k - 1] - 2.0 * after[k] + after[k + 1]);
    }
    double const stays = 1.0 - rho * remainder[0];
    wait[0] = (1.0 - rho) / stays;
    for (std::size_t k = 1; k < steps; ++k) {
        double sum = 0.0;
        for (std::size_t j = 1; j <= k; ++j) { sum += remainder[j] * wait[k - j]; }
        wait[k] = rho * sum / stays;
    }
    return wait;
}

} // namespace

ServiceTail tail_of(double mean, double variation) {
    constexpr double least = 1e-6;
    if (variation < least) {
        Atoms atoms;
        atoms.add(mean, 1.0);
        return tail_of(std::move(atoms));
    }
    double const shape = 1.0 / variation, scale = mean * variation;
    return {.mean = mean,
            .above = [=](double x) { return gamma_above(shape, x / scale); },
            .square_above =
                [=](double x) {
                    double const y = x / scale;
                    return std::max(0.0, scale * scale *
                                             (shape * (shape + 1.0) * gamma_above(shape + 2.0, y) -
                                              2.0 * y * shape * gamma_above(shape + 1.0, y) +
                                              y * y * gamma_above(shape, y)));
                }};
}

ServiceTail tail_of(LatencyHistogram const& samples, double scale) {
    Atoms atoms;
    samples.each([&](LatencyHistogram::Cell const& cell) {
        atoms.add(cell.value * scale, static_cast<double>(cell.count) / static_cast<double>(samples.count()));
    });
    return tail_of(std::move(atoms));
}

bool is_single_server(QueueLoad const& load, QueueShape const& shape) {
    constexpr double hardly_ever = 1e-6; // does a request wait: the service alone is as good
    double const rho = load.arrivals_per_second * load.service.base();
    return shape.servers == 1 && !shape.places && shape.batch == 1 && load.arrival_variation == 1.0 &&
           rho > hardly_ever && rho < 1.0;
}

Seconds single_server_quantile(double rho, ServiceTail const& service, double q, double guess) {
    double range = 1.25 * guess;
    while (true) {
        double const step = range / static_cast<double>(steps);
        std::vector<double> const wait = waits(rho, service, step);
        auto const served_by = [&](double t) {
            double sum = 0.0;
            for (std::size_t k = 0; k < steps && static_cast<double>(k) * step <= t; ++k) {
                sum += wait[k] * (1.0 - service.above(t - static_cast<double>(k) * step));
            }
            return sum;
        };
        double low = 0.0, high = range - step;
        if (served_by(high) < q) {
            range *= 1.5;
            continue;
        }
        while (high - low > 1e-3 * step) {
            double const middle = 0.5 * (low + high);
            (served_by(middle) < q ? low : high) = middle;
        }
        return Seconds{high};
    }
}

} // namespace headroom::serving::queueing
