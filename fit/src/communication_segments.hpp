#pragma once

// Straight pieces through times over sizes: which rows belong to which piece, and how well they do.

#include <cstddef>
#include <span>
#include <vector>

namespace headroom::fit {

/// One row of a group, as plain numbers.
struct TimedSize {
    double bytes = 0.0, seconds = 0.0;
    std::size_t row = 0; ///< index into what was given
};

/// alpha + n beta.
struct Line {
    double alpha = 0.0, beta = 0.0;
    [[nodiscard]] double at(double bytes) const { return alpha + bytes * beta; }
};

/// Rows [first, last] of what was given, in rising order of size, and the line through them.
struct Piece {
    std::size_t first = 0, last = 0;
    Line line;
};

/// What decides how many pieces there are; the defaults are justified by cross-validation (docs/guide/comm-fit.md).
struct PieceRule {
    std::size_t least_sizes = 2;  ///< of a piece, distinct
    std::size_t most_pieces = 8;  ///< of a group
    double price = 1.0;           ///< of one more piece, in units of ln(rows)
    double noise = 0.02;          ///< relative: what repeated runs differ by, and no piece needs to explain
    double most_counted = 0.4055; ///< ln 1.5: a row that is farther off costs no more than this
};

/// Where each size begins in rows that rise with size, and one past the last row.
std::vector<std::size_t> size_starts(std::span<TimedSize const> rows);

/// |ln(predicted / measured)| of one row.
double log_error(Line const& line, TimedSize const& row);

/// Least absolute relative errors, alpha, beta >= 0, by iteratively reweighted least squares. `scale` is what the
/// errors of each row are relative to at first (a smoothed time, so that one wrong row has no weight of its own);
/// later it is the predicted time.
Line least_absolute_line(std::span<TimedSize const> rows, std::span<double const> scale);

/// Weighted least squares with alpha, beta >= 0.
Line weighted_line(std::span<TimedSize const> rows, std::span<double const> weights);

/// The times of neighbouring sizes' medians, smoothed by a running median of five.
std::vector<double> smoothed_times(std::span<TimedSize const> rows);

/// The pieces that a group is made of, non-decreasing across their seams: for each number of pieces the best split by
/// dynamic programming, then the number with the least
///
///     N ln(S / N + noise) + price (pieces - 1) ln N        S the sum of capped |ln(predicted / measured)|
///
/// `rows` rise with size and are not empty.
std::vector<Piece> best_pieces(std::span<TimedSize const> rows, PieceRule const& rule = {});

} // namespace headroom::fit
