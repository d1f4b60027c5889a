#include "communication_group.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::fit {
namespace {

constexpr double least_fall = 0.10; ///< of bytes a second that is worth a word

/// A sum of squares over sigma^2, capped so that one row cannot decide.
double distance(std::span<TimedSize const> rows, std::vector<bool> const& left_out, Line line, double sigma) {
    constexpr double most = 9.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (left_out[i]) { continue; }
        double const error = std::min(log_error(line, rows[i]), 10.0) / sigma;
        sum += std::min(error * error, most);
    }
    return sum;
}

std::vector<bool> part_of(std::vector<bool> const& flags, std::size_t first, std::size_t last) {
    return {flags.begin() + static_cast<std::ptrdiff_t>(first), flags.begin() + static_cast<std::ptrdiff_t>(last) + 1};
}

/// The two pieces refitted when the second begins at `start`.
double split_distance(std::span<TimedSize const> rows, std::vector<bool> const& left_out, Piece const& left,
                      Piece const& right, std::size_t start, double sigma) {
    std::span const low = rows.subspan(left.first, start - left.first);
    std::span const high = rows.subspan(start, right.last + 1 - start);
    std::vector<bool> const out_low = part_of(left_out, left.first, start - 1);
    std::vector<bool> const out_high = part_of(left_out, start, right.last);
    return distance(low, out_low, refined_line(low, out_low, left.line, sigma), sigma) +
           distance(high, out_high, refined_line(high, out_high, right.line, sigma), sigma);
}

} // namespace

SwitchPoint switch_between(std::span<TimedSize const> rows, std::vector<bool> const& left_out, Piece const& left,
                           Piece const& right, double sigma, double t) {
    double low = rows[left.last].bytes, high = rows[right.first].bytes;
    double const slopes = left.line.beta - right.line.beta;
    double const meet = slopes == 0.0 ? -1.0 : (right.line.alpha - left.line.alpha) / slopes;
    SwitchPoint point;
    point.jumps = !(meet >= low && meet <= high);
    point.bytes.value = !point.jumps ? meet : low > 0.0 ? std::sqrt(low * high) : 0.5 * high;
    double const least = split_distance(rows, left_out, left, right, right.first, sigma);
    for (std::size_t start = left.first + 1; start <= right.last; ++start) {
        bool const same_size = rows[start].bytes == rows[start - 1].bytes;
        if (same_size || start == right.first) { continue; }
        if (split_distance(rows, left_out, left, right, start, sigma) > least + t * t) { continue; }
        low = std::min(low, rows[start - 1].bytes);
        high = std::max(high, rows[start].bytes);
    }
    point.bytes.low = low;
    point.bytes.high = high;
    return point;
}

std::optional<BandwidthDip> deepest_dip(std::span<TimedSize const> rows, std::vector<bool> const& left_out) {
    struct Rate {
        double bytes = 0.0, rate = 0.0;
    };
    std::vector<Rate> rates;
    std::vector<std::size_t> const starts = size_starts(rows);
    for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
        std::vector<double> times;
        bool const last = k + 2 == starts.size(); // nothing after it tells a bad row from a network that gives way
        for (std::size_t i = starts[k]; i < starts[k + 1]; ++i) {
            if (!left_out[i] || last) { times.push_back(rows[i].seconds); }
        }
        if (!times.empty()) { rates.push_back({rows[starts[k]].bytes, rows[starts[k]].bytes / median_of(times)}); }
    }
    std::optional<BandwidthDip> dip;
    Rate most;
    for (Rate const& here : rates) {
        if (here.rate > most.rate) { most = here; }
        bool const falls = here.rate < (1.0 - least_fall) * most.rate;
        if (falls && (!dip || here.rate / most.rate < dip->kept)) {
            dip = BandwidthDip{Bytes{most.bytes}, Bytes{here.bytes}, here.rate / most.rate, false};
        }
    }
    if (!dip) { return dip; }
    auto const before =
        std::find_if(rates.begin(), rates.end(), [&](Rate const& one) { return one.bytes == dip->from.base(); });
    dip->ends = std::any_of(before, rates.end(), [&](Rate const& one) {
        return one.bytes > dip->to.base() && one.rate >= (1.0 - least_fall) * before->rate;
    });
    return dip;
}

} // namespace headroom::fit
