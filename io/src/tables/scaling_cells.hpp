#pragma once

#include "headroom/io/scaling_table.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace headroom::io {

/// Where a cell stands: "runs.csv:3: 'time_ms'".
struct CellPlace {
    std::string_view file;
    std::size_t line = 0;
    std::string_view column;
    [[nodiscard]] std::string text() const;
};

/// The seconds in a unit of time ("ms", "sec"); empty when it is none.
std::optional<double> seconds_in(std::string_view unit);

/// A whole worker count from 1. Errors: InputError{unreadable}.
double read_count_cell(std::string_view cell, CellPlace const& place);
/// A count of Extra-P: any number from 1.
double read_parameter_cell(std::string_view cell, CellPlace const& place);

/// A value above zero in base units. Times carry a unit of their own or that of the header; throughputs may carry a
/// label, which is written to `label` by the first and must be the same in the others.
struct ValueCells {
    ScalingQuantity quantity = ScalingQuantity::seconds;
    double header_unit = 1.0; ///< seconds in a bare number
    std::string label = {};
    bool labelled = false;
};
double read_value_cell(std::string_view cell, CellPlace const& place, ValueCells& cells);

/// A number between the limits of the format. Errors: InputError{unreadable}.
double read_number(std::string_view cell, CellPlace const& place, std::string_view& rest);

} // namespace headroom::io
