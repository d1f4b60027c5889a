// One law fitted to a few measurements of any size: coefficients, intervals and predictions that are numbers, or one
// InputError. One law, few counts, and intervals by profiles only of laws with two coefficients: a profile fits anew from
// every start and on every bound for each of its points, and of three coefficients takes 26 s under the sanitizers.

#include "fuzz/require.hpp"

#include "headroom/error.hpp"
#include "headroom/fit/scaling_fit.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace {

using namespace headroom;
using namespace headroom::fit;

constexpr std::array quantities{Measured::seconds, Measured::throughput, Measured::speedup, Measured::sync,
                                Measured::value};
constexpr std::array scalings{Scaling::unsaid, Scaling::strong, Scaling::weak};
constexpr std::size_t most_samples = 6;

/// A number, or nothing.
void check(std::optional<double> value) { require(!value || !std::isnan(*value)); }

/// Numbers from bytes, the last first; zeros once all are used.
class Numbers {
public:
    explicit Numbers(std::span<std::uint8_t const> bytes) : bytes_{bytes} {}
    [[nodiscard]] bool left() const { return !bytes_.empty(); }

    /// A whole number below `count`, of one byte, or of two where it needs them.
    unsigned below(unsigned count) {
        unsigned value = 0;
        for (unsigned most = count - 1; most > 0 && left(); most >>= 8U) {
            value = value << 8U | bytes_.back();
            bytes_ = bytes_.first(bytes_.size() - 1);
        }
        return value % count;
    }
    template <class Value, std::size_t count> Value one_of(std::array<Value, count> const& values) {
        return values[below(count)];
    }

private:
    std::span<std::uint8_t const> bytes_;
};

/// A positive number of any size that a table may hold.
double positive(Numbers& numbers) {
    double const mantissa = 1.0 + numbers.below(65536) / 65536.0;
    return std::ldexp(mantissa, static_cast<int>(numbers.below(256)) - 128);
}

ScalingData data_from(Numbers& numbers) {
    ScalingData data;
    data.measured = numbers.one_of(quantities);
    data.scaling = numbers.one_of(scalings);
    while (numbers.left() && data.samples.size() < most_samples) {
        double const workers = 1.0 + numbers.below(65536);
        double const weight = 1.0 + numbers.below(256);
        data.samples.push_back({workers, positive(numbers), weight});
    }
    return data;
}

void check(LawFit const& fit) {
    require(std::isfinite(fit.rss) && fit.rss >= 0.0 && std::isfinite(fit.smape));
    check(fit.aicc);
    check(fit.ceiling);
    for (FittedCoefficient const& c : fit.coefficients) {
        require(std::isfinite(c.value));
        check(c.low);
        check(c.high);
        require(!c.low || !c.high || *c.low <= *c.high);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    Numbers numbers{{data, size}};
    auto const laws = scaling_laws();
    ScalingLaw const& law = laws[numbers.below(static_cast<unsigned>(laws.size()))];
    FitQuestion question;
    question.laws = {law.name};
    if (law.coefficients.size() == most_coefficients) { question.intervals = Intervals::asymptotic; }
    question.normalise = numbers.below(2) == 1;
    question.relative_errors = numbers.below(2) == 1;
    question.negative_exponents = numbers.below(2) == 1;
    question.centre = numbers.below(2) == 1 ? Centre::median : Centre::mean;
    question.predict = {1.0 + numbers.below(65536)};
    ScalingData const measured = data_from(numbers);
    if (measured.samples.empty()) { return 0; }
    try {
        ScalingReport const report = fit_scaling(measured, question);
        for (LawFit const& fit : report.fits) { check(fit); }
        for (ScalingPrediction const& row : report.predictions) { check(row.curve_low); }
    } catch (InputError const& error) { require(std::string_view{error.what()}.find('\n') == std::string_view::npos); }
    return 0;
}
