#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace headroom {

/// Errors: InputError{insufficient} below `least` samples, InputError{usage} where one is not finite.
void check_samples(std::span<double const> samples, std::size_t least);

std::vector<double> in_order(std::span<double const> samples);

/// Median of values in order: the middle one, of an even number the mean of the two in the middle. Both are halved before they are added, so that none overflows.
double median_of(std::span<double const> sorted);

/// The k-th smallest (from 1) of numbers that are too many to list, all between `low` and `high`: the least double that
/// `at_most` counts k numbers up to. 64 counts, whatever the numbers are.
double select(std::size_t k, double low, double high, std::function<std::size_t(double)> const& at_most);

/// Median of `count` numbers that are too many to list, found as by `select`.
double select_median(std::size_t count, double low, double high, std::function<std::size_t(double)> const& at_most);

/// Multiplicity of each value that occurs more than once.
std::vector<std::size_t> ties(std::span<double const> sorted);

/// P(|Z| >= z) of a standard normal Z, for z >= 0.
double outside_normal(double z);

} // namespace headroom
