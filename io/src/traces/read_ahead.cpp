#include "traces/read_ahead.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>

namespace headroom::io {

ReadAhead::ReadAhead(ByteSource& source, std::size_t block) : source_(source) {
    for (Block& one : blocks_) { one.bytes.resize(std::max<std::size_t>(block, 1)); }
    try {
        thread_ = std::thread([this] { fill(); });
    } catch (std::system_error const&) {} // no thread is to be had: the reader reads itself
}

ReadAhead::~ReadAhead() {
    {
        std::lock_guard const lock(mutex_);
        given_up_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) { thread_.join(); }
}

void ReadAhead::fill() {
    bool ended = false;
    while (!ended) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return given_up_ || filled_ - emptied_ < blocks_.size(); });
        if (given_up_) { return; }
        Block& block = blocks_[filled_ % blocks_.size()];
        lock.unlock();
        std::exception_ptr failure;
        try {
            block.size = source_.read(block.bytes.data(), block.bytes.size());
        } catch (...) {
            failure = std::current_exception();
            block.size = 0;
        }
        ended = block.size < block.bytes.size();
        lock.lock();
        failure_ = failure;
        ended_ = ended;
        ++filled_;
        lock.unlock();
        changed_.notify_all();
    }
}

/// Goes to the next block that is filled; false at the end.
bool ReadAhead::next_block() {
    std::unique_lock lock(mutex_);
    if (giving_) { ++emptied_; }
    changed_.notify_all();
    changed_.wait(lock, [this] { return filled_ > emptied_ || ended_; });
    giving_ = filled_ > emptied_;
    at_ = 0;
    bool const last = filled_ == emptied_ + 1 && ended_;
    if (giving_ && last && failure_) { std::rethrow_exception(failure_); }
    return giving_;
}

std::size_t ReadAhead::read(char* into, std::size_t size) {
    if (!thread_.joinable()) { return source_.read(into, size); }
    std::size_t given = 0;
    while (given < size) {
        if (!giving_ || at_ == blocks_[emptied_ % blocks_.size()].size) {
            if (!next_block()) { break; }
            continue;
        }
        Block const& block = blocks_[emptied_ % blocks_.size()];
        std::size_t const count = std::min(size - given, block.size - at_);
        std::memcpy(into + given, block.bytes.data() + at_, count);
        given += count;
        at_ += count;
    }
    return given;
}

} // namespace headroom::io
