#include "scaling_solver.hpp"

#include "headroom/fit/scaling_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace headroom::fit {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();
using Starts = std::vector<Coefficients>;
using Native = std::span<ScalingSample const>;

// ---- curves, each with its derivatives --------------------------------------------------------------------------

double linear_curve(double k, Coefficients const& c, Coefficients& g, TermExponents const&) {
    g[0] = k;
    return c[0] * k;
}

double amdahl_curve(double k, Coefficients const& c, Coefficients& g, TermExponents const&) {
    double const step = c[1] + (1.0 - c[1]) / k, rate = 1.0 / step;
    g[0] = rate;
    g[1] = -c[0] * rate * rate * (1.0 - 1.0 / k);
    return c[0] * rate;
}

double gustafson_curve(double k, Coefficients const& c, Coefficients& g, TermExponents const&) {
    g[0] = k - c[1] * (k - 1.0);
    g[1] = -c[0] * (k - 1.0);
    return c[0] * g[0];
}

double sun_ni_curve(double k, Coefficients const& c, Coefficients& g, TermExponents const&) {
    double const s = c[1], grown = std::pow(k, c[2]), by_exponent = (1.0 - s) * grown * std::log(k);
    double const work = s + (1.0 - s) * grown, step = s + (1.0 - s) * grown / k;
    g[0] = work / step;
    g[1] = c[0] * ((1.0 - grown) - g[0] * (1.0 - grown / k)) / step;
    g[2] = c[0] * (by_exponent - g[0] * by_exponent / k) / step;
    return c[0] * g[0];
}

double usl_curve(double k, Coefficients const& c, Coefficients& g, TermExponents const&) {
    double const cost = 1.0 + c[1] * (k - 1.0) + c[2] * k * (k - 1.0);
    g[0] = k / cost;
    double const value = c[0] * g[0];
    g[1] = -value * (k - 1.0) / cost;
    g[2] = -value * k * (k - 1.0) / cost;
    return value;
}

double fixed_curve(double k, Coefficients const& c, Coefficients& g, TermExponents const&) {
    g = {1.0, 1.0 / k, 0.0};
    return c[0] + c[1] / k;
}

double tree_curve(double k, Coefficients const& c, Coefficients& g, TermExponents const&) {
    g = {1.0, 1.0 / k, std::log2(k)};
    return c[0] + c[1] * g[1] + c[2] * g[2];
}

double chain_curve(double k, Coefficients const& c, Coefficients& g, TermExponents const&) {
    g = {1.0, 1.0 / k, k};
    return c[0] + c[1] * g[1] + c[2] * g[2];
}

double constant_curve(double, Coefficients const& c, Coefficients& g, TermExponents const&) {
    g[0] = 1.0;
    return c[0];
}

double linear_growth_curve(double k, Coefficients const& c, Coefficients& g, TermExponents const&) {
    g = {1.0, k, 0.0};
    return c[0] + c[1] * k;
}

double logarithmic_growth_curve(double k, Coefficients const& c, Coefficients& g, TermExponents const&) {
    g = {1.0, std::log2(k), 0.0};
    return c[0] + c[1] * g[1];
}

double normal_form_curve(double k, Coefficients const& c, Coefficients& g, TermExponents const& term) {
    g = {1.0, term_at(k, term), 0.0};
    return c[0] + c[1] * g[1];
}

// ---- starting values --------------------------------------------------------------------------------------------

/// Coefficients of a sum of known functions, by least squares; what comes out negative is taken out, and the rest
/// solved again. `reciprocal` fits 1 / value, with the weights that this gives to equal errors of the value.
template <std::size_t N>
Coefficients sum_of(Native native, std::array<double, N> (*terms)(double), bool reciprocal, bool signed_first = false) {
    std::array<bool, N> in;
    in.fill(true);
    Coefficients result{};
    for (std::size_t round = 0; round < N; ++round) {
        Matrix a{native.size(), N};
        std::vector<double> y(native.size());
        for (std::size_t i = 0; i < native.size(); ++i) {
            ScalingSample const& sample = native[i];
            double const value = reciprocal ? 1.0 / sample.value : sample.value;
            double const root = std::sqrt(sample.weight) * (reciprocal ? sample.value * sample.value : 1.0);
            auto const row = terms(sample.workers);
            for (std::size_t j = 0; j < N; ++j) { a(i, j) = in[j] ? root * row[j] : 0.0; }
            y[i] = root * value;
        }
        std::vector<double> const solved = linear_least_squares(a, y);
        bool again = false;
        for (std::size_t j = 0; j < N; ++j) {
            result[j] = in[j] ? solved[j] : 0.0;
            if (!in[j] || solved[j] >= 0.0 || (signed_first && j == 0)) { continue; }
            in[j] = false;
            again = true;
        }
        if (!again) { break; }
    }
    for (double& value : result) { value = std::isfinite(value) ? value : 0.0; }
    return result;
}

/// The rate of one worker that the smallest count speaks for.
double rate_of_one(Native native) { return native.front().value / native.front().workers; }

Starts linear_starts(Native native) {
    auto const p = sum_of<1>(
        native, [](double k) { return std::array{1.0 / k}; }, true);
    Starts starts{{rate_of_one(native), 0.0, 0.0}};
    if (p[0] > 0.0) { starts.push_back({1.0 / p[0], 0.0, 0.0}); }
    return starts;
}

Starts amdahl_starts(Native native) {
    auto const p = sum_of<2>(
        native,
        [](double k) {
            return std::array{1.0 / k, 1.0 - 1.0 / k};
        },
        true);
    Starts starts{{rate_of_one(native), 0.1, 0.0}};
    if (p[0] > 0.0) { starts.insert(starts.begin(), {1.0 / p[0], std::clamp(p[1] / p[0], 0.0, 1.0), 0.0}); }
    return starts;
}

Starts gustafson_starts(Native native) {
    auto const p = sum_of<2>(
        native,
        [](double k) {
            return std::array{k, 1.0};
        },
        false);
    double const one = p[0] + p[1];
    Starts starts{{rate_of_one(native), 0.1, 0.0}};
    if (one > 0.0) { starts.insert(starts.begin(), {one, std::clamp(p[1] / one, 0.0, 1.0), 0.0}); }
    return starts;
}

Starts sun_ni_starts(Native native) {
    Starts starts;
    for (double const serial : {0.01, 0.2}) {
        for (double const exponent : {0.1, 0.5, 0.9}) {
            Coefficients c{1.0, serial, exponent}, g{};
            c[0] = native.front().value / sun_ni_curve(native.front().workers, c, g, {});
            starts.push_back(c);
        }
    }
    return starts;
}

Starts usl_starts(Native native) {
    auto const p = sum_of<3>(
        native,
        [](double k) {
            return std::array{1.0 / k, 1.0 - 1.0 / k, k - 1.0};
        },
        true);
    double const largest = std::max(2.0, native.back().workers);
    Starts starts{{rate_of_one(native), 0.05, 0.5 / (largest * largest)}};
    if (p[0] > 0.0) { starts.insert(starts.begin(), {1.0 / p[0], p[1] / p[0], p[2] / p[0]}); }
    return starts;
}

Starts fixed_starts(Native native) {
    return {sum_of<2>(
        native,
        [](double k) {
            return std::array{1.0, 1.0 / k};
        },
        false)};
}

Starts tree_starts(Native native) {
    return {sum_of<3>(
        native,
        [](double k) {
            return std::array{1.0, 1.0 / k, std::log2(k)};
        },
        false)};
}

Starts chain_starts(Native native) {
    return {sum_of<3>(
        native,
        [](double k) {
            return std::array{1.0, 1.0 / k, k};
        },
        false, true)};
}

Starts constant_starts(Native native) { return {{native.front().value, 0.0, 0.0}}; }

Starts linear_growth_starts(Native native) {
    return {sum_of<2>(
        native,
        [](double k) {
            return std::array{1.0, k};
        },
        false, true)};
}

Starts logarithmic_growth_starts(Native native) {
    return {sum_of<2>(
        native,
        [](double k) {
            return std::array{1.0, std::log2(k)};
        },
        false, true)};
}

// ---- where the rate is highest, and what it approaches ------------------------------------------------------------

using Perhaps = std::optional<double>;

Perhaps nowhere(Coefficients const&) { return std::nullopt; }

Perhaps one_over(double share) { return share > 0.0 ? Perhaps{1.0 / share} : std::nullopt; }

Perhaps amdahl_limit(Coefficients const& c) { return one_over(c[1]); }

Perhaps sun_ni_limit(Coefficients const& c) {
    if (c[1] >= 1.0) { return 1.0; }
    return c[2] > 0.0 ? std::nullopt : one_over(c[1]);
}

Perhaps usl_peak(Coefficients const& c) {
    if (!(c[2] > 0.0)) { return std::nullopt; }
    return std::sqrt(std::max(0.0, 1.0 - c[1]) / c[2]);
}

Perhaps step_limit(Coefficients const& c) { return c[0] > 0.0 ? Perhaps{(c[0] + c[1]) / c[0]} : std::nullopt; }

/// A chain of K-1 links costs one worker nothing: a + c stays, as alpha/gamma of the same curve as a universal law.
Perhaps chain_limit(Coefficients const& c) {
    double const stays = c[0] + c[2];
    return stays > 0.0 ? Perhaps{(stays + c[1]) / stays} : std::nullopt;
}

Perhaps tree_peak(Coefficients const& c) {
    return c[2] > 0.0 ? Perhaps{c[1] * std::numbers::ln2 / c[2]} : std::nullopt;
}

Perhaps chain_peak(Coefficients const& c) { return c[2] > 0.0 ? Perhaps{std::sqrt(c[1] / c[2])} : std::nullopt; }

Perhaps linear_growth_limit(Coefficients const& c) { return c[1] > 0.0 ? Perhaps{(c[0] + c[1]) / c[1]} : std::nullopt; }

// ---- where a law belongs ----------------------------------------------------------------------------------------

bool every_step(Measured measured, Scaling) { return of_steps(measured); }
bool fixed_problem(Measured measured, Scaling scaling) { return of_steps(measured) && scaling != Scaling::weak; }
bool growing_problem(Measured measured, Scaling scaling) {
    return scaling == Scaling::weak ? of_steps(measured) : is_rate(measured) && scaling != Scaling::strong;
}
bool growth(Measured measured, Scaling scaling) { return !of_steps(measured) || scaling == Scaling::weak; }
bool anything(Measured, Scaling) { return true; }

constexpr LawCoefficient gamma{"gamma", 0.0, unbounded, "rate of one worker"};
constexpr LawCoefficient serial{"s", 0.0, 1.0, "serial share of the time on one worker"};
constexpr LawCoefficient stays{"a", 0.0, unbounded, "time that stays"};
constexpr LawCoefficient divides{"b", 0.0, unbounded, "time that divides"};

constexpr std::array linear_coefficients{gamma};
constexpr std::array amdahl_coefficients{gamma, serial};
constexpr std::array gustafson_coefficients{gamma,
                                            LawCoefficient{"s", 0.0, 1.0, "serial share of the time on K workers"}};
constexpr std::array sun_ni_coefficients{
    gamma, serial, LawCoefficient{"g", 0.0, 1.0, "the parallel work grows as K^g: 0 is Amdahl, 1 is Gustafson"}};
constexpr std::array usl_coefficients{
    gamma, LawCoefficient{"alpha", 0.0, unbounded, "contention: waiting for a shared resource"},
    LawCoefficient{"beta", 0.0, unbounded, "coherency: each with every other"}};
constexpr std::array fixed_coefficients{stays, divides};
constexpr std::array tree_coefficients{stays, divides, LawCoefficient{"c", 0.0, unbounded, "time of a tree's level"}};
constexpr std::array chain_coefficients{
    LawCoefficient{"a", -unbounded, unbounded, "time that stays; a chain of K-1 links makes it c less"}, divides,
    LawCoefficient{"c", 0.0, unbounded, "time of a chain's link"}};
constexpr std::array constant_coefficients{LawCoefficient{"a", -unbounded, unbounded, "the value"}};
constexpr std::array linear_growth_coefficients{
    LawCoefficient{"a", -unbounded, unbounded, "part that stays; a chain of K-1 links makes it c less"},
    LawCoefficient{"c", 0.0, unbounded, "more with each worker"}};
constexpr std::array logarithmic_growth_coefficients{LawCoefficient{"a", -unbounded, unbounded, "part that stays"},
                                                     LawCoefficient{"c", 0.0, unbounded, "more with each doubling"}};
constexpr std::array normal_form_coefficients{LawCoefficient{"c0", -unbounded, unbounded, "part that stays"},
                                              LawCoefficient{"c1", -unbounded, unbounded, "factor of the term"}};

constexpr std::array laws{
    ScalingLaw{"linear", "X(K) = gamma K", Gives::rate, linear_coefficients, linear_curve, linear_starts, nowhere,
               nowhere, every_step, false, "Amdahl1967"},
    ScalingLaw{"amdahl", "X(K) = gamma / (s + (1-s)/K)", Gives::rate, amdahl_coefficients, amdahl_curve, amdahl_starts,
               nowhere, amdahl_limit, fixed_problem, false, "Amdahl1967", true},
    ScalingLaw{"gustafson", "X(K) = gamma (K - s (K-1))", Gives::rate, gustafson_coefficients, gustafson_curve,
               gustafson_starts, nowhere, nowhere, growing_problem, false, "Gustafson1988"},
    ScalingLaw{"sun_ni", "X(K) = gamma (s + (1-s) K^g) / (s + (1-s) K^(g-1))", Gives::rate, sun_ni_coefficients,
               sun_ni_curve, sun_ni_starts, nowhere, sun_ni_limit, growing_problem, false, "SunNi1990"},
    ScalingLaw{"usl", "X(K) = gamma K / (1 + alpha (K-1) + beta K (K-1))", Gives::rate, usl_coefficients, usl_curve,
               usl_starts, usl_peak, amdahl_limit, every_step, false, "Gunther1993"},
    ScalingLaw{"usl_normalised", "X(K) = X(1) K / (1 + alpha (K-1) + beta K (K-1))", Gives::rate, usl_coefficients,
               usl_curve, usl_starts, usl_peak, amdahl_limit, every_step, true, "Gunther1993"},
    ScalingLaw{"fixed_communication", "T(K) = a + b/K", Gives::time, fixed_coefficients, fixed_curve, fixed_starts,
               nowhere, step_limit, fixed_problem, false, "Amdahl1967", true},
    ScalingLaw{"tree_synchronisation", "T(K) = a + b/K + c log2(K)", Gives::time, tree_coefficients, tree_curve,
               tree_starts, tree_peak, step_limit, fixed_problem, false, "Thakur2005"},
    ScalingLaw{"chain_synchronisation", "T(K) = a + b/K + c K", Gives::time, chain_coefficients, chain_curve,
               chain_starts, chain_peak, chain_limit, fixed_problem, false, "Thakur2005"},
    ScalingLaw{"constant", "T(K) = a", Gives::time, constant_coefficients, constant_curve, constant_starts, nowhere,
               nowhere, growth, false, "Gustafson1988"},
    ScalingLaw{"linear_growth", "T(K) = a + c K", Gives::time, linear_growth_coefficients, linear_growth_curve,
               linear_growth_starts, nowhere, linear_growth_limit, growth, false, "Thakur2005"},
    ScalingLaw{"logarithmic_growth", "T(K) = a + c log2(K)", Gives::time, logarithmic_growth_coefficients,
               logarithmic_growth_curve, logarithmic_growth_starts, nowhere, nowhere, growth, false, "Thakur2005"},
    ScalingLaw{"normal_form", "y(K) = c0 + c1 K^i log2(K)^j", Gives::value, normal_form_coefficients, normal_form_curve,
               constant_starts, nowhere, nowhere, anything, false, "Calotoiu2013"},
};

} // namespace

std::span<ScalingLaw const> scaling_laws() { return laws; }

ScalingLaw const* scaling_law(std::string_view name) {
    auto const found = std::ranges::find(laws, name, [](ScalingLaw const& law) { return std::string_view{law.name}; });
    return found == laws.end() ? nullptr : &*found;
}

double term_at(double workers, TermExponents const& term) {
    double value = 1.0;
    if (term.numerator != 0) { value = std::pow(workers, static_cast<double>(term.numerator) / term.denominator); }
    if (term.logarithm != 0) { value *= std::pow(std::log2(workers), term.logarithm); }
    return value;
}

std::string_view name_of(Measured measured) {
    switch (measured) {
    case Measured::seconds: return "seconds";
    case Measured::throughput: return "throughput";
    case Measured::speedup: return "speedup";
    case Measured::sync: return "sync";
    case Measured::value: break;
    }
    return "value";
}

bool is_rate(Measured measured) { return measured == Measured::throughput || measured == Measured::speedup; }

std::string_view name_of(Scaling scaling) {
    switch (scaling) {
    case Scaling::strong: return "strong";
    case Scaling::weak: return "weak";
    case Scaling::unsaid: break;
    }
    return "unsaid";
}

std::string_view name_of(Intervals intervals) {
    switch (intervals) {
    case Intervals::asymptotic: return "asymptotic";
    case Intervals::bootstrap: return "bootstrap";
    case Intervals::bootstrap_pairs: return "bootstrap_pairs";
    case Intervals::profile: break;
    }
    return "profile";
}

} // namespace headroom::fit
