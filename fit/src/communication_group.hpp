#pragma once

// One group of rows: the pieces it is made of, how far they may be off, and what stands out.

#include "communication_segments.hpp"

#include "headroom/fit/communication_fit.hpp"

namespace headroom::fit {

constexpr double interval_share = 0.95;   ///< below the upper end of a 90 % interval
constexpr double from_median = 1.4826;    ///< standard deviation over median absolute error where errors are normal
constexpr double least_deviation = 0.001; ///< relative: clocks are no better

/// value +- t error, not below zero; `error` in units of the value.
Fitted interval_around(double value, double free, double error, double t);

/// Everything of a fit that follows from its rows, which rise with size, then time, and are not empty; `fit` says
/// whose they are.
void fit_group(std::span<TimedSize const> all, CommunicationFit& fit);

/// The deepest fall of bytes a second as sizes grow; empty where none is deeper than a tenth.
std::optional<BandwidthDip> deepest_dip(std::span<TimedSize const> rows, std::vector<bool> const& left_out);

/// Where pieces `left` and `right` (which follow each other) meet, and which other splits are about as good.
SwitchPoint switch_between(std::span<TimedSize const> rows, std::vector<bool> const& left_out, Piece const& left,
                           Piece const& right, double sigma, double t);

} // namespace headroom::fit
