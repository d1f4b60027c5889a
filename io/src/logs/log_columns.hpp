#pragma once

#include "tables/columns.hpp"

#include "headroom/network/collective.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Quantity of a column of a table of measurements.
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
    per_node, ///< ranks of one node
    repeats,  ///< messages or calls that one row sums up
};
inline constexpr std::size_t log_columns = static_cast<std::size_t>(LogColumn::repeats) + 1;

/// Where each stands in a header, and the unit that its name gives.
struct LogHeader {
    std::array<ColumnMatch, log_columns> matches{};
    std::optional<network::Collective> collective = {}; ///< that the heads of its values name: "all_gather_ms"
    [[nodiscard]] ColumnMatch const& at(LogColumn what) const { return matches.at(static_cast<std::size_t>(what)); }
    [[nodiscard]] bool has(LogColumn what) const { return at(what).found(); }
};

/// Quantity of a column's numbers.
CellMeasure measure_of(LogColumn what);

/// A collective by a name of a benchmark: "all_reduce", "alltoall_perf".
std::optional<network::Collective> collective_in(std::string_view name);

/// Refuses numbers under a head whose brackets are neither a unit nor a known remark: "size (elements)".
/// Errors: InputError{usage} at `place`.
void refuse_unread_heads(std::vector<std::string> const& names, LogHeader const& header, std::string_view place);

/// Whether the sizes of a head may be the share of one rank: "per-rank bytes", "send bytes".
bool is_size_of_rank(std::string_view head);

/// Matches a header's names, once for each collective that heads of times or bandwidths name. Of several times the average is taken before the shortest, in-place columns where `in_place`.
/// `latency_is_message`: the head "latency (us)" names a message from one rank to another.
std::vector<LogHeader> match_log_headers(std::vector<std::string> const& names, bool in_place,
                                         bool latency_is_message = true);

} // namespace headroom::io
