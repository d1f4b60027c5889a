#include "traces/byte_source.hpp"

#include "records/record.hpp"
#include "traces/decompressors.hpp"

#include "headroom/io/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace headroom::io {

namespace {

constexpr std::uint64_t trusted_text = std::uint64_t{16} << 20; ///< below it no ratio is suspicious

class MemorySource final : public ByteSource {
public:
    explicit MemorySource(std::string_view bytes) : bytes_{bytes} {}
    std::size_t read(char* into, std::size_t size) override {
        std::size_t const count = std::min(size, bytes_.size() - given_);
        if (count > 0) { std::memcpy(into, bytes_.data() + given_, count); }
        given_ += count;
        return count;
    }
    [[nodiscard]] std::uint64_t bytes_read() const override { return given_; }
    [[nodiscard]] std::string_view in_memory() const override { return bytes_; }
    [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }

private:
    std::string_view bytes_;
    std::size_t given_ = 0;
};

/// A regular file, straight into the reader's memory.
class FileSource final : public ByteSource {
public:
    explicit FileSource(std::unique_ptr<ByteFeed> feed) : feed_{std::move(feed)} {}
    std::size_t read(char* into, std::size_t size) override {
        std::size_t filled = 0;
        while (filled < size && damage_.empty()) {
            ssize_t const got = ::pread(feed_->regular(), into + filled, size - filled, static_cast<off_t>(offset_));
            if (got < 0 && errno == EINTR) { continue; }
            if (got < 0) { damage_ = disk_failed; }
            if (got == 0 && offset_ < feed_->size()) { damage_ = cut_short; } // somebody shortens it meanwhile
            if (got <= 0) { break; }
            offset_ += static_cast<std::uint64_t>(got);
            filled += static_cast<std::size_t>(got);
        }
        return filled;
    }
    [[nodiscard]] std::uint64_t bytes_read() const override { return offset_; }
    [[nodiscard]] std::string_view damage() const override { return damage_; }
    [[nodiscard]] int plain_file() const override { return feed_->regular(); }
    [[nodiscard]] std::uint64_t size() const override { return feed_->size(); }

private:
    std::unique_ptr<ByteFeed> feed_;
    std::uint64_t offset_ = 0;
    std::string_view damage_;
};

/// A pipe or a device: nobody knows where it ends.
class StreamSource final : public ByteSource {
public:
    StreamSource(std::unique_ptr<ByteFeed> feed, SourceLimits const& limits)
        : feed_{std::move(feed)}, limit_{limits.text} {}
    std::size_t read(char* into, std::size_t size) override {
        std::size_t filled = 0;
        while (filled < size && damage_.empty()) {
            std::string_view const ahead = feed_->peek();
            if (ahead.empty()) {
                if (feed_->failed()) { damage_ = disk_failed; }
                break;
            }
            std::size_t const count = std::min(size - filled, ahead.size());
            std::memcpy(into + filled, ahead.data(), count);
            feed_->take(count);
            filled += count;
            if (limit_ > 0 && feed_->taken() > limit_) { damage_ = too_large; }
        }
        return filled;
    }
    [[nodiscard]] std::uint64_t bytes_read() const override { return feed_->taken(); }
    [[nodiscard]] std::string_view damage() const override { return damage_; }

private:
    std::unique_ptr<ByteFeed> feed_;
    std::uint64_t limit_;
    std::string_view damage_;
};

std::unique_ptr<ByteSource> source_of(std::unique_ptr<ByteFeed> feed, SourceLimits const& limits) {
    std::string_view const head = feed->peek(4);
    if (begins_as_gzip(head)) { return gzip_source(std::move(feed), limits); }
    if (begins_as_zstd(head)) { return zstd_source(std::move(feed), limits); }
    if (auto const memory = feed->memory()) { return std::make_unique<MemorySource>(*memory); }
    if (feed->regular() >= 0) { return std::make_unique<FileSource>(std::move(feed)); }
    return std::make_unique<StreamSource>(std::move(feed), limits);
}

} // namespace

std::string unpacked_head(std::filesystem::path const& path, std::size_t bytes) {
    std::string head(bytes, '\0');
    auto const source = open_source(path, {});
    head.resize(source->read(head.data(), bytes));
    if (head.empty() && !source->damage().empty()) {
        unreadable_error(path.string(), "cannot be read",
                         fmt::format("nothing could be unpacked: {}", source->damage()));
    }
    return head;
}

bool begins_as_gzip(std::string_view head) { return head.starts_with("\x1f\x8b"); }

bool begins_as_zstd(std::string_view head) {
    if (head.starts_with("\x28\xb5\x2f\xfd")) { return true; }
    return head.size() >= 4 && (static_cast<unsigned char>(head[0]) & 0xf0) == 0x50 &&
           head.substr(1, 3) == "\x2a\x4d\x18";
}

bool is_bomb(std::uint64_t text, std::uint64_t compressed, SourceLimits const& limits) {
    if (limits.text > 0 && text > limits.text) { return true; }
    return limits.ratio > 0.0 && text > trusted_text &&
           static_cast<double>(text) > limits.ratio * static_cast<double>(compressed);
}

std::string_view rest_of(ByteFeed& feed) {
    for (std::string_view ahead = feed.peek(); !ahead.empty(); ahead = feed.peek()) {
        if (ahead.find_first_not_of('\0') != std::string_view::npos) { return other_bytes; }
        feed.take(ahead.size());
    }
    return feed.failed() ? disk_failed : std::string_view{};
}

std::unique_ptr<ByteSource> open_source(std::filesystem::path const& path, SourceLimits const& limits,
                                        std::stop_token stop) {
    return source_of(std::make_unique<ByteFeed>(path, std::move(stop)), limits);
}

std::unique_ptr<ByteSource> open_source(std::string_view bytes, std::string const& /*where*/,
                                        SourceLimits const& limits) {
    return source_of(std::make_unique<ByteFeed>(bytes), limits);
}

} // namespace headroom::io
