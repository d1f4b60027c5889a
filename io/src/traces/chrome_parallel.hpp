#pragma once

#include "traces/byte_source.hpp"
#include "traces/chrome_metadata.hpp"
#include "traces/chrome_part.hpp"

#include "headroom/io/trace.hpp"

#include <cstdint>

namespace headroom::io {

/// Reads all of a source into one part; returns how much text it was. Plain files and memory are read in chunks by
/// several threads where that is asked for; what comes out is the same.
std::uint64_t read_chrome_text(ByteSource& source, TraceReading const& reading, ChromePart& part,
                               ChromeMetadata& metadata);

} // namespace headroom::io
