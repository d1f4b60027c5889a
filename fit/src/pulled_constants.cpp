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
                                     Patience const& patience) const {
    auto const residuals = [&](std::span<double const> z, std::span<double> r) {
        measured(at(z), r.first(count));
        std::ranges::copy(z, r.subspan(count).begin());
    };
    return least_squares({.count = count + free_.size(), .values = residuals}, std::move(start), patience);
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
