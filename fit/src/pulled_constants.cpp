#include "pulled_constants.hpp"

#include <algorithm>
#include <utility>

namespace headroom::fit {

using namespace headroom::training;

Calibration PulledConstants::at(std::span<double const> z) const {
    Calibration values = base_.values();
    for (std::size_t i = 0; i < free_.size(); ++i) {
        auto const& known = base_[free_[i]];
        values[free_[i]] = known.independent * std::exp(known.spread * z[i]);
    }
    return values;
}

std::vector<double> PulledConstants::z_of(CalibrationSet const& set) const {
    std::vector<double> z;
    for (Constant const id : free_) { z.push_back(std::log(set[id].value / base_[id].independent) / base_[id].spread); }
    return z;
}

LeastSquares PulledConstants::solved(std::size_t count, Measured const& measured, std::vector<double> start,
                                     Patience const& patience, Slopes const& slopes) const {
    Residuals residuals{.count = count + free_.size(), .values = {}};
    residuals.values = [&](std::span<double const> z, std::span<double> r) {
        measured(at(z), r.first(count));
        std::ranges::copy(z, r.subspan(count).begin());
    };
    if (slopes) {
        residuals.slopes = [&](std::span<double const> z, Matrix& jacobian) {
            slopes(at(z), jacobian);
            for (std::size_t j = 0; j < free_.size(); ++j) {
                for (std::size_t i = 0; i < free_.size(); ++i) { jacobian(count + i, j) = i == j ? 1.0 : 0.0; }
            }
        };
    }
    return least_squares(residuals, std::move(start), patience);
}

Matrix PulledConstants::slopes(std::size_t count, Measured const& measured, std::span<double const> z,
                               Patience const& patience) const {
    return differences(
        {.count = count, .values = [&](std::span<double const> at_z, std::span<double> r) { measured(at(at_z), r); }},
        z, patience);
}

void set_fitted(CalibratedConstant& constant, double value, double error) {
    constexpr double ninety_per_cent = 1.6449; // of a normal distribution, in standard deviations to either side
    constant.value = value;
    constant.low = value * std::exp(-ninety_per_cent * error);
    constant.high = value * std::exp(ninety_per_cent * error);
}

std::map<std::string, double> information_by_name(std::span<double const> slopes,
                                                  std::span<std::string const* const> names) {
    std::map<std::string, double> information;
    for (std::size_t i = 0; i < names.size(); ++i) { information[*names[i]] += slopes[i] * slopes[i]; }
    return information;
}

} // namespace headroom::fit
