#pragma once

#include <span>
#include <string_view>

namespace headroom {

/// Relative error of one prediction, and the family of runs that it belongs to.
struct FamilyError {
    std::string_view family;
    double error = 0.0;
};

/// Errors of predictions, over all rows and with families weighed alike.
struct FamilyErrors {
    int families = 0;
    double median = 0.0, median_absolute = 0.0, p90_absolute = 0.0; ///< over all rows
    double families_median_absolute = 0.0;                          ///< median of the medians of the families
    double families_p90_absolute = 0.0;                             ///< with each row weighed by 1 / rows of its family
};

/// Errors:     none; all zero without rows.
FamilyErrors family_errors(std::span<FamilyError const> all);

} // namespace headroom
