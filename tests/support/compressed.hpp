#pragma once

#include <string>
#include <string_view>

namespace headroom::test {

/// One member of gzip. `flags` as RFC 1952 has them: 2 a checksum of the header, 4 an extra field, 8 a name, 16 a comment.
std::string gzip_of(std::string_view text, int flags = 0);
/// One frame of zstd.
std::string zstd_of(std::string_view text);
/// A frame of zstd that every reader skips.
std::string zstd_skippable(std::string_view content);
/// Lines that compress about as well as traces do, the same for the same number.
std::string sample_text(std::size_t bytes);

} // namespace headroom::test
