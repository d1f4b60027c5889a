#pragma once

#include "headroom/io/csv.hpp"
#include "headroom/io/scaling_table.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Whether a text is one of Extra-P's: its first word is one of theirs.
bool is_extra_p_text(std::string_view text);

/// PARAMETER, POINTS, REGION, METRIC and DATA lines, # comments. Repeats become rows. Source: [ExtraP]
/// Errors: InputError{unreadable} with the line; InputError{usage} on a region or metric that is not there, and on
/// several parameters.
ScalingTable read_extra_p_text(std::string_view text, std::string_view where, ScalingTableQuestion const& question);

/// Growth of the work by the columns that are not `used`: batches, batches of one worker,
/// and rates, which times the time are the work. A batch says so where the head of the times names steps or iterations: a
/// whole training is the same work with every batch. `rows`: those of the times, in the order of the records.
ScalingWork work_of_steps(CsvTable const& table, std::span<int const> used, std::string_view times,
                          std::span<ScalingRow const> rows);

/// Makes rates of work out of rates of steps, where a column of batches shows that the work of a step differs. Returns
/// that column; an empty text where the rates are left as they are.
std::string rates_of_work(CsvTable const& table, std::span<int const> used, std::string_view values,
                          std::vector<ScalingRow>& rows, bool weight_is_error);

/// A row that lies apart from all others, and its value over what they suggest.
struct ApartRow {
    std::size_t row = 0;
    double ratio = 1.0;
};

/// The one row that is 1.5x or more off the other rows of its count, or off the straight line between its neighbours on
/// logarithmic axes, where without it every other row is near. Empty where rows scatter, and beyond 200 rows.
std::optional<ApartRow> row_apart(std::span<ScalingRow const> rows);

} // namespace headroom::io
