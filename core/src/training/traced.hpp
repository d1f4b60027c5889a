#pragma once

#include "headroom/term.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace headroom::training {

/// A number that remembers how it was made. The closed form is written once as a template: run on
/// `double` it is fast, run on `Traced` the very same code prints its own formulas.
struct Traced {
    double value = 0.0;
    std::string text;                                   ///< expression in input names
    std::vector<std::pair<std::string, double>> inputs; ///< in order of appearance
    int rank = 2;                                       ///< 0 sum, 1 product, 2 atom: for parentheses
};

inline std::string shortest(double value) {
    std::array<char, 32> buffer{};
    auto const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    return {buffer.data(), end};
}

inline Traced number(double value) { return {value, shortest(value), {}, 2}; }

/// A literal number in either arithmetic.
template <class N> N literal(double value) {
    if constexpr (std::is_same_v<N, double>) {
        return value;
    } else {
        return number(value);
    }
}

/// What it comes to, in either arithmetic.
inline double value_of(double number) { return number; }
inline double value_of(Traced const& number) { return number.value; }

inline std::vector<std::pair<std::string, double>> joined(Traced const& a, Traced const& b) {
    auto result = a.inputs;
    for (auto const& input : b.inputs) {
        if (std::ranges::find(result, input.first, &std::pair<std::string, double>::first) == result.end()) {
            result.push_back(input);
        }
    }
    return result;
}

inline std::string wrapped(Traced const& a, int least) { return a.rank >= least ? a.text : "(" + a.text + ")"; }

inline Traced operator+(Traced const& a, Traced const& b) {
    return {a.value + b.value, a.text + " + " + b.text, joined(a, b), 0};
}
inline Traced operator-(Traced const& a, Traced const& b) {
    return {a.value - b.value, a.text + " - " + wrapped(b, 1), joined(a, b), 0};
}
inline Traced operator*(Traced const& a, Traced const& b) {
    return {a.value * b.value, wrapped(a, 1) + " * " + wrapped(b, 2), joined(a, b), 1};
}
inline Traced operator/(Traced const& a, Traced const& b) {
    return {a.value / b.value, wrapped(a, 1) + " / " + wrapped(b, 2), joined(a, b), 1};
}
inline Traced operator*(double a, Traced const& b) { return number(a) * b; }
inline Traced larger(Traced const& a, Traced const& b) {
    return {std::max(a.value, b.value), "max(" + a.text + ", " + b.text + ")", joined(a, b), 2};
}
inline Traced smaller(Traced const& a, Traced const& b) {
    return {std::min(a.value, b.value), "min(" + a.text + ", " + b.text + ")", joined(a, b), 2};
}
inline double larger(double a, double b) { return std::max(a, b); }
inline double smaller(double a, double b) { return std::min(a, b); }

/// Collects terms while the closed form runs on Traced numbers; does nothing on doubles.
template <class N> struct Recorder;

template <> struct Recorder<double> {
    static double input(char const*, double value) { return value; }
    static double term(char const*, char const*, double value) { return value; }
};

template <> struct Recorder<Traced> {
    std::vector<Term> terms;
    static Traced input(char const* name, double value) { return {value, name, {{name, value}}, 2}; }
    /// Names a sub-expression: it becomes a term, and an input to whatever uses it.
    Traced term(char const* name, char const* unit, Traced const& made) {
        terms.push_back({name, unit, made.text, made.inputs, made.value});
        return input(name, made.value);
    }
};

} // namespace headroom::training
