#include "headroom/fit/loggp_fit.hpp"

#include "communication_line.hpp"
#include "scaling_statistics.hpp"

#include "headroom/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace headroom::fit {

using namespace headroom::network;

namespace {

constexpr std::size_t few_repeats = 6;  ///< fewer have no interval that deserves its name
constexpr double large_residual = 0.25; ///< of one train in four, beyond which this network is no LogGP
constexpr double low_end = 0.05, high_end = 0.95;

/// The three kinds of trains of one size.
struct SizeTrains {
    double bytes = 0.0;
    int messages = 1, paced_messages = 1;
    std::vector<double> lone, dense, paced;
    [[nodiscard]] bool whole() const { return !lone.empty() && !dense.empty() && !paced.empty(); }
};

struct Constants {
    double latency = 0.0, overhead = 0.0, overhead_byte = 0.0, gap = 0.0, gap_byte = 0.0;
    [[nodiscard]] double overhead_of(double bytes) const { return overhead + bytes * overhead_byte; }
    [[nodiscard]] double gap_of(double bytes) const { return gap + (bytes - 1.0) * gap_byte; }
    [[nodiscard]] double round_trip(double bytes) const {
        return 2.0 * (latency + 2.0 * overhead_of(bytes) + (bytes - 1.0) * gap_byte);
    }
};

std::vector<SizeTrains> by_size(std::span<MessageTrain const> trains) {
    std::map<double, SizeTrains> sizes;
    for (MessageTrain const& one : trains) {
        double const seconds = one.time.base();
        if (!(one.size.base() >= 1.0) || !std::isfinite(seconds) || one.messages < 1) { continue; }
        SizeTrains& at = sizes[one.size.base()];
        at.bytes = one.size.base();
        if (one.messages == 1) {
            at.lone.push_back(seconds);
        } else if (one.paced) {
            at.paced.push_back(seconds);
            at.paced_messages = one.messages;
        } else {
            at.dense.push_back(seconds);
            at.messages = one.messages;
        }
    }
    std::vector<SizeTrains> whole;
    for (auto& [bytes, at] : sizes) {
        if (at.whole()) { whole.push_back(std::move(at)); }
    }
    return whole;
}

/// The constants that these three medians of each size give.
Constants solve(std::vector<SizeTrains> const& sizes, std::vector<std::array<double, 3>> const& medians) {
    std::vector<TimedSize> gaps, overheads; // a + b x of what each of two differences says
    std::vector<double> gap_scales, overhead_scales;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        auto const [lone, dense, paced] = medians[i];
        double const gap_count = sizes[i].messages - 1.0, pace_count = sizes[i].paced_messages - 1.0;
        gaps.push_back({.bytes = sizes[i].bytes - 1.0, .seconds = (dense - lone) / gap_count});
        gap_scales.push_back(dense / gap_count);
        overheads.push_back({.bytes = sizes[i].bytes, .seconds = (paced - lone) / pace_count});
        overhead_scales.push_back(std::max(paced, lone) / pace_count);
    }
    Constants found;
    Line const gap = least_squares_line(gaps, gap_scales), overhead = least_squares_line(overheads, overhead_scales);
    found.gap = gap.alpha, found.gap_byte = gap.beta;
    found.overhead = overhead.alpha, found.overhead_byte = overhead.beta;
    double const smallest = sizes.front().bytes;
    found.latency =
        std::max(0.0, 0.5 * medians.front()[0] - 2.0 * found.overhead_of(smallest) - (smallest - 1.0) * found.gap_byte);
    return found;
}

std::vector<std::array<double, 3>> medians_of(std::vector<SizeTrains> const& sizes) {
    std::vector<std::array<double, 3>> medians;
    for (SizeTrains const& one : sizes) {
        medians.push_back({median_of(one.lone), median_of(one.dense), median_of(one.paced)});
    }
    return medians;
}

double drawn_median(std::vector<double> const& values, SeededRandom& random) {
    std::vector<double> drawn;
    for (std::size_t i = 0; i < values.size(); ++i) { drawn.push_back(values[random.below(values.size())]); }
    return median_of(std::move(drawn));
}

Fitted interval(double value, std::vector<Constants> const& drawn, double Constants::*member) {
    std::vector<double> values;
    for (Constants const& one : drawn) { values.push_back(one.*member); }
    std::sort(values.begin(), values.end());
    return {value, std::min(value, quantile_of(values, low_end)), std::max(value, quantile_of(values, high_end))};
}

void set_intervals(std::vector<SizeTrains> const& sizes, Constants const& found, LogGpSettings const& settings,
                   LogGpFit& fit) {
    SeededRandom random{settings.seed};
    std::vector<Constants> drawn;
    for (int i = 0; i < std::max(settings.resamples, 1); ++i) {
        std::vector<std::array<double, 3>> medians;
        for (SizeTrains const& one : sizes) {
            medians.push_back(
                {drawn_median(one.lone, random), drawn_median(one.dense, random), drawn_median(one.paced, random)});
        }
        drawn.push_back(solve(sizes, medians));
    }
    fit.latency_seconds = interval(found.latency, drawn, &Constants::latency);
    fit.overhead_seconds = interval(found.overhead, drawn, &Constants::overhead);
    fit.overhead_seconds_per_byte = interval(found.overhead_byte, drawn, &Constants::overhead_byte);
    fit.gap_seconds = interval(found.gap, drawn, &Constants::gap);
    fit.gap_seconds_per_byte = interval(found.gap_byte, drawn, &Constants::gap_byte);
}

void add_residual(LogGpFit& fit, SizeTrains const& at, int messages, bool paced, std::size_t repeats, double measured,
                  double predicted) {
    fit.residuals.push_back({Bytes{at.bytes}, messages, paced, repeats, Seconds{measured}, Seconds{predicted},
                             measured > 0.0 ? predicted / measured - 1.0 : 0.0});
}

void compare(std::vector<SizeTrains> const& sizes, std::vector<std::array<double, 3>> const& medians,
             Constants const& found, LogGpFit& fit) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        SizeTrains const& at = sizes[i];
        double const once = found.round_trip(at.bytes);
        add_residual(fit, at, 1, false, at.lone.size(), medians[i][0], once);
        add_residual(fit, at, at.messages, false, at.dense.size(), medians[i][1],
                     once + (at.messages - 1) * found.gap_of(at.bytes));
        add_residual(fit, at, at.paced_messages, true, at.paced.size(), medians[i][2],
                     once + (at.paced_messages - 1) * found.overhead_of(at.bytes));
    }
    std::vector<double> errors;
    for (LogGpResidual const& one : fit.residuals) { errors.push_back(std::abs(one.relative_error)); }
    fit.median_relative_error = median_of(std::move(errors));
}

void add_notes(std::vector<SizeTrains> const& sizes, LogGpFit& fit) {
    std::size_t fewest = sizes.front().lone.size();
    for (SizeTrains const& one : sizes) {
        fewest = std::min({fewest, one.lone.size(), one.dense.size(), one.paced.size()});
    }
    if (fewest < few_repeats) {
        fit.notes.push_back("some train has " + std::to_string(fewest) +
                            " repeats: with fewer than six the intervals cover less than they say");
    }
    std::vector<double> errors;
    for (LogGpResidual const& one : fit.residuals) { errors.push_back(std::abs(one.relative_error)); }
    std::sort(errors.begin(), errors.end());
    if (quantile_of(errors, 0.75) > large_residual) {
        fit.notes.emplace_back(
            "one train in four or more is off by more than 25 %: this network is no LogGP on these sizes, and "
            "the constants are rough");
    }
    if (fit.latency_seconds.value <= 0.0) {
        fit.notes.emplace_back("the processors' overheads are all of the smallest round trip: L does not show");
    }
}

} // namespace

LogGp LogGpFit::model() const {
    return {.latency = Seconds{latency_seconds.value},
            .overhead = Seconds{overhead_seconds.value},
            .gap = Seconds{gap_seconds.value},
            .gap_byte = SecondsPerByte{gap_seconds_per_byte.value},
            .overhead_byte = SecondsPerByte{overhead_seconds_per_byte.value}};
}

LogGpFit fit_loggp(std::span<MessageTrain const> trains, LogGpSettings const& settings) {
    std::vector<SizeTrains> const sizes = by_size(trains);
    if (sizes.size() < 2) {
        too_little("LogGP", std::to_string(sizes.size()) + " sizes have all three kinds of trains", "a line needs two");
    }
    std::vector<std::array<double, 3>> const medians = medians_of(sizes);
    Constants const found = solve(sizes, medians);
    LogGpFit fit;
    set_intervals(sizes, found, settings, fit);
    compare(sizes, medians, found, fit);
    add_notes(sizes, fit);
    return fit;
}

} // namespace headroom::fit
