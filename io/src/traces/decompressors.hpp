#pragma once

#include "traces/byte_feed.hpp"
#include "traces/byte_source.hpp"

#include <memory>

namespace headroom::io {

/// Reasons given once the compressed bytes no longer are what they should be. One word each, so that issues count
/// alike.
inline constexpr std::string_view cut_short = "cut short", corrupt = "corrupt", too_large = "larger than the limit",
                                  other_bytes = "followed by other bytes", disk_failed = "cannot be read further";

bool begins_as_gzip(std::string_view head);
/// A frame, or a frame to be skipped (0x184D2A50 to 0x184D2A5F).
bool begins_as_zstd(std::string_view head);

/// Whether a decompressor has given more than it may: text beyond the limit, or too much of it out of too little.
bool is_bomb(std::uint64_t text, std::uint64_t compressed, SourceLimits const& limits);

/// Rest of the input after the end of a stream: zeros up to a block of a tape or a disk are padding, all else is
/// damage.
/// Returns damage, or nothing.
std::string_view rest_of(ByteFeed& feed);

/// Members of gzip, one after the other (RFC 1952), through ISA-L.
std::unique_ptr<ByteSource> gzip_source(std::unique_ptr<ByteFeed> feed, SourceLimits const& limits);
/// Frames of zstd, one after the other (RFC 8878), skippable ones among them.
std::unique_ptr<ByteSource> zstd_source(std::unique_ptr<ByteFeed> feed, SourceLimits const& limits);

} // namespace headroom::io
