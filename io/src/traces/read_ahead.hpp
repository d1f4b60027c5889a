#pragma once

#include "traces/byte_source.hpp"

#include <array>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace headroom::io {

/// Reads a source on a thread of its own, some blocks ahead: decompression and what is made of the text go side by side.
/// The source must not be touched until this is gone.
class ReadAhead {
public:
    ReadAhead(ByteSource& source, std::size_t block);
    ReadAhead(ReadAhead const&) = delete;
    ReadAhead& operator=(ReadAhead const&) = delete;
    ~ReadAhead();

    /// As `ByteSource::read`; what the source throws is thrown here.
    std::size_t read(char* into, std::size_t size);

private:
    struct Block {
        std::vector<char> bytes;
        std::size_t size = 0;
    };
    void fill();
    bool next_block();

    ByteSource& source_;
    std::array<Block, 4> blocks_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t filled_ = 0, emptied_ = 0; ///< blocks since the beginning
    bool ended_ = false, given_up_ = false;
    std::exception_ptr failure_;
    std::size_t at_ = 0; ///< within the block that is being given
    bool giving_ = false;
    std::thread thread_;
};

} // namespace headroom::io
