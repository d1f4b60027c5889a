#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

/// A number of a result with where it comes from. `formula` is an expression in the names of `inputs`
/// (+ - * / ^, min, max, ceil, floor, log2) whose value is `value`.
struct Term {
    std::string name;
    std::string unit;
    std::string formula;
    std::vector<std::pair<std::string, double>> inputs;
    double value = 0.0;
};

/// Evaluates a term's formula with its inputs. Errors: InputError{usage} on a malformed formula.
double evaluate(std::string_view formula, std::vector<std::pair<std::string, double>> const& inputs);

} // namespace headroom
