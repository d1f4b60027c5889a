#include "tail/tail_words.hpp"

#include "headroom/document/text.hpp"
#include "headroom/quantity.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace headroom::cli {

using namespace headroom::document;

std::string TailUnit::words(double value) const {
    if (!std::isfinite(value)) { return "without end"; }
    return times ? format(Seconds{value}) : significant(value, 3);
}

std::string TailUnit::interval(double low, double high) const {
    std::string const first = words(low), second = words(high);
    auto const unit_at = [](std::string const& text) { return text.rfind(' '); };
    bool const alike = unit_at(first) != std::string::npos && unit_at(second) != std::string::npos &&
                       first.substr(unit_at(first)) == second.substr(unit_at(second));
    return (alike ? first.substr(0, unit_at(first)) : first) + " .. " + second;
}

TailScale scale_for(double value, TailUnit unit) {
    if (!unit.times) { return {}; }
    constexpr std::array<TailScale, 4> scales{{{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
    for (TailScale const& scale : scales) {
        if (value >= scale.size) { return scale; }
    }
    return scales.back();
}

std::string interval_title(double coverage) { return fmt::format("{:.6g} % interval", 100.0 * coverage); }

std::string signed_percent(double ratio) {
    return (ratio < 0.0 ? "-" : "+") + significant(100.0 * std::abs(ratio), std::abs(ratio) < 0.1 ? 2 : 3) + " %";
}

std::string grouped(unsigned long long count) {
    std::string text = std::to_string(count);
    for (std::size_t at = text.size(); at > 3;) {
        at -= 3;
        text.insert(at, ",");
    }
    return text;
}

std::string chance(double probability) { return probability < 0.001 ? "below 0.001" : significant(probability, 2); }

} // namespace headroom::cli
