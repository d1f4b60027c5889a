#pragma once

#include "logs/log_lines.hpp"
#include "tables/columns.hpp"

#include "headroom/io/benchmark_log.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Why a line is not used; each has a name and a hint in the table of `log_builder.cpp`.
enum class Unused {
    wrong_results,
    not_available,
    zero_time,
    absurd_time,
    zero_size,
    absurd_size,
    one_rank,
    uneven_nodes,
    too_many_ranks,
    no_time,
    no_ranks,
    no_nodes,
    no_collective,
    other_collective,
    several_at_once,
    coarse_bandwidth,
    disagreeing,
    other_ranks,
    marked_suspect,
    not_a_latency,
    unitless_time,
    unknown_size,
    truncated,
    other_text,
    commented,
    zero_bytes,
    failed_run,
    unreadable,
};

/// Bandwidths that a line may print next to the time; either is compared with it.
struct PrintedBandwidths {
    std::optional<PrintedNumber> algorithm, bus; ///< GB/s, 10^9 bytes
};

/// Collects what a reader finds: rows that pass the common checks, and the others counted by reason.
class LogBuilder {
public:
    LogBuilder(std::string_view where, LogQuestion const& question);

    [[nodiscard]] LogQuestion const& question() const { return question_; }
    [[nodiscard]] std::string_view where() const { return where_; }

    void unused(std::vector<std::string> const& columns) { report_unused(log_.issues, columns); }
    /// Whether rows that follow count as those of one node because nobody states the nodes. `most`: ranks that such a node has
    /// where its system is not known; 0: any number.
    void assume_one_node(bool assumed, int most);
    void leave_out(Unused why, std::size_t line, std::string_view example);
    /// Notes a text once, however often it is called.
    void note(std::string text);
    /// Takes the row, or leaves it out: time, size, ranks and nodes within limits, and the bandwidths as
    /// bytes / time gives them (to 10 % beyond their rounding).
    void add(network::MeasuredCollective row, PrintedBandwidths const& printed, std::string_view example);

    /// Errors: InputError{insufficient} when there is no row.
    BenchmarkLog finish(std::string_view format, std::size_t lines);

private:
    [[nodiscard]] std::optional<Unused> refusal(network::MeasuredCollective const& row,
                                                PrintedBandwidths const& printed) const;
    /// Ranks of one node: its accelerators where the system is known, else what the benchmark is run on; 0: any number.
    [[nodiscard]] int most_of_node(std::string const& system) const;

    std::string_view where_;
    LogQuestion const& question_;
    BenchmarkLog log_;
    bool one_node_assumed_ = false;
    int most_of_unknown_ = 0;
    mutable std::map<std::string, int> node_sizes_; ///< by system
    static constexpr std::size_t kinds = static_cast<std::size_t>(Unused::unreadable) + 1;
    std::array<Issue, kinds> issues_{};
};

/// Largest values that a row may have.
inline constexpr std::size_t most_log_rows = 1'000'000;
inline constexpr int most_log_ranks = 10'000'000;

} // namespace headroom::io
