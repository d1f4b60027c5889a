#include "headroom/measure/campaign_comparison.hpp"

#include <algorithm>
#include <array>

namespace headroom::measure {

namespace {

constexpr std::array<std::string_view, 5> momentary{"load", "clock as reported", "clock as seen", "memory available",
                                                    "last cache, probed"};

std::optional<std::string> text_of(Facts const& facts, std::string_view name) {
    auto const found = fact(facts, name);
    return found ? std::optional<std::string>{*found} : std::nullopt;
}

} // namespace

std::vector<FactDifference> differences(Facts const& first, Facts const& second) {
    std::vector<FactDifference> found;
    for (auto const& [name, value] : first) {
        auto other = text_of(second, name);
        if (other != value) { found.push_back({name, value, std::move(other)}); }
    }
    for (auto const& [name, value] : second) {
        if (!fact(first, name)) { found.push_back({name, std::nullopt, value}); }
    }
    return found;
}

bool is_momentary(std::string_view name) { return std::ranges::find(momentary, name) != momentary.end(); }

bool same_machine(Facts const& first, Facts const& second) {
    return std::ranges::all_of(differences(first, second),
                               [](FactDifference const& row) { return is_momentary(row.name); });
}

} // namespace headroom::measure
