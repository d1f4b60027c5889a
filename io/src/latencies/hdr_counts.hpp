#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace headroom::io {

/// Count and precision that a histogram of HdrHistogram states.
struct HdrFacts {
    std::uint64_t count = 0;
    double relative_error = 0.0; ///< half the width of a cell over its value, at most
};

/// Reads a histogram as HdrHistogram encodes it: versions 0, 1 and 2, plain or compressed, of whole numbers or of
/// doubles. Gives the middle of every cell that holds something, in the histogram's own unit, with its count.
/// Returns false for what is no such histogram, or damaged; some cells may have been given then.
/// Source: [Tene2013] AbstractHistogram.encodeIntoByteBuffer, ZigZagEncoding
bool read_hdr_counts(std::string_view bytes, HdrFacts& facts,
                     std::function<void(double value, std::uint64_t count)> const& cell);

/// Bytes of their base64 text, with or without padding. False for other letters.
bool from_base64(std::string_view text, std::string& bytes);

} // namespace headroom::io
