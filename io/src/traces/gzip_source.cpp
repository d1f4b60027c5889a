#include "traces/decompressors.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <isa-l/igzip_lib.h>
#include <utility>

namespace headroom::io {

namespace {

/// Most bytes passed to one call, far from the limits of its 32-bit counts.
constexpr std::size_t largest_piece = std::size_t{1} << 30;

class GzipSource final : public ByteSource {
public:
    GzipSource(std::unique_ptr<ByteFeed> feed, SourceLimits const& limits)
        : feed_{std::move(feed)}, limits_{limits}, state_{std::make_unique<inflate_state>()} {}

    std::size_t read(char* into, std::size_t size) override {
        std::size_t filled = 0;
        while (filled < size && where_ != At::end) {
            if (where_ == At::header) { begin_member(); }
            if (where_ == At::body) { filled += inflate(into + filled, size - filled); }
            if (where_ == At::trailer) { end_member(); }
            if (where_ != At::end && is_bomb(text_, feed_->taken(), limits_)) { stop(too_large); }
        }
        return filled;
    }
    [[nodiscard]] std::uint64_t bytes_read() const override { return feed_->taken(); }
    [[nodiscard]] std::string_view damage() const override { return damage_; }

private:
    enum class At { header, body, trailer, end };

    std::unique_ptr<ByteFeed> feed_;
    SourceLimits limits_;
    std::unique_ptr<inflate_state> state_;
    At where_ = At::header;
    bool first_ = true;
    std::uint64_t text_ = 0, member_text_ = 0;
    std::string_view damage_;

    /// The first damage is the cause of the others.
    void tell(std::string_view damage) {
        if (damage_.empty()) { damage_ = damage; }
    }
    void stop(std::string_view damage) {
        tell(damage);
        where_ = At::end;
    }
    void stop_at_end() { stop(feed_->failed() ? disk_failed : cut_short); }

    void begin_member();
    bool skip_header();
    bool skip_text();
    std::size_t inflate(char* into, std::size_t size);
    std::size_t inflate_once(char* into, std::size_t size, std::size_t& taken, int& result);
    void end_member();
};

void GzipSource::begin_member() {
    if (!first_ && !begins_as_gzip(feed_->peek(2))) { return stop(rest_of(*feed_)); }
    first_ = false;
    if (!skip_header()) { return; }
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP_NO_HDR;
    member_text_ = 0;
    where_ = At::body;
}

/// Bytes up to and with the next zero.
bool GzipSource::skip_text() {
    int byte = 1;
    while (byte > 0) { byte = feed_->byte(); }
    return byte == 0;
}

bool GzipSource::skip_header() {
    std::array<int, 10> fixed{};
    for (int& byte : fixed) { byte = feed_->byte(); }
    if (fixed.back() < 0) { return stop_at_end(), false; }
    int const flags = fixed[3];
    if (fixed[2] != 8 || (flags & 0xe0) != 0) { return stop(corrupt), false; }
    bool whole = true;
    if ((flags & 4) != 0) { // an extra field, with its length before it
        int const low = feed_->byte(), high = feed_->byte();
        whole = high >= 0;
        for (int left = whole ? low + 256 * high : 0; left > 0 && whole; --left) { whole = feed_->byte() >= 0; }
    }
    if ((flags & 8) != 0) { whole = whole && skip_text(); }  // the file's name
    if ((flags & 16) != 0) { whole = whole && skip_text(); } // a comment
    for (int left = (flags & 2) != 0 ? 2 : 0; left > 0 && whole; --left) { whole = feed_->byte() >= 0; }
    if (!whole) { stop_at_end(); }
    return whole;
}

std::size_t GzipSource::inflate_once(char* into, std::size_t size, std::size_t& taken, int& result) {
    std::string_view const ahead = feed_->peek();
    std::size_t const in = std::min(ahead.size(), largest_piece), out = std::min(size, largest_piece);
    std::array<char, 1> nothing{};
    char const* const from = ahead.empty() ? nothing.data() : ahead.data();
    state_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(from)); // ISA-L only reads
    state_->avail_in = static_cast<std::uint32_t>(in);
    state_->next_out = reinterpret_cast<std::uint8_t*>(into);
    state_->avail_out = static_cast<std::uint32_t>(out);
    result = isal_inflate(state_.get());
    // Where data are corrupt the library counts bytes behind the end as taken: its count goes below zero.
    bool const beyond = state_->avail_in > in;
    taken = beyond ? in : in - state_->avail_in;
    if (beyond && result >= ISAL_DECOMP_OK) { result = ISAL_INVALID_BLOCK; }
    feed_->take(taken);
    // The library takes its 32-bit count for how far back it may look: it must not wrap to a small number.
    if (state_->total_out >= (1U << 31)) { state_->total_out -= 1U << 30; }
    // Its count of free space is off where it stopped in the middle, while its place is right.
    auto const given = reinterpret_cast<char const*>(state_->next_out) - into;
    return std::min(out, static_cast<std::size_t>(std::max<std::ptrdiff_t>(given, 0)));
}

std::size_t GzipSource::inflate(char* into, std::size_t size) {
    std::size_t taken = 0;
    int result = ISAL_DECOMP_OK;
    std::size_t const given = inflate_once(into, size, taken, result);
    text_ += given;
    member_text_ += given;
    if (result != ISAL_DECOMP_OK && result != ISAL_END_INPUT && result != ISAL_OUT_OVERFLOW) {
        stop(corrupt);
    } else if (state_->block_state == ISAL_BLOCK_FINISH) {
        // Whole bytes that it had read ahead belong to the trailer.
        feed_->give_back(static_cast<std::size_t>(std::max(0, state_->read_in_length)) / 8);
        where_ = At::trailer;
    } else if (given == 0 && taken == 0) {
        feed_->peek().empty() ? stop_at_end() : stop(corrupt);
    }
    return given;
}

void GzipSource::end_member() {
    std::array<int, 8> bytes{};
    for (int& byte : bytes) { byte = feed_->byte(); }
    if (bytes.back() < 0) { return stop_at_end(); }
    auto const number = [&bytes](std::size_t from) {
        std::uint32_t value = 0;
        for (std::size_t i = 4; i-- > 0;) { value = value << 8 | static_cast<std::uint32_t>(bytes[from + i]); }
        return value;
    };
    if (number(0) != state_->crc || number(4) != static_cast<std::uint32_t>(member_text_)) { tell(corrupt); }
    where_ = At::header;
}

} // namespace

std::unique_ptr<ByteSource> gzip_source(std::unique_ptr<ByteFeed> feed, SourceLimits const& limits) {
    return std::make_unique<GzipSource>(std::move(feed), limits);
}

} // namespace headroom::io
