#include "headroom/family_errors.hpp"

#include "headroom/order_statistics.hpp"

#include <cmath>
#include <map>
#include <vector>

namespace headroom {

FamilyErrors family_errors(std::span<FamilyError const> all) {
    FamilyErrors errors;
    if (all.empty()) { return errors; }
    std::vector<double> with_sign, absolute, medians;
    std::map<std::string_view, std::vector<double>> families;
    for (auto const& [family, error] : all) {
        with_sign.push_back(error);
        absolute.push_back(std::abs(error));
        families[family].push_back(std::abs(error));
    }
    std::vector<WeightedValue> weighted;
    for (auto const& [family, values] : families) {
        medians.push_back(quantile(values, 0.5));
        for (double const value : values) { weighted.push_back({value, 1.0 / static_cast<double>(values.size())}); }
    }
    errors.families = static_cast<int>(families.size());
    errors.median = quantile(with_sign, 0.5);
    errors.median_absolute = quantile(absolute, 0.5);
    errors.p90_absolute = quantile(absolute, 0.9);
    errors.families_median_absolute = quantile(medians, 0.5);
    errors.families_p90_absolute = weighted_quantile(weighted, 0.9);
    return errors;
}

} // namespace headroom
