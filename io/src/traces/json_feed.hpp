#pragma once

#include "traces/byte_source.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string_view>
#include <vector>

namespace headroom::io {

/// The text of a JSON file, a byte after the other, with two mends: a bare word that JSON does not have (inf, nan)
/// becomes null, and a control character inside a text becomes a space. Both are reported.
class JsonFeed {
public:
    using Tell = std::function<void(std::string_view kind, std::uint64_t at_byte)>;
    JsonFeed(ByteSource& source, std::uint64_t most, Tell tell);

    [[nodiscard]] bool ended() const { return ended_; }
    [[nodiscard]] char const& front() const { return now_; }
    void step();
    /// Bytes of the text given so far.
    [[nodiscard]] std::uint64_t byte() const { return given_; }

private:
    int take();
    int peek();
    void mend_word(char first);
    ByteSource* source_;
    std::uint64_t most_, given_ = 0;
    Tell tell_;
    std::vector<char> block_;
    std::size_t at_ = 0, filled_ = 0;
    std::string_view pending_; ///< rest of the replacement for a word that was taken
    std::array<char, 8> word_{};
    bool in_text_ = false, escaped_ = false, ended_ = false;
    char now_ = 0;
};

/// Iterator from which nlohmann's parser reads.
class JsonFeedIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = char const*;
    using reference = char const&;
    JsonFeedIterator() = default; ///< the end
    explicit JsonFeedIterator(JsonFeed& feed) : feed_{&feed} {}
    reference operator*() const { return feed_->front(); }
    JsonFeedIterator& operator++() {
        feed_->step();
        return *this;
    }
    bool operator==(JsonFeedIterator const& other) const { return is_end() == other.is_end(); }
    bool operator!=(JsonFeedIterator const& other) const { return !(*this == other); }

private:
    [[nodiscard]] bool is_end() const { return feed_ == nullptr || feed_->ended(); }
    JsonFeed* feed_ = nullptr;
};

} // namespace headroom::io
