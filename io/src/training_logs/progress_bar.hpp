#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom::io {

/// "Epoch 0:  10%|#    | 12/500 [00:36<24:24,  3.00s/it, loss=2.1]", as tqdm draws it.
struct ProgressBar {
    std::string_view title; ///< before the percentage, behind what loggers put there: "Epoch 0"; empty: none
    std::int64_t done = 0, all = 0;
    double seconds = 0.0;
    std::string_view behind; ///< text behind the clock: remaining time, rate and figures
};
/// The bar of a line; empty without one whose clock and counts can be read, or where it counts sequences or tokens.
std::optional<ProgressBar> progress_bar(std::string_view line);

/// Meaning of a bar by its title. Bars of other work have another: "Map", "Tokenizing train".
enum class BarTitle { none, steps, training, other };
BarTitle meaning_of(std::string_view title);

inline constexpr double bar_rounding = 0.5; ///< seconds; of the clock of a bar
/// Series of the clocks of bars with a title; those without one have the number of all their steps.
inline constexpr std::int64_t bar_series = -2, batch_series = -3;

} // namespace headroom::io
