#pragma once

#include "logs/log_lines.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// What a column of a table of measurements may hold.
enum class LogColumn {
    id,
    system,
    interconnect,
    ranks,
    nodes,
    collective,
    size,
    time,
    algorithm_bandwidth,
    bus_bandwidth,
    data_type,
    algorithm,
    protocol,
    source,
    consistency,
    in_place, ///< whether the row is of one buffer, where rows of both kinds stand in a table
    wrong,    ///< results that were not as expected
};
inline constexpr std::size_t log_columns = static_cast<std::size_t>(LogColumn::wrong) + 1;

/// Where each stands in a header, and the unit that its name gives: seconds, bytes or bytes a second; 0 when none.
struct LogHeader {
    struct Place {
        int column = -1;
        double unit = 0.0;
    };
    std::array<Place, log_columns> places{};
    [[nodiscard]] Place at(LogColumn what) const { return places.at(static_cast<std::size_t>(what)); }
    [[nodiscard]] bool has(LogColumn what) const { return at(what).column >= 0; }
};

/// Matches a header's names. Of several times the average is taken before the shortest, in-place columns where `in_place`.
LogHeader match_log_header(std::vector<std::string> const& names, bool in_place);

/// Seconds, bytes or bytes a second in a unit of a measurement; empty when it is none. A bare K, M or G is of 1024, as
/// the benchmarks write sizes; kB and KB are 1000 bytes.
std::optional<double> time_unit(std::string_view unit);
std::optional<double> size_unit(std::string_view unit);
std::optional<double> rate_unit(std::string_view unit);

} // namespace headroom::io
