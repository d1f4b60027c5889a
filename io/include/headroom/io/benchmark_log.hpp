#pragma once

#include "headroom/issue.hpp"
#include "headroom/network/measured_collective.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Facts that a log cannot show and its owner may know; empty fields are taken from the log, or left open.
struct LogQuestion {
    std::string system = {};
    int ranks = 0, nodes = 0;
    std::string collective = {};
    bool in_place = false; ///< nccl-tests: the in-place columns instead of the others
    /// Accelerators of a node of a system that is named; 0: not known. Where nobody states the nodes, more ranks are refused.
    std::function<int(std::string_view system)> node_size = {};
};

/// A benchmark's output, row by row, with all that was left out counted and named.
struct BenchmarkLog {
    std::vector<network::MeasuredCollective> rows;
    std::string format; ///< "nccl-tests", "nccl-tests json", "osu", "imb", "csv", "published"
    std::size_t lines = 0;
    std::vector<Issue> issues;
    std::vector<std::string> notes; ///< assumptions: ranks from the name of the file, units, ...
};

/// Longest text that is read.
inline constexpr std::size_t benchmark_log_limit = 256U << 20; ///< bytes

/// Reads one file of measured collectives, of whatever benchmark made it.
///
///     nccl-tests, rccl-tests   text and JSON; sizes are total bytes already
///     OSU micro-benchmarks     text; MPI's sizes are turned into total bytes
///     Intel MPI benchmarks     text; likewise
///     CSV                      columns collective, bytes (or size), time_us (or seconds, ...), ranks (or gpus), nodes, ...;
///                              those of validation/published_communication.csv among them
///
/// Rows with wrong results, without a time, or with one that is not above zero are counted, never used.
/// Errors: InputError{unreadable} when the text is none of these; InputError{insufficient} when it is one of them
///         and no row of it can be used.
BenchmarkLog read_benchmark_log(std::string_view text, std::string_view where, LogQuestion const& question = {});

} // namespace headroom::io
