#include "communication_line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::fit {
namespace {

constexpr int reweightings = 25;
constexpr double least_error = 1e-4; ///< relative: below it rows count alike
constexpr double huber = 1.345;      ///< 95 % as good as least squares where errors are normal
constexpr double singular = 1e-12;   ///< of a determinant, relative

/// Sums of one weighted problem, t = m alpha + n beta.
struct Moments {
    double mm = 0.0, mn = 0.0, nn = 0.0, mt = 0.0, nt = 0.0, tt = 0.0;

    void add(TimedSize const& row, double weight) {
        double const m = row.messages, n = row.bytes, t = row.seconds - row.given;
        mm += weight * m * m;
        mn += weight * m * n;
        nn += weight * n * n;
        mt += weight * m * t;
        nt += weight * n * t;
        tt += weight * t * t;
    }
    [[nodiscard]] double loss(Line line) const {
        return tt + line.alpha * line.alpha * mm + line.beta * line.beta * nn +
               2.0 * (line.alpha * line.beta * mn - line.alpha * mt - line.beta * nt);
    }
    [[nodiscard]] double determinant() const { return mm * nn - mn * mn; }
    [[nodiscard]] bool determined() const { return determinant() > singular * mm * nn; }
    [[nodiscard]] Line free() const {
        return {(mt * nn - nt * mn) / determinant(), (nt * mm - mt * mn) / determinant()};
    }
};

/// Least squares with alpha, beta >= 0: the free minimum, or the better of the two edges.
Line non_negative(Moments const& sums) {
    if (sums.determined()) {
        Line const free = sums.free();
        if (free.alpha >= 0.0 && free.beta >= 0.0) { return free; }
    }
    Line const flat{sums.mm > 0.0 ? std::max(0.0, sums.mt / sums.mm) : 0.0, 0.0};
    Line const rising{0.0, sums.nn > 0.0 ? std::max(0.0, sums.nt / sums.nn) : 0.0};
    return sums.nn > 0.0 && sums.loss(rising) < sums.loss(flat) ? rising : flat;
}

bool settled(Line a, Line b) {
    return std::abs(a.alpha - b.alpha) <= 1e-9 * b.alpha && std::abs(a.beta - b.beta) <= 1e-9 * b.beta;
}

/// One weighted solution; `weight` of each row is over the square of what its error is relative to.
template <class Weight> Line solve(std::span<TimedSize const> rows, Weight const& weight) {
    Moments sums;
    for (std::size_t i = 0; i < rows.size(); ++i) { sums.add(rows[i], weight(i)); }
    return non_negative(sums);
}

} // namespace

std::vector<std::size_t> size_starts(std::span<TimedSize const> rows) {
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i == 0 || rows[i].bytes != rows[i - 1].bytes) { starts.push_back(i); }
    }
    starts.push_back(rows.size());
    return starts;
}

double log_error(Line const& line, TimedSize const& row) {
    double const predicted = line.at(row);
    return predicted > 0.0 ? std::abs(std::log(predicted / row.seconds)) : std::numeric_limits<double>::infinity();
}

std::vector<double> smoothed_times(std::span<TimedSize const> rows) {
    std::vector<std::size_t> const starts = size_starts(rows);
    std::vector<double> medians;
    for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
        std::vector<double> times;
        for (std::size_t i = starts[k]; i < starts[k + 1]; ++i) { times.push_back(rows[i].seconds); }
        medians.push_back(median_of(std::move(times)));
    }
    std::vector<double> smoothed(rows.size());
    for (std::size_t k = 0; k < medians.size(); ++k) {
        std::size_t const half = std::min({std::size_t{2}, k, medians.size() - 1 - k});
        std::size_t const reach = half == 0 && medians.size() > 2 ? 1 : half;
        std::size_t const from = k >= reach ? k - reach : 0, to = std::min(k + reach, medians.size() - 1);
        double const middle = median_of({medians.begin() + static_cast<std::ptrdiff_t>(from),
                                         medians.begin() + static_cast<std::ptrdiff_t>(to) + 1});
        for (std::size_t i = starts[k]; i < starts[k + 1]; ++i) { smoothed[i] = middle; }
    }
    return smoothed;
}

Line least_squares_line(std::span<TimedSize const> rows, std::span<double const> scale) {
    return solve(rows, [&](std::size_t i) { return 1.0 / (scale[i] * scale[i]); });
}

Line least_absolute_line(std::span<TimedSize const> rows, std::span<double const> scale) {
    Line line = least_squares_line(rows, scale);
    for (int round = 0; round < reweightings; ++round) {
        bool const late = round >= reweightings / 2;
        Line const next = solve(rows, [&](std::size_t i) {
            double const predicted = line.at(rows[i]);
            double const against = late && predicted > 0.0 ? predicted : scale[i];
            double const error = std::abs(predicted - rows[i].seconds) / against;
            return 1.0 / (against * against * std::max(error, least_error));
        });
        bool const done = late && settled(next, line);
        line = next;
        if (done) { break; }
    }
    return line;
}

Line refined_line(std::span<TimedSize const> rows, std::vector<bool> const& left_out, Line line, double sigma) {
    for (int round = 0; round < reweightings; ++round) {
        Line const next = solve(rows, [&](std::size_t i) {
            double const predicted = line.at(rows[i]);
            if (left_out[i] || !(predicted > 0.0)) { return 0.0; }
            double const error = std::abs(predicted - rows[i].seconds) / predicted;
            double const share = error > huber * sigma ? huber * sigma / error : 1.0;
            return share / (predicted * predicted);
        });
        if (!(next.alpha + next.beta > 0.0)) { return line; } // every row was left out
        bool const done = settled(next, line);
        line = next;
        if (done) { break; }
    }
    return line;
}

LineErrors line_errors(std::span<TimedSize const> rows, std::vector<bool> const& left_out, Line line) {
    Moments sums;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double const predicted = line.at(rows[i]);
        if (!left_out[i] && predicted > 0.0) { sums.add(rows[i], 1.0 / (predicted * predicted)); }
    }
    if (!sums.determined()) { return {line, 0.0, 0.0, false}; }
    Line const free = line.alpha > 0.0 && line.beta > 0.0 ? line : sums.free();
    return {free, std::sqrt(sums.nn / sums.determinant()), std::sqrt(sums.mm / sums.determinant()), true};
}

} // namespace headroom::fit
