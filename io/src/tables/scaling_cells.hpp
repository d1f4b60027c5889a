#pragma once

#include "tables/numbers.hpp"
#include "tables/rows.hpp"

#include "headroom/io/scaling_table.hpp"

#include <string>
#include <string_view>

namespace headroom::io {

/// A whole worker count from 1, with a word behind it that all of a column share ("8 GPUs", "1 GPU") or none.
/// `kilo`: worth of a K behind it, 1000 or 1024. Errors: InputError{unreadable}.
double read_count_cell(std::string_view cell, CellPlace const& place, NumberMarks const& marks, std::string& label,
                       double kilo = 1000.0);
/// Whether a head says that its clock times are hours and minutes: "time (h:mm)", "Elapsed [HH:MM]".
bool counts_hours(std::string_view head);
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
    bool hours = false;      ///< "5:15" is in hours and minutes
    double share = 0.0;      ///< of efficiencies: bare numbers are so much, 1 or 0.01; else 0
    std::size_t spreads = 0; ///< values that came with one: "10 +- 0.2"
    std::size_t first_spread = 0;
};
double read_value_cell(std::string_view cell, CellPlace const& place, ValueCells& cells);

/// A number between the limits of the format. Errors: InputError{unreadable}.
double read_number(std::string_view cell, CellPlace const& place, NumberMarks const& marks, std::string_view& rest);

/// Takes the marks of footnotes and of approximations from the cells with numbers, "1*", "52 [a]", "~52", and counts them. `nodes`: also
/// nodes in brackets behind a count, "8 GPUs (1 node)".
std::vector<Issue> take_all_marks(CsvTable& csv, bool nodes);

} // namespace headroom::io
