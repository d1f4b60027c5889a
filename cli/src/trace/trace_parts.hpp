#pragma once

#include "headroom/io/trace.hpp"

#include <cstdint>
#include <functional>

namespace headroom::cli {

/// Reads the digests of files: `io::read_trace_set`, or several processes together that each read a part.
using TraceSetReader =
    std::function<io::TraceSet(io::TraceFiles const&, DigestQuestion const&, io::TraceReading const&, io::TraceShard,
                               std::function<bool(std::uint64_t, std::uint64_t)> const& progress)>;

/// What this program reads with. Set before a verb runs, by a program whose processes share the work.
TraceSetReader& trace_set_reader();

} // namespace headroom::cli
