#pragma once

#include "headroom/serving/percentile.hpp"
#include "headroom/serving/tail_answer.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace headroom::cli {

/// Unit of the samples and its spelling: seconds with a prefix that reads best, or plain numbers.
struct TailUnit {
    bool times = true;

    /// "212 ms"; "212"
    [[nodiscard]] std::string words(double value) const;
    [[nodiscard]] std::string words(std::optional<double> value) const { return value ? words(*value) : "-"; }
    /// "205 .. 220 ms" where both read well in one unit.
    [[nodiscard]] std::string interval(double low, double high) const;
};
inline TailUnit unit_of(serving::TailAnswer const& answer) { return {answer.set.times}; }

/// The unit of time in which a value is at least one: for axes and tables of one unit.
struct TailScale {
    char const* name = ""; ///< "ms"; empty for plain numbers
    double size = 1.0;
};
TailScale scale_for(double value, TailUnit unit);

/// "95 % interval"
std::string interval_title(double coverage);
/// "12 %", with its sign: "+12 %", "-3 %".
std::string signed_percent(double ratio);
/// 1234567 as "1,234,567".
std::string grouped(unsigned long long count);
/// A probability in words: "0.03", "below 0.001".
std::string chance(double probability);

} // namespace headroom::cli
