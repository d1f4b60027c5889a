#pragma once

// Common parts of a fit of scaling laws.

#include "scaling_interval.hpp"

namespace headroom::fit {

/// Samples in rising order with weights of mean 1, repeats reduced where that was asked for.
std::vector<ScalingSample> prepared_samples(ScalingData const& data, FitQuestion const& question);

/// Why a law cannot be fitted to prepared samples; empty when it can.
std::optional<std::string> why_not(ScalingLaw const& law, std::span<ScalingSample const> samples,
                                   FitQuestion const& question);

inline constexpr std::string_view no_fit_words = "no coefficients within its bounds fit these values";

/// Empty where the law has no fit: its curve has no value at any coefficients that were tried.
std::optional<LawFit> fit_prepared(ScalingLaw const& law, ScalingData const& data,
                                   std::vector<ScalingSample> const& samples, FitQuestion const& question);

/// The problem that a fit is the answer of.
Solved resolved(LawFit const& fit, ScalingData const& data, FitQuestion const& question);

struct Choice {
    std::size_t best = 0;
    std::string because;
};
/// The rule of `fit_scaling`. `fits` is not empty.
Choice choose(std::vector<LawFit> const& fits, ScalingData const& data, double last_workers);

/// Growth of a synchronisation, as far as the measurements determine it.
SyncGrowth sync_growth(std::vector<LawFit> const& fits, ScalingData const& data, double last_workers);

/// Question whether the work grows, of times that rise or hardly change while nobody stated so; empty otherwise.
std::string asks_scaling(ScalingData const& data);

/// Largest count with the efficiency that was asked.
std::optional<HeldEfficiency> held_efficiency(LawFit const& fit, ScalingData const& data, FitQuestion const& question);

/// Remarkable findings: points above the ideal, coefficients at bounds, repeats, curves that do not hold.
std::vector<Finding> findings_of(ScalingReport const& report, ScalingData const& data, FitQuestion const& question);

} // namespace headroom::fit
