#pragma once

#include "tables/units.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace headroom::io {

/// Meaning of commas and points in the numbers of a column: decimal marks or marks of digit groups. "1,500" and "1.500" do
/// not show it; other cells may: "10,5", "0,125", "1,500,000", "1.500,25".
struct NumberMarks {
    enum class Meaning { unknown, decimal, group, mixed };
    Meaning comma = Meaning::unknown, point = Meaning::unknown;
    bool comma_groups = true; ///< reading of "1,500" where no cell shows it: 1500, else it is ambiguous

    /// Learns from a cell; text that is no number shows nothing.
    void learn(std::string_view cell);
    /// Learns from a cell that holds a count: its commas part groups.
    void learn_count(std::string_view cell);
    /// Learns from a cell that holds a number below a thousand: its only mark parts decimals.
    void learn_small(std::string_view cell);
    void learn(NumberMarks const& others);
    /// These marks, completed by what other columns of the table show.
    [[nodiscard]] NumberMarks completed(NumberMarks const& table) const;
};

/// The number that a text begins with, groups of digits and a decimal comma among it, and the text behind it.
struct CellNumber {
    enum class Fault { none, no_number, ambiguous_mark, uneven_groups };
    double value = 0.0;     ///< infinite where it is beyond all doubles
    double half_unit = 0.0; ///< half a unit of the last printed digit
    std::string_view rest = {};
    Fault fault = Fault::none;
};
CellNumber cell_number(std::string_view text, NumberMarks const& marks = {});
/// Whether a cell is a number without a unit.
bool is_plain_number(std::string_view text);

/// Content of a cell, read to its end.
struct CellValue {
    enum class Kind { bare, with_unit, empty, not_a_number, infinite, text };
    Kind kind = Kind::text;
    double value = 0.0; ///< a bare number as it stands, else in base units
    double half_unit = 0.0;
    CellNumber::Fault fault = CellNumber::Fault::none; ///< of a text that begins like a number
    [[nodiscard]] bool is_number() const { return kind == Kind::bare || kind == Kind::with_unit; }
};
/// "180", "1,500", "180ms", "1m12.271s", "1:23:45" (of times), "4 MiB" (of sizes); "", "-", "NaN"; all else is text.
CellValue cell_value(std::string_view cell, CellMeasure measure, NumberMarks const& marks = {});

/// Problem and hint of a cell that is no number, for error lines: "'1,500' is ambiguous: 1500 or 1.5".
std::string_view words_of(CellNumber::Fault fault);
std::string_view hint_of(CellNumber::Fault fault);

/// Seconds of a duration with units: "1m2.5s", "350us", "0s". Empty for a bare number and all else.
std::optional<double> printed_duration(std::string_view text, NumberMarks const& marks = {});
/// Seconds of "1:23:45", "23:45.5", "2-01:23:45" (days first); empty for all else.
std::optional<double> clock_duration(std::string_view text);
/// The whole of a text as a finite number; empty for all else.
std::optional<double> decimal_number(std::string_view text);

/// A finite number with how far rounding may have moved it: half a unit of its last digit.
struct PrintedNumber {
    double value = 0.0, half_unit = 0.0;
};
/// The whole of a word as such a number; empty when it is none.
std::optional<PrintedNumber> printed_number(std::string_view word);
/// The whole of a word as a count from 0 to 2^31 - 1.
std::optional<int> printed_count(std::string_view word);

} // namespace headroom::io
