#pragma once

#include "headroom/serving/latency_samples.hpp"

#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::io {

/// Columns and rows to read from a file; empty texts leave the choice to the reader.
struct LatencyQuestion {
    std::string column = {};      ///< of values, by its name or number (1 is the first)
    std::string time_column = {}; ///< of the times at which requests were sent; "none": do not look for one
    std::string unit = {};        ///< of values without a unit of their own: "ms"; "1" for plain numbers
    std::string time_unit = {};
    std::vector<std::pair<std::string, std::string>> where = {}; ///< only rows with these cells
    std::string format = {};                                     ///< a name of `latency_formats`; empty: sniffed
    bool keep_failed = false;                                    ///< requests that failed count as others do
    bool keep_requests = false;                                  ///< each with its time, up to five million of them
    std::stop_token stop = {};                                   ///< then reading ends with the lines so far
};

/// Names of the formats that are read, in the order in which a file is tried.
std::vector<std::string> latency_formats();

using headroom::serving::LatencySamples;
using headroom::serving::StatedQuantile;

/// Reads samples in one pass and constant memory from a file, "-" for standard input, plain, gzip or zstd: tables
/// (see `read_csv`), with a header or none (those of k6, JMeter, hey, ApacheBench and vegeta are known by their columns); JSON
/// lines or one list, of numbers or objects (vegeta's and k6's are known); HdrHistogram logs and percentile tables; what
/// wrk, wrk2, hey, vegeta and k6 report; repetitions of Google Benchmark.
///
/// Values become seconds by the unit of their cell, else by --unit, else by their column's name, else by the format, else
/// by a guess that `unit_from` and a note tell: seconds, or nanoseconds for whole numbers of six digits and more. Rows that
/// are no sample are counted with their first line, and so are requests that failed, as far as the format tells them.
/// Errors: InputError{unreadable} with the line for what is none of these, holds no number, mixes numbers with and without
/// units while nobody says what the latter are in, or has a line of more than 16 MiB; InputError{usage} where a column is
/// not there or none can be chosen; InputError{insufficient} where there is no sample.
serving::LatencySamples read_latency_samples(std::string const& path, LatencyQuestion const& question);
/// Reads latencies from a text in memory.
serving::LatencySamples read_latency_text(std::string_view text, std::string_view where,
                                          LatencyQuestion const& question);

} // namespace headroom::io
