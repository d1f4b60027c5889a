#pragma once

#include "traces/chrome_part.hpp"

#include <vector>

namespace headroom::io {

/// Marks intervals whose begin is no time of the recording, and counts them: zero where everything else begins a
/// multiple of the recording later, and a year or more from the middle of all begins. `left_out` may be empty: nothing is.
/// Returns the first begin of those that stay; 0 where none does.
std::int64_t leave_undated_out(ChromePart& part, std::vector<bool>& left_out);

} // namespace headroom::io
