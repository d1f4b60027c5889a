#pragma once

#include "headroom/measure/measurement.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headroom::fit {

/// Text of a point under the first of these names; empty where it has none of them.
std::string word_of(measure::MeasuredPoint const& point, std::span<std::string_view const> names);
/// Whole number above zero of a point under the first of these names.
std::optional<double> count_of(measure::MeasuredPoint const& point, std::span<std::string_view const> names);

// Names under which campaigns state the same thing, the usual one first.
inline constexpr std::array<std::string_view, 2> operation_names{"operation", "collective"};
inline constexpr std::array<std::string_view, 3> size_names{"bytes", "size_bytes", "size"};
inline constexpr std::array<std::string_view, 3> rank_names{"ranks", "workers", "processes"};
inline constexpr std::array<std::string_view, 3> worker_names{"workers", "ranks", "processes"};
inline constexpr std::array<std::string_view, 1> node_names{"nodes"};
inline constexpr std::array<std::string_view, 4> format_names{"format", "precision", "type", "data_type"};
inline constexpr std::array<std::string_view, 2> thread_names{"threads", "cores"};

inline constexpr std::array<std::string_view, 2> kernel_names{"kernel", "quantity"};
inline constexpr std::array<std::string_view, 1> quantity_names{"quantity"};
inline constexpr std::array<std::string_view, 1> pattern_names{"pattern"};
inline constexpr std::array<std::string_view, 1> link_names{"link"};
inline constexpr std::array<std::string_view, 1> buffers_names{"buffers"};
inline constexpr std::array<std::string_view, 1> level_names{"level"};
inline constexpr std::array<std::string_view, 1> algorithm_names{"algorithm"};
inline constexpr std::array<std::string_view, 1> protocol_names{"protocol"};
inline constexpr std::array<std::string_view, 2> element_names{"data_type", "type"};

} // namespace headroom::fit
