#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Largest number of combinations that one call answers.
inline constexpr std::size_t most_combinations = 256;

/// A thing with the values that a question is asked with: an option, "model" or "cluster".
struct Sweep {
    std::string name; ///< "--sequence-length"
    std::vector<std::string> values;
};

/// Scale letters of a value: "4k" tokens are 4096, "4k" of anything else 4000.
enum class SweepScale { decimal, binary };

/// Values of "512,1k,2k" as they are, and of "4k..128k" doubled from the first to the last; each once.
///
/// Ends of a range have one unit, "100GB/s..800GB/s", or none with letters of scale, "512..4k".
/// Errors: InputError{usage} at `where` for an empty value, a range without numbers or in two units, and too many values.
std::vector<std::string> swept_values(std::string_view text, SweepScale scale, std::string_view where);

/// Names of a list, "dgx-a100,dgx-h100", each once. Errors: InputError{usage} at `where` for an empty one.
std::vector<std::string> listed_values(std::string_view text, std::string_view where);

/// Every combination of the sweeps' values, one value for each sweep; the last sweep varies fastest.
/// Errors: InputError{usage} for more than `most_combinations`.
std::vector<std::vector<std::string>> combinations_of(std::span<Sweep const> sweeps);

} // namespace headroom::io
