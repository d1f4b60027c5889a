// One law fitted to a few measurements of any size: coefficients, intervals and predictions that are numbers, or one
// InputError. One law, few counts, and intervals by profiles only of laws with two coefficients: a profile fits anew from
// every start and on every bound for each of its points, and of three coefficients takes 26 s under the sanitizers.

#include "headroom/error.hpp"
#include "headroom/fit/scaling_fit.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fuzzer/FuzzedDataProvider.h>
#include <optional>
#include <string_view>

namespace {

using namespace headroom;
using namespace headroom::fit;

constexpr std::array quantities{Measured::seconds, Measured::throughput, Measured::speedup, Measured::sync,
                                Measured::value};
constexpr std::array scalings{Scaling::unsaid, Scaling::strong, Scaling::weak};
constexpr std::size_t most_samples = 6;

void check(bool true_of_all) {
    if (!true_of_all) { std::abort(); }
}

/// A number, or nothing.
void check(std::optional<double> value) { check(!value || !std::isnan(*value)); }

/// A positive number of any size that a table may hold.
double positive(FuzzedDataProvider& bytes) {
    double const mantissa = 1.0 + bytes.ConsumeIntegral<std::uint16_t>() / 65536.0;
    return std::ldexp(mantissa, bytes.ConsumeIntegral<std::int8_t>());
}

ScalingData data_from(FuzzedDataProvider& bytes) {
    ScalingData data;
    data.measured = bytes.PickValueInArray(quantities);
    data.scaling = bytes.PickValueInArray(scalings);
    while (bytes.remaining_bytes() > 0 && data.samples.size() < most_samples) {
        double const workers = 1.0 + bytes.ConsumeIntegral<std::uint16_t>();
        double const weight = 1.0 + bytes.ConsumeIntegral<std::uint8_t>();
        data.samples.push_back({workers, positive(bytes), weight});
    }
    return data;
}

void check(LawFit const& fit) {
    check(std::isfinite(fit.rss) && fit.rss >= 0.0 && std::isfinite(fit.smape));
    check(fit.aicc);
    check(fit.ceiling);
    for (FittedCoefficient const& c : fit.coefficients) {
        check(std::isfinite(c.value));
        check(c.low);
        check(c.high);
        check(!c.low || !c.high || *c.low <= *c.high);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    FuzzedDataProvider bytes{data, size};
    auto const laws = scaling_laws();
    ScalingLaw const& law = laws[bytes.ConsumeIntegralInRange<std::size_t>(0, laws.size() - 1)];
    FitQuestion question;
    question.laws = {law.name};
    if (law.coefficients.size() == most_coefficients) { question.intervals = Intervals::asymptotic; }
    question.normalise = bytes.ConsumeBool();
    question.relative_errors = bytes.ConsumeBool();
    question.negative_exponents = bytes.ConsumeBool();
    question.centre = bytes.ConsumeBool() ? Centre::median : Centre::mean;
    question.predict = {1.0 + bytes.ConsumeIntegral<std::uint16_t>()};
    ScalingData const measured = data_from(bytes);
    if (measured.samples.empty()) { return 0; }
    try {
        ScalingReport const report = fit_scaling(measured, question);
        for (LawFit const& fit : report.fits) { check(fit); }
        for (ScalingPrediction const& row : report.predictions) { check(row.curve_low); }
    } catch (InputError const& error) { check(std::string_view{error.what()}.find('\n') == std::string_view::npos); }
    return 0;
}
