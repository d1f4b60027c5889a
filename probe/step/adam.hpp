#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace headroom::training {

/// One step of Adam on all parameters.
///
///     m = a m + (1-a) g,  v = b v + (1-b) g^2,  w = w - r (m / (1-a^t)) / (sqrt(v / (1-b^t)) + e)
///
/// Holds for:  a = 0.9, b = 0.99, r = 0.001, e = 1e-6; t counts steps from 1.
/// Source:     [KingmaBa2015]
template <class Real> class Adam {
public:
    explicit Adam(std::size_t parameters) : first_(parameters), second_(parameters) {}

    void step(std::span<Real> parameters, std::span<Real const> gradients) {
        constexpr Real a = Real(0.9), b = Real(0.99), rate = Real(1e-3), least = Real(1e-6);
        ++steps_;
        Real const of_first = Real(1.0 / (1.0 - std::pow(0.9, steps_)));
        Real const of_second = Real(1.0 / (1.0 - std::pow(0.99, steps_)));
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            Real const slope = gradients[i];
            first_[i] = a * first_[i] + (Real{1} - a) * slope;
            second_[i] = b * second_[i] + (Real{1} - b) * slope * slope;
            parameters[i] -= rate * first_[i] * of_first / (std::sqrt(second_[i] * of_second) + least);
        }
    }

private:
    std::vector<Real> first_, second_;
    int steps_ = 0;
};

} // namespace headroom::training
