#pragma once

// Constants of the step model as unknowns of a least-squares problem, each pulled towards its independent value.

#include "least_squares.hpp"

#include "headroom/training/calibration.hpp"

#include <map>
#include <string>

namespace headroom::fit {

/// The unknowns z_i = log(c_i / c_i0) / spread_i: a pull is a residual z_i, and all of them have one scale.
class PulledConstants {
public:
    PulledConstants(training::CalibrationSet const& independent, std::vector<training::Constant> free)
        : base_{independent}, free_{std::move(free)} {}

    [[nodiscard]] std::vector<training::Constant> const& free() const { return free_; }
    /// The constants at z; those that are not free as in the independent set.
    [[nodiscard]] training::Calibration at(std::span<double const> z) const;
    /// The z of the constants of another set.
    [[nodiscard]] std::vector<double> z_of(training::CalibrationSet const& set) const;

    /// Writes the residuals of what was measured, given the constants.
    using Measured = std::function<void(training::Calibration const&, std::span<double>)>;
    /// Writes the derivatives of these residuals by z into the first `count` rows.
    using Slopes = std::function<void(training::Calibration const&, Matrix&)>;
    /// The z with the least sum of squares of `count` measured residuals and the pulls; without slopes, differences.
    [[nodiscard]] LeastSquares solved(std::size_t count, Measured const& measured, std::vector<double> start,
                                      Patience const& patience, Slopes const& slopes = {}) const;
    /// Derivatives of `count` measured quantities by z there, `count` rows; by central differences.
    [[nodiscard]] Matrix slopes(std::size_t count, Measured const& measured, std::span<double const> z,
                                Patience const& patience) const;

private:
    training::CalibrationSet const& base_;
    std::vector<training::Constant> free_;
};

/// Sets a value with its 90 % interval, given the standard error of its logarithm.
void set_fitted(training::CalibratedConstant& constant, double value, double error);

/// Information of each name's rows on a constant, against 1 of its pull: the sum of squares of their slopes.
std::map<std::string, double> information_by_name(std::span<double const> slopes,
                                                  std::span<std::string const* const> names);

} // namespace headroom::fit
