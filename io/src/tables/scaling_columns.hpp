#pragma once

// Which column of a CSV is what, by the names that people give them.

#include "tables/scaling_cells.hpp"

#include "headroom/io/csv.hpp"

namespace headroom::io {

struct ScalingColumns {
    int workers = -1, value = -1, weight = -1;
    bool weight_is_error = false; ///< a standard error: the weight is one over its square
    ScalingQuantity quantity = ScalingQuantity::seconds;
    double unit = 1.0, weight_unit = 1.0; ///< seconds in a bare number of each
    std::vector<std::string> notes;
};

/// "seconds" and the other words of `ScalingTableQuestion::quantity`. Errors: InputError{usage}.
ScalingQuantity scaling_quantity(std::string_view word, std::string_view where);

/// Errors: InputError{usage} with the columns that are there.
ScalingColumns find_scaling_columns(CsvTable const& table, std::string_view where,
                                    ScalingTableQuestion const& question);

} // namespace headroom::io
