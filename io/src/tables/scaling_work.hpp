#pragma once

#include "headroom/io/csv.hpp"
#include "headroom/io/scaling_table.hpp"

#include <span>
#include <string_view>

namespace headroom::io {

/// Growth of the work by the columns that are not `used`: batches, batches of one worker,
/// and rates, which times the time are the work. A batch says so where the head of the times names steps or iterations: a
/// whole training is the same work with every batch. `rows`: those of the times, in the order of the records.
ScalingWork work_of_steps(CsvTable const& table, std::span<int const> used, std::string_view times,
                          std::span<ScalingRow const> rows);

} // namespace headroom::io
