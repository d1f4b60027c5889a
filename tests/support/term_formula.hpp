#pragma once

#include "headroom/error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace headroom::test {

namespace formula {

using Inputs = std::vector<std::pair<std::string, double>>;

constexpr int deepest = 200; ///< nesting of parentheses, signs and powers
constexpr double picoseconds_per_second = 1e12;

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool continues_name(char c) { return starts_name(c) || is_digit(c) || c == '.'; }

/// A recursive-descent evaluator of
///
///     sum      = product { ("+" | "-") product }
///     product  = signed { ("*" | "/") signed }
///     signed   = "-" signed | power
///     power    = primary [ "^" signed ]                  so -2^2 is -4 and 2^3^2 is 2^9
///     primary  = number | name | name "(" sum { "," sum } ")" | "(" sum ")"
class Evaluator {
public:
    Evaluator(std::string_view formula, Inputs const& inputs) : formula_{formula}, inputs_{inputs} {}

    double whole() {
        double const value = sum();
        if (skip_space() < formula_.size()) { fail("unexpected " + headroom::quoted(formula_.substr(at_, 1))); }
        return value;
    }

private:
    double sum() {
        double value = product();
        for (;;) {
            if (take('+')) {
                value += product();
            } else if (take('-')) {
                value -= product();
            } else {
                return value;
            }
        }
    }

    double product() {
        double value = signed_power();
        for (;;) {
            if (take('*')) {
                value *= signed_power();
            } else if (take('/')) {
                value /= signed_power();
            } else {
                return value;
            }
        }
    }

    double signed_power() {
        if (++depth_ > deepest) { fail("nested too deeply"); }
        double const value = take('-') ? -signed_power() : power();
        --depth_;
        return value;
    }

    double power() {
        double const base = primary();
        return take('^') ? std::pow(base, signed_power()) : base;
    }

    double primary() {
        if (take('(')) {
            double const value = sum();
            close();
            return value;
        }
        if (skip_space() == formula_.size()) { fail("the formula ends too early"); }
        char const c = formula_[at_];
        if (is_digit(c) || c == '.') { return number(); }
        if (starts_name(c)) { return named(); }
        fail("unexpected " + headroom::quoted(formula_.substr(at_, 1)));
    }

    double number() {
        double value = 0.0;
        char const* const begin = formula_.data() + at_;
        auto const [stop, error] = std::from_chars(begin, formula_.data() + formula_.size(), value);
        if (error != std::errc{}) { fail("not a number"); }
        at_ += static_cast<std::size_t>(stop - begin);
        return value;
    }

    double named() {
        std::size_t const begin = at_;
        while (at_ < formula_.size() && continues_name(formula_[at_])) { ++at_; }
        std::string_view const name = formula_.substr(begin, at_ - begin);
        if (take('(')) { return call(name, begin); }
        auto const found = std::ranges::find(inputs_, name, &Inputs::value_type::first);
        if (found != inputs_.end()) { return found->second; }
        std::vector<std::string> known;
        for (auto const& input : inputs_) { known.push_back(input.first); }
        std::string const meant = nearest(name, known);
        at_ = begin;
        fail("unknown name " + headroom::quoted(name),
             meant.empty() ? std::string{} : "did you mean " + headroom::quoted(meant) + "?");
    }

    double call(std::string_view function, std::size_t begin) {
        double value = sum();
        if (function == "min" || function == "max") {
            while (take(',')) {
                double const next = sum();
                value = function == "min" ? std::min(value, next) : std::max(value, next);
            }
        } else if (function == "ceil") {
            value = std::ceil(value);
        } else if (function == "floor") {
            value = std::floor(value);
        } else if (function == "log2") {
            value = std::log2(value);
        } else if (function == "sqrt") {
            value = std::sqrt(value);
        } else if (function == "picoseconds") {
            value = std::round(value * picoseconds_per_second) / picoseconds_per_second;
        } else {
            at_ = begin;
            fail("unknown function " + headroom::quoted(function),
                 "there are min, max, ceil, floor, log2, sqrt and picoseconds");
        }
        close();
        return value;
    }

    void close() {
        if (!take(')')) { fail("a closing ')' is missing"); }
    }

    std::size_t skip_space() {
        while (at_ < formula_.size() && (formula_[at_] == ' ' || formula_[at_] == '\t' || formula_[at_] == '\n')) {
            ++at_;
        }
        return at_;
    }

    bool take(char c) {
        if (skip_space() == formula_.size() || formula_[at_] != c) { return false; }
        ++at_;
        return true;
    }

    [[noreturn]] void fail(std::string problem, std::string hint = {}) const {
        throw InputError{Fault::usage, ErrorText{.where = "formula " + headroom::quoted(formula_),
                                                 .problem = std::move(problem),
                                                 .why = "at character " + std::to_string(at_ + 1),
                                                 .hint = std::move(hint)}};
    }

    std::string_view formula_;
    Inputs const& inputs_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

} // namespace formula

/// Evaluates a term's formula with its inputs. Errors: InputError{usage} on a malformed formula.
/// `picoseconds(x)` rounds x seconds to whole picoseconds, the clock of a priced step.
inline double evaluate(std::string_view text, formula::Inputs const& inputs) {
    return formula::Evaluator{text, inputs}.whole();
}

} // namespace headroom::test
