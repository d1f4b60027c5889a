#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headroom::trace {

/// Puts intervals in the order of their begins, of equal ones the earlier in the list first. O(n) whatever their order:
/// traces come nearly sorted or as several sorted parts, and nothing is gained from knowing which.
void order_by_begin(std::vector<std::uint32_t>& intervals, std::span<std::int64_t const> begin);

} // namespace headroom::trace
