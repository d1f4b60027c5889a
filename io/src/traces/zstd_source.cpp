#include "traces/decompressors.hpp"

#include <new>
#include <utility>
#include <zstd.h>
#include <zstd_errors.h>

namespace headroom::io {

namespace {

struct FreeContext {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class ZstdSource final : public ByteSource {
public:
    ZstdSource(std::unique_ptr<ByteFeed> feed, SourceLimits const& limits)
        : feed_{std::move(feed)}, limits_{limits}, context_{ZSTD_createDCtx()} {
        if (!context_) { throw std::bad_alloc{}; }
    }

    std::size_t read(char* into, std::size_t size) override {
        std::size_t filled = 0;
        while (filled < size && !ended_) { filled += inflate(into + filled, size - filled); }
        return filled;
    }
    [[nodiscard]] std::uint64_t bytes_read() const override { return feed_->taken(); }
    [[nodiscard]] std::string_view damage() const override { return damage_; }

private:
    std::unique_ptr<ByteFeed> feed_;
    SourceLimits limits_;
    std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
    std::uint64_t text_ = 0;
    bool between_frames_ = true, any_frame_ = false, ended_ = false;
    std::string_view damage_;

    void stop(std::string_view damage) {
        damage_ = damage;
        ended_ = true;
    }
    std::size_t inflate(char* into, std::size_t size);
    void refuse(std::size_t code);
};

void ZstdSource::refuse(std::size_t code) {
    // A window of more than 128 MiB is memory that a few bytes of input should not cost.
    bool const window = ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge;
    stop(window ? too_large : corrupt);
}

std::size_t ZstdSource::inflate(char* into, std::size_t size) {
    std::string_view const ahead = between_frames_ ? feed_->peek(4) : feed_->peek();
    if (between_frames_ && any_frame_ && !begins_as_zstd(ahead)) { return stop(rest_of(*feed_)), 0; }
    ZSTD_inBuffer in{ahead.data(), ahead.size(), 0};
    ZSTD_outBuffer out{into, size, 0};
    std::size_t const left = ZSTD_decompressStream(context_.get(), &out, &in);
    text_ += out.pos;
    if (ZSTD_isError(left) != 0) { return refuse(left), out.pos; }
    feed_->take(in.pos);
    between_frames_ = left == 0;
    any_frame_ = true;
    if (is_bomb(text_, feed_->taken(), limits_)) {
        stop(too_large);
    } else if (in.pos == 0 && out.pos == 0) { // nothing moves: the input has ended inside of a frame
        stop(feed_->failed() ? disk_failed : ahead.empty() ? cut_short : corrupt);
    }
    return out.pos;
}

} // namespace

std::unique_ptr<ByteSource> zstd_source(std::unique_ptr<ByteFeed> feed, SourceLimits const& limits) {
    return std::make_unique<ZstdSource>(std::move(feed), limits);
}

} // namespace headroom::io
