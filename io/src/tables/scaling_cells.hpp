#pragma once

#include "tables/numbers.hpp"
#include "tables/rows.hpp"

#include "headroom/io/scaling_table.hpp"

#include <string>
#include <string_view>

namespace headroom::io {

/// A whole worker count from 1. Errors: InputError{unreadable}.
double read_count_cell(std::string_view cell, CellPlace const& place, NumberMarks const& marks);
/// A count of Extra-P: any number from 1.
double read_parameter_cell(std::string_view cell, CellPlace const& place);

/// A value above zero in base units. Times carry a unit of their own or that of the header; throughputs may carry a
/// label, which is written to `label` by the first and must be the same in the others.
struct ValueCells {
    ScalingQuantity quantity = ScalingQuantity::seconds;
    CellUnit header_unit = {}; ///< of a bare time
    NumberMarks marks = {};
    std::string label = {};
    bool labelled = false;
};
double read_value_cell(std::string_view cell, CellPlace const& place, ValueCells& cells);

/// A number between the limits of the format. Errors: InputError{unreadable}.
double read_number(std::string_view cell, CellPlace const& place, NumberMarks const& marks, std::string_view& rest);

} // namespace headroom::io
