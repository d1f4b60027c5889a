#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

namespace headroom::io {

/// The bytes of an input as they lie on the disk, in order, through one window: what decompressors read from.
/// A window keeps the last eight bytes of the one before it, so that a decompressor may give some of them back.
class ByteFeed {
public:
    /// Errors: InputError{unreadable}: missing, a folder, not permitted, a pipe that nobody writes into.
    /// A request to stop ends what comes from a pipe or a device as if its writer had ended it.
    explicit ByteFeed(std::filesystem::path const& path, std::stop_token stop = {});
    explicit ByteFeed(std::string_view bytes) : window_{bytes}, memory_{bytes} {}
    ~ByteFeed();
    ByteFeed(ByteFeed const&) = delete;
    ByteFeed& operator=(ByteFeed const&) = delete;

    /// Bytes of the window that were not taken yet; empty only at the end of the input.
    std::string_view peek();
    /// At least `count` bytes (no more than 64 Ki), fewer only at the end of the input.
    std::string_view peek(std::size_t count);
    void take(std::size_t count) { window_.remove_prefix(count); }
    /// The next byte, or -1 at the end of the input.
    int byte();
    /// Gives back up to eight bytes that were taken last.
    void give_back(std::size_t count) { window_ = {window_.data() - count, window_.size() + count}; }

    [[nodiscard]] std::uint64_t taken() const { return fetched() - window_.size(); }
    /// Reading stopped because the disk failed, not because the input ended.
    [[nodiscard]] bool failed() const { return failed_; }
    /// The descriptor of a regular file; -1: none.
    [[nodiscard]] int regular() const { return regular_ ? descriptor_ : -1; }
    [[nodiscard]] std::uint64_t size() const { return memory_ ? memory_->size() : size_; }
    [[nodiscard]] std::optional<std::string_view> memory() const { return memory_; }

private:
    std::string_view window_;
    std::optional<std::string_view> memory_;
    std::stop_token stop_;
    std::vector<char> buffer_;
    std::uint64_t offset_ = 0; ///< of the file, behind the window
    std::uint64_t size_ = 0;
    int descriptor_ = -1;
    bool regular_ = false, failed_ = false;

    void open(std::filesystem::path const& path);
    void refill(std::size_t keep);
    [[nodiscard]] bool comes_within(int milliseconds) const;
    [[nodiscard]] std::ptrdiff_t fetch(char* into, std::size_t room) const;
    [[nodiscard]] std::uint64_t fetched() const { return memory_ ? memory_->size() : offset_; }
};

} // namespace headroom::io
