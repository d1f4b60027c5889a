#include "communication_group.hpp"

#include "scaling_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::fit {

using namespace headroom::network;

namespace {

constexpr double outlier_deviations = 5.0;
constexpr double least_outlier = 0.25; ///< |ln(predicted / measured)|: nearer rows are never called bad
constexpr double usual_noise = 0.02;   ///< likewise: what repeated runs differ by
constexpr double exact = 1e-9;         ///< relative width of intervals where nothing varies: rounding

Line const& line_of(std::vector<Piece> const& pieces, std::size_t row) {
    auto const holds = [&](Piece const& piece) { return row <= piece.last; };
    return std::find_if(pieces.begin(), pieces.end(), holds)->line;
}

std::vector<double> log_errors(std::span<TimedSize const> rows, std::vector<Piece> const& pieces) {
    std::vector<double> errors;
    for (std::size_t i = 0; i < rows.size(); ++i) { errors.push_back(log_error(line_of(pieces, i), rows[i])); }
    return errors;
}

/// Marks rows whose errors are far above the median. Fewer than `enough` rows have no outliers: nothing shows which row
/// is the bad one.
std::vector<bool> outliers_of(std::vector<double> const& errors) {
    constexpr std::size_t enough = 5;
    if (errors.size() < enough) { return std::vector<bool>(errors.size(), false); }
    double const limit = std::max(outlier_deviations * from_median * median_of(errors), least_outlier);
    std::vector<bool> outliers;
    for (double const error : errors) { outliers.push_back(error > limit); }
    return outliers;
}

bool rises(std::span<TimedSize const> rows, std::vector<Piece> const& pieces) {
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
        double const ends = pieces[i].line.at(rows[pieces[i].last]);
        if (pieces[i + 1].line.at(rows[pieces[i + 1].first]) < ends * (1.0 - exact)) { return false; }
    }
    return true;
}

/// Huber's estimates of the pieces' lines; those that were there where the new ones would fall at a seam.
void refine(std::span<TimedSize const> rows, std::vector<bool> const& outliers, double sigma,
            std::vector<Piece>& pieces) {
    std::vector<Piece> refined = pieces;
    for (Piece& piece : refined) {
        auto const begin = outliers.begin() + static_cast<std::ptrdiff_t>(piece.first);
        std::vector<bool> const out{begin, begin + static_cast<std::ptrdiff_t>(piece.last + 1 - piece.first)};
        piece.line = refined_line(rows.subspan(piece.first, out.size()), out, piece.line, sigma);
    }
    if (rises(rows, refined)) { pieces = std::move(refined); }
}

/// Scatter of the kept rows: by their number less the coefficients, two a segment. One more row is added that is off by
/// as much as repeated runs usually are, so that a line through two rows is not called exact.
struct Scatter {
    double sigma = 0.0;
    int degrees_of_freedom = 1;
};

Scatter scatter_of(std::vector<double> const& errors, std::vector<bool> const& outliers, std::size_t pieces) {
    double sum = usual_noise * usual_noise;
    int count = -2 * static_cast<int>(pieces);
    for (std::size_t i = 0; i < errors.size(); ++i) {
        if (outliers[i]) { continue; }
        sum += errors[i] * errors[i];
        ++count;
    }
    int const degrees = std::max(count, 0) + 1;
    return {std::sqrt(sum / degrees), degrees};
}

FittedSegment segment_of(std::span<TimedSize const> rows, std::vector<bool> const& outliers, Piece const& piece,
                         double sigma, double t) {
    std::span const own = rows.subspan(piece.first, piece.last + 1 - piece.first);
    auto const begin = outliers.begin() + static_cast<std::ptrdiff_t>(piece.first);
    std::vector<bool> const out{begin, begin + static_cast<std::ptrdiff_t>(own.size())};
    LineErrors const errors = line_errors(own, out, piece.line);
    FittedSegment segment{
        .from = Bytes{own.front().bytes},
        .to = Bytes{own.back().bytes},
        .alpha_seconds = interval_around(piece.line.alpha, errors.free.alpha, errors.alpha * sigma, t),
        .beta_seconds_per_byte = interval_around(piece.line.beta, errors.free.beta, errors.beta * sigma, t)};
    if (!errors.determined) { // one size: all may be alpha, or all beta
        double const time = piece.line.at(own.back());
        segment.alpha_seconds.low = segment.beta_seconds_per_byte.low = 0.0;
        segment.alpha_seconds.high = time;
        segment.beta_seconds_per_byte.high = own.back().bytes > 0.0 ? time / own.back().bytes : 0.0;
    }
    return segment;
}

void compare(std::span<TimedSize const> rows, std::vector<bool> const& outliers, CommunicationFit& fit) {
    std::vector<double> kept;
    MeasuredCurve const curve = fit.curve();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Seconds const predicted = curve.time(TotalBytes{Bytes{rows[i].bytes}});
        double const error = predicted.base() / rows[i].seconds - 1.0;
        fit.residuals.push_back({rows[i].row, predicted, error, outliers[i]});
        if (!outliers[i]) { kept.push_back(std::abs(error)); }
    }
    std::sort(kept.begin(), kept.end());
    fit.median_relative_error = kept.empty() ? 0.0 : quantile_of(kept, 0.5);
    fit.p90_relative_error = kept.empty() ? 0.0 : quantile_of(kept, 0.9);
}

std::vector<double> errors_of(std::span<TimedSize const> rows, MeasuredCurve const& curve) {
    std::vector<double> errors;
    for (TimedSize const& row : rows) {
        errors.push_back(std::abs(std::log(curve.time(TotalBytes{Bytes{row.bytes}}).base() / row.seconds)));
    }
    return errors;
}

/// Sample of at most `most` rows: each bin of neighbours is represented by the row with the median time of its middle
/// size. All rows where they are fewer.
std::vector<TimedSize> thinned(std::span<TimedSize const> rows) {
    constexpr std::size_t most = 256;
    if (rows.size() <= most) { return {rows.begin(), rows.end()}; }
    std::vector<TimedSize> kept;
    for (std::size_t bin = 0; bin < most; ++bin) {
        std::size_t const begin = bin * rows.size() / most, end = (bin + 1) * rows.size() / most;
        double const size = rows[(begin + end) / 2].bytes;
        auto const smaller = [](TimedSize const& row, double bytes) { return row.bytes < bytes; };
        auto const first = std::lower_bound(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                                            rows.begin() + static_cast<std::ptrdiff_t>(end), size, smaller);
        auto last = first; // rows of one size rise with time
        while (last != rows.begin() + static_cast<std::ptrdiff_t>(end) && last->bytes == size) { ++last; }
        kept.push_back(*(first + (last - first) / 2));
    }
    return kept;
}

/// Spread of runs that measured the same sizes and differ by half or more at most of them.
std::optional<RunSpread> spread_of_runs(std::span<TimedSize const> rows) {
    constexpr double apart = 1.5;
    constexpr std::size_t fewest = 3;
    std::vector<double> ratios;
    std::optional<RunSpread> largest;
    std::size_t sizes = 0;
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
        double least = rows[begin].seconds, most = least;
        for (end = begin; end < rows.size() && rows[end].bytes == rows[begin].bytes; ++end) {
            least = std::min(least, rows[end].seconds);
            most = std::max(most, rows[end].seconds);
        }
        ++sizes;
        if (end - begin < 2) { continue; }
        ratios.push_back(most / least);
        if (most > apart * least) { largest = {Bytes{rows[begin].bytes}, Seconds{least}, Seconds{most}}; }
    }
    std::sort(ratios.begin(), ratios.end());
    bool const repeated = ratios.size() >= fewest && 2 * ratios.size() >= sizes;
    return repeated && quantile_of(ratios, 0.5) > apart ? largest : std::nullopt;
}

void add_remarks(std::span<TimedSize const> rows, CommunicationFit& fit) {
    if (fit.dip) { fit.remarks.push_back(FitRemark::falls); }
    if (fit.spread) { fit.remarks.push_back(FitRemark::runs_differ); }
    FittedSegment const& first = fit.segments.front();
    FittedSegment const& last = fit.segments.back();
    double const smallest = rows.front().bytes, largest = rows.back().bytes;
    if (first.beta_seconds_per_byte.value * smallest > first.alpha_seconds.high) {
        fit.remarks.push_back(FitRemark::loose_alpha);
    }
    if (last.alpha_seconds.low > last.beta_seconds_per_byte.value * largest) {
        fit.remarks.push_back(FitRemark::loose_beta);
    }
}

} // namespace

Fitted interval_around(double value, double free, double error, double t) {
    double const middle = std::max(free, 0.0); // a bound that is reached cuts the interval, and does not move it
    double const low = std::max(0.0, std::min(value * (1.0 - exact), free - t * error));
    return {value, low, std::max(value * (1.0 + exact), middle + t * error)};
}

void fit_group(std::span<TimedSize const> all, CommunicationFit& fit) {
    std::vector<TimedSize> const rows = thinned(all);
    std::vector<Piece> pieces = best_pieces(rows);
    for (int round = 0; round < 2; ++round) { // the second time with outliers of refined lines
        std::vector<double> const errors = log_errors(rows, pieces);
        double const sigma = std::max(from_median * median_of(errors), least_deviation);
        refine(rows, outliers_of(errors), sigma, pieces);
    }
    std::vector<double> const errors = log_errors(rows, pieces);
    std::vector<bool> const outliers = outliers_of(errors);
    Scatter const scatter = scatter_of(errors, outliers, pieces.size());
    double const t = student_t_quantile(interval_share, scatter.degrees_of_freedom);
    fit.relative_spread = scatter.sigma;
    for (Piece const& piece : pieces) { fit.segments.push_back(segment_of(rows, outliers, piece, scatter.sigma, t)); }
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
        fit.switches.push_back(switch_between(rows, outliers, pieces[i], pieces[i + 1], scatter.sigma, t));
    }
    compare(all, rows.size() == all.size() ? outliers : outliers_of(errors_of(all, fit.curve())), fit);
    fit.dip = deepest_dip(rows, outliers);
    fit.spread = spread_of_runs(all);
    add_remarks(rows, fit);
}

} // namespace headroom::fit
