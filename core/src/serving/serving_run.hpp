#pragma once

#include <algorithm>
#include <cmath>

namespace headroom::serving {

/// Iterations in a row of which each takes longer than the one before by the same time, and none less than the host does:
///
///     t_j = max(least, first + j growth)        j = 0, 1, ...
struct ServingRun {
    double first = 0.0, growth = 0.0, least = 0.0;

    /// Iterations at the start that the host bounds, of n.
    [[nodiscard]] double bounded(double n) const {
        if (first >= least) { return 0.0; }
        return growth > 0.0 ? std::min(n, std::ceil((least - first) / growth)) : n;
    }

    /// Time of the first n.
    [[nodiscard]] double sum(double n) const {
        if (first >= least) { return n * (first + 0.5 * growth * (n - 1.0)); }
        double const b = bounded(n);
        return b * least + (n - b) * (first + 0.5 * growth * (n - 1.0 + b));
    }

    /// Sum of t_j (value + j step) over the first n: what something that grows comes to over time.
    [[nodiscard]] double weighted(double n, double value, double step) const {
        double const b = bounded(n);
        auto const ones = [](double k) { return 0.5 * k * (k - 1.0); };
        auto const squares = [](double k) { return k * (k - 1.0) * (2.0 * k - 1.0) / 6.0; };
        double const index = ones(n) - ones(b), square = squares(n) - squares(b);
        return least * (b * value + step * ones(b)) + first * value * (n - b) +
               (first * step + growth * value) * index + growth * step * square;
    }

    /// The fewest iterations, of 1 to n, after which so much time has passed.
    [[nodiscard]] double reaching(double seconds, double n) const {
        double guess = std::ceil(seconds / std::max(first, least));
        if (growth > 0.0 && first >= least) {
            double const half = 0.5 * growth, linear = first - half;
            guess = std::ceil(2.0 * seconds / (linear + std::sqrt(linear * linear + 4.0 * half * seconds)));
        }
        if (!(guess >= 1.0)) { guess = 1.0; }
        guess = std::min(guess, n);
        if (growth > 0.0 && first < least) { return searched(seconds, n); }
        while (guess > 1.0 && sum(guess - 1.0) >= seconds) { guess -= 1.0; }
        while (guess < n && sum(guess) < seconds) { guess += 1.0; }
        return guess;
    }

private:
    [[nodiscard]] double searched(double seconds, double n) const {
        double low = 1.0, high = n;
        while (low < high) {
            double const middle = std::floor(0.5 * (low + high));
            if (sum(middle) >= seconds) {
                high = middle;
            } else {
                low = middle + 1.0;
            }
        }
        return low;
    }
};

} // namespace headroom::serving
