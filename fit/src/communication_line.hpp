#pragma once

// One straight line through times over sizes, with errors that are shares of the time.

#include "scaling_statistics.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace headroom::fit {

/// One row of a group, as plain numbers: given + messages alpha + bytes beta should be `seconds`.
struct TimedSize {
    double bytes = 0.0, seconds = 0.0;
    std::size_t row = 0;   ///< index into what was given
    double messages = 1.0; ///< one after the other; 1: alpha is of the whole collective
    double given = 0.0;    ///< time that something else explains
};

struct Line {
    double alpha = 0.0, beta = 0.0;
    [[nodiscard]] double at(TimedSize const& row) const { return row.given + row.messages * alpha + row.bytes * beta; }
};

/// Where each size begins in rows that rise with size, and one past the last row.
std::vector<std::size_t> size_starts(std::span<TimedSize const> rows);

/// |ln(predicted / measured)| of one row.
double log_error(Line const& line, TimedSize const& row);

/// The medians of the times of each size, smoothed by a running median of five; a value a row.
std::vector<double> smoothed_times(std::span<TimedSize const> rows);

/// Least squares of errors over `scale`, alpha, beta >= 0.
Line least_squares_line(std::span<TimedSize const> rows, std::span<double const> scale);

/// Least absolute relative errors, alpha, beta >= 0, by iteratively reweighted least squares. `scale` is what the
/// errors of each row are relative to at first (a smoothed time, so that one wrong row has no weight of its own);
/// later it is the predicted time.
/// Source: [HollandWelsch1977]
Line least_absolute_line(std::span<TimedSize const> rows, std::span<double const> scale);

/// Huber's estimate around a line that is nearly right: errors up to 1.345 `sigma` of the predicted time count
/// squared, larger ones linearly, rows that are left out not at all.
/// Source: [HollandWelsch1977]
Line refined_line(std::span<TimedSize const> rows, std::vector<bool> const& left_out, Line line, double sigma);

/// Standard errors of the two coefficients of a line, by the curvature of the sum of squares at its minimum.
struct LineErrors {
    Line free;              ///< the minimum without bounds, around which the intervals lie
    double alpha = 0.0;     ///< standard error over sigma
    double beta = 0.0;      ///< likewise
    bool determined = true; ///< false where the rows tell alpha and beta not apart
};
LineErrors line_errors(std::span<TimedSize const> rows, std::vector<bool> const& left_out, Line line);

} // namespace headroom::fit
