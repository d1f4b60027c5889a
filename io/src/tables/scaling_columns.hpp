#pragma once

#include "tables/columns.hpp"

#include "headroom/io/csv.hpp"
#include "headroom/io/scaling_table.hpp"

#include <string>
#include <vector>

namespace headroom::io {

struct ScalingColumns {
    int workers = -1, weight = -1, unit_stated = -1; ///< the last: of the column of times without a unit
    std::vector<int> values;                         ///< several where a row holds repeats
    bool weight_is_error = false;                    ///< a standard error: the weight is one over its square
    bool per_worker = false;                         ///< values are those of one worker: efficiencies, rates per worker
    ScalingQuantity quantity = ScalingQuantity::seconds;
    CellUnit unit, weight_unit; ///< of a bare number of each
    std::vector<std::string> notes;
};

/// Whether a head is of standard errors or deviations.
bool states_error(std::string_view head);

/// The columns that a question names, else those whose heads say what they are: of several counts of workers the surest
/// that varies. Of a table without a header: the first whole number that varies, and the one column of fractions.
/// Errors: InputError{usage} with the columns that are there.
ScalingColumns find_scaling_columns(CsvTable const& table, std::string_view where,
                                    ScalingTableQuestion const& question);

} // namespace headroom::io
