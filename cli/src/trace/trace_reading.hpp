#pragma once

#include "watch.hpp"

#include "headroom/io/trace.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// Reads the digests of files: `io::read_trace_set`, or several processes together that each read a part.
using TraceSetReader =
    std::function<io::TraceSet(io::TraceFiles const&, trace::DigestQuestion const&, io::TraceReading const&,
                               io::TraceShard, std::function<bool(std::uint64_t, std::uint64_t)> const& progress)>;

/// Reader of this program. A program whose processes share the work sets another one before a verb runs.
TraceSetReader& trace_set_reader();

/// Files of a set, and how they are read.
struct TraceQuestion {
    std::vector<std::string> paths;
    trace::DigestQuestion digest;
    io::TraceReading reading;
    std::optional<io::TraceShard> shard;
};

struct ReadFiles {
    io::TraceSet set;
    std::vector<std::string> left_out; ///< files in folders that are no traces
    std::size_t files = 0;             ///< files that were asked for
    bool complete = true;              ///< false where Ctrl-C ended the reading
};

/// Reads every file, among them parts that an earlier call wrote.
/// Errors: that of the first file when none can be read.
ReadFiles read_files(TraceQuestion const& question, Watch& watch);

} // namespace headroom::cli
