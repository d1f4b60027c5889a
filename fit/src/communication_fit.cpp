#include "headroom/fit/communication_fit.hpp"

#include "communication_segments.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace headroom::fit {
namespace {

using GroupKey = std::tuple<std::string, Collective, std::string, std::string, std::string, int, int>;

GroupKey key_of(MeasuredCollective const& row) {
    return {row.system, row.collective, row.algorithm, row.protocol, row.data_type, row.ranks, row.nodes};
}

bool usable(MeasuredCollective const& row) {
    double const bytes = row.size.size.base(), seconds = row.time.base();
    return std::isfinite(bytes) && bytes >= 0.0 && std::isfinite(seconds) && seconds > 0.0;
}

double median_of(std::vector<double> values) {
    if (values.empty()) { return 0.0; }
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) { return *middle; }
    return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

double at(FittedSegment const& segment, double bytes) {
    return segment.alpha_seconds.value + bytes * segment.beta_seconds_per_byte.value;
}

/// Between the last size of one segment and the first of the next: along the lines where they meet there, else along
/// a straight line on logarithmic scales, since nobody knows where in between the time jumps.
double between(FittedSegment const& low, FittedSegment const& high, double bytes) {
    double const slopes = low.beta_seconds_per_byte.value - high.beta_seconds_per_byte.value;
    double const meet = slopes == 0.0 ? -1.0 : (high.alpha_seconds.value - low.alpha_seconds.value) / slopes;
    double const from = low.to.base(), to = high.from.base();
    if (meet >= from && meet <= to) { return at(bytes < meet ? low : high, bytes); }
    double const begin = at(low, from), end = at(high, to);
    if (from <= 0.0 || begin <= 0.0 || end <= 0.0) { return begin + (end - begin) * (bytes - from) / (to - from); }
    double const share = std::log(bytes / from) / std::log(to / from);
    return begin * std::pow(end / begin, share);
}

constexpr double outlier_sigmas = 5.0;
constexpr double least_outlier = 0.25; ///< |ln(predicted / measured)|

void compare(CommunicationFit& fit, std::vector<TimedSize> const& rows) {
    std::vector<double> errors;
    for (TimedSize const& row : rows) {
        Seconds const predicted = fit.time(TotalBytes{Bytes{row.bytes}});
        fit.residuals.push_back({row.row, predicted, predicted.base() / row.seconds - 1.0, false});
        errors.push_back(std::abs(std::log(predicted.base() / row.seconds)));
    }
    double const limit = std::max(outlier_sigmas * 1.4826 * median_of(errors), least_outlier);
    std::vector<double> kept;
    for (std::size_t i = 0; i < errors.size(); ++i) {
        fit.residuals[i].outlier = errors[i] > limit;
        if (!fit.residuals[i].outlier) { kept.push_back(std::abs(fit.residuals[i].relative_error)); }
    }
    fit.median_relative_error = median_of(kept);
}

CommunicationFit fit_group(std::vector<TimedSize> const& rows, MeasuredCollective const& like) {
    CommunicationFit fit;
    fit.system = like.system;
    fit.collective = like.collective;
    fit.algorithm = like.algorithm;
    fit.ranks = like.ranks;
    fit.nodes = like.nodes;
    for (Piece const& piece : best_pieces(rows)) {
        Line const& line = piece.line;
        fit.segments.push_back({Bytes{rows[piece.first].bytes},
                                Bytes{rows[piece.last].bytes},
                                {line.alpha, line.alpha, line.alpha},
                                {line.beta, line.beta, line.beta}});
    }
    compare(fit, rows);
    return fit;
}

} // namespace

Seconds CommunicationFit::time(TotalBytes n) const {
    double const bytes = n.size.base();
    for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
        if (bytes <= segments[i].to.base()) { return Seconds{at(segments[i], bytes)}; }
        if (bytes < segments[i + 1].from.base()) { return Seconds{between(segments[i], segments[i + 1], bytes)}; }
    }
    return segments.empty() ? Seconds{} : Seconds{at(segments.back(), bytes)};
}

CommunicationFits fit_communication(std::span<MeasuredCollective const> rows,
                                    CommunicationFitSettings const& settings) {
    std::map<GroupKey, std::vector<TimedSize>> groups;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!usable(rows[i])) { continue; }
        groups[key_of(rows[i])].push_back({rows[i].size.size.base(), rows[i].time.base(), i});
    }
    CommunicationFits fits;
    for (auto& [key, group] : groups) {
        std::sort(group.begin(), group.end(), [](TimedSize const& a, TimedSize const& b) {
            return std::tie(a.bytes, a.seconds, a.row) < std::tie(b.bytes, b.seconds, b.row);
        });
        MeasuredCollective const& like = rows[group.front().row];
        std::size_t const sizes = size_starts(group).size() - 1;
        if (sizes < settings.least_sizes) {
            fits.skipped.push_back(
                {like.system, like.collective, like.ranks, like.nodes, group.size(), sizes, "too few sizes"});
            continue;
        }
        fits.fits.push_back(fit_group(group, like));
    }
    return fits;
}

} // namespace headroom::fit
