#pragma once

#include "traces/byte_source.hpp"

#include "headroom/io/trace.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// One row a format of traces: whether a beginning is of it, and how it is read. `head` is the first 64 KiB of the
/// (decompressed) bytes, or all of them. A row that needs the file itself (a database) says so and gets its path.
struct TraceFormat {
    std::string_view name; ///< "kineto", "nsys", ...
    bool (*sniff)(std::string_view head);
    std::vector<trace::RankTrace> (*read)(ByteSource& source, std::string const& where, TraceReading const& reading);
    bool is_plan = false; ///< says what is to run, not what ran: left out of a folder that holds both
};

/// All formats, in the order in which they are tried.
std::span<TraceFormat const> trace_formats();
/// The format of a beginning; nothing: of none that is known.
TraceFormat const* format_of(std::string_view head);
/// Bytes from which a format is recognised.
inline constexpr std::size_t sniffed_bytes = std::size_t{64} << 10;
/// Type of a file that is no trace, where its bytes or its name show it, and a hint.
struct NoTrace {
    std::string why, hint;
};
NoTrace what_else(std::string_view head, std::string_view name);

/// Chrome's trace events: of PyTorch's Kineto (1.8 and later, NVIDIA, AMD, CPU only) and of anything else.
bool looks_like_chrome(std::string_view head);
std::vector<trace::RankTrace> read_chrome(ByteSource& source, std::string const& where, TraceReading const& reading);

/// Nsight Systems' export to SQLite.
bool looks_like_nsys(std::string_view head);
std::vector<trace::RankTrace> read_nsys(ByteSource& source, std::string const& where, TraceReading const& reading);

/// The text table of PyTorch's `key_averages()`: sums without times of day, so a timeline laid end to end.
bool looks_like_key_averages(std::string_view head);
std::vector<trace::RankTrace> read_key_averages(ByteSource& source, std::string const& where,
                                                TraceReading const& reading);

/// Nsight Compute's CSV: kernels one after the other, with the work and the traffic that was counted.
bool looks_like_ncu(std::string_view head);
std::vector<trace::RankTrace> read_ncu(ByteSource& source, std::string const& where, TraceReading const& reading);

/// Chakra execution traces, length-prefixed messages of protobuf.
bool looks_like_chakra(std::string_view head);
std::vector<trace::RankTrace> read_chakra(ByteSource& source, std::string const& where, TraceReading const& reading);

/// Execution traces as JSON: of Chakra's nodes, and of PyTorch's observer.
bool looks_like_execution_json(std::string_view head);
std::vector<trace::RankTrace> read_execution_json(ByteSource& source, std::string const& where,
                                                  TraceReading const& reading);

} // namespace headroom::io
