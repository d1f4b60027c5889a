#pragma once

#include "traces/byte_source.hpp"

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::io {

/// Whole lines out of a source, in memory that grows with the longest of them alone.
class LineFeed {
public:
    static constexpr std::size_t longest_line = std::size_t{16} << 20;
    static constexpr std::size_t readable_behind = 64; ///< bytes that may be read behind a chunk

    LineFeed(ByteSource& source, std::string_view where, std::stop_token stop = {})
        : source_{source}, where_{where}, stop_{std::move(stop)}, buffer_(first_size) {}

    /// The next lines, each with its end, which is put behind the last one if need be; empty at the end of the input, and
    /// once a stop was requested.
    /// Errors: InputError{unreadable} for a line longer than `longest_line`.
    std::string_view chunk();
    /// The next line, without its end.
    bool next(std::string_view& line);
    /// Number of the line that `next` gave last, from 1; for a reader of chunks, the lines that it has counted.
    [[nodiscard]] std::uint64_t number() const { return number_; }
    void count(std::uint64_t lines) { number_ += lines; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; } ///< of text so far
    /// Whether a stop was requested before the end of the input.
    [[nodiscard]] bool interrupted() const { return interrupted_; }

private:
    static constexpr std::size_t first_size = std::size_t{256} << 10;

    void fill();

    ByteSource& source_;
    std::string where_;
    std::stop_token stop_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0, end_ = 0; ///< of what was read and not given
    std::string_view current_;        ///< rest of the chunk for `next`
    std::uint64_t number_ = 0, bytes_ = 0;
    bool ended_ = false, started_ = false, interrupted_ = false;
};

} // namespace headroom::io
