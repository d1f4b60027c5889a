#pragma once

#include "headroom/io/csv.hpp"
#include "headroom/io/scaling_table.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Growth of the work by the columns that are not `used`: batches, batches of one worker,
/// and rates, which times the time are the work. A batch says so where the head of the times names steps or iterations: a
/// whole training is the same work with every batch. `rows`: those of the times, in the order of the records.
ScalingWork work_of_steps(CsvTable const& table, std::span<int const> used, std::string_view times,
                          std::span<ScalingRow const> rows);

/// Makes rates of work out of rates of steps, where a column of batches shows that the work of a step differs. Returns
/// that column; an empty text where the rates are left as they are.
std::string rates_of_work(CsvTable const& table, std::span<int const> used, std::string_view values,
                          std::vector<ScalingRow>& rows, bool weight_is_error);

} // namespace headroom::io
