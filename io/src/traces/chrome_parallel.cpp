#include "traces/chrome_parallel.hpp"

#include "traces/chrome_reader.hpp"

#include <algorithm>

namespace headroom::io {
namespace {

constexpr std::size_t window_bytes = std::size_t{128} << 10; ///< what stays in a core's own cache

} // namespace

std::uint64_t read_chrome_text(ByteSource& source, TraceReading const& reading, ChromePart& part,
                               ChromeMetadata& metadata) {
    std::uint64_t text = 0;
    ChromeReader reader(part, metadata);
    feed_all(reader,
             [&](char* into, std::size_t size) {
                 auto const got = source.read(into, size);
                 text += got;
                 return got;
             },
             0, std::min(reading.block, window_bytes));
    return text;
}

} // namespace headroom::io
