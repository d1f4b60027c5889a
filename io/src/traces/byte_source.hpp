#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace headroom::io {

/// Bytes in order, from a file, from memory or out of a decompressor, a block at a time.
class ByteSource {
public:
    ByteSource() = default;
    ByteSource(ByteSource const&) = delete;
    ByteSource& operator=(ByteSource const&) = delete;
    virtual ~ByteSource() = default;

    /// Fills `into` as far as it can; less than `size` only at the end of the input, or where damage ends it.
    virtual std::size_t read(char* into, std::size_t size) = 0;
    /// Bytes read of the input as it lies on the disk, so far.
    [[nodiscard]] virtual std::uint64_t bytes_read() const = 0;
    /// Why the bytes ended before the input did ("cut short", "corrupt", "larger than the limit"); empty: they did not.
    [[nodiscard]] virtual std::string_view damage() const { return {}; }
    /// The plain file behind it, which can be read at any place by several threads at once; -1: there is none.
    [[nodiscard]] virtual int plain_file() const { return -1; }
    /// All bytes, where they are in memory already.
    [[nodiscard]] virtual std::string_view in_memory() const { return {}; }
    /// Number of bytes that `read` gives, where that is known before; else 0.
    [[nodiscard]] virtual std::uint64_t size() const { return 0; }
};

struct SourceLimits {
    std::uint64_t text = 0; ///< bytes after decompression
    double ratio = 0.0;     ///< of them over compressed bytes
};

/// Opens a file or bytes by what they begin with, not by a name: gzip (one member or many), zstd (frames), else plain.
/// A request to stop ends a pipe or a device there.
/// Errors: InputError{unreadable}.
std::unique_ptr<ByteSource> open_source(std::filesystem::path const& path, SourceLimits const& limits,
                                        std::stop_token stop = {});
std::unique_ptr<ByteSource> open_source(std::string_view bytes, std::string const& where, SourceLimits const& limits);

} // namespace headroom::io
