#include "traces/json_feed.hpp"

#include <utility>

namespace headroom::io {

namespace {

constexpr std::size_t block_size = std::size_t{256} << 10;

bool is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

} // namespace

JsonFeed::JsonFeed(ByteSource& source, std::uint64_t most, Tell tell)
    : source_{&source}, most_{most}, tell_{std::move(tell)}, block_(block_size) {
    step();
}

int JsonFeed::peek() {
    if (at_ == filled_) {
        at_ = 0;
        filled_ = given_ < most_ ? source_->read(block_.data(), block_.size()) : 0;
    }
    return at_ < filled_ ? static_cast<unsigned char>(block_[at_]) : -1;
}

int JsonFeed::take() {
    int const c = peek();
    if (c >= 0) { ++at_, ++given_; }
    return c;
}

/// Takes a word that stands outside of texts; true, false and null stay.
void JsonFeed::mend_word(char first) {
    std::uint64_t const at = given_ - 1;
    std::size_t length = 0;
    if (first != '-') { word_[length++] = first; }
    bool long_word = false;
    while (is_letter(peek())) {
        int const c = take();
        if (length < word_.size()) {
            word_[length++] = static_cast<char>(c);
        } else {
            long_word = true;
        }
    }
    std::string_view const word{word_.data(), length};
    bool const known = first != '-' && !long_word && (word == "true" || word == "false" || word == "null");
    if (!known) { tell_("not a number", at); }
    pending_ = known ? word : std::string_view{"null"};
}

void JsonFeed::step() {
    if (!pending_.empty()) {
        now_ = pending_.front();
        pending_.remove_prefix(1);
        return;
    }
    int const c = take();
    ended_ = c < 0;
    now_ = static_cast<char>(ended_ ? 0 : c);
    if (ended_) { return; }
    if (in_text_) {
        if (c < 0x20) {
            tell_("control character in a text", given_ - 1);
            now_ = ' ';
        }
        in_text_ = escaped_ || c != '"';
        escaped_ = !escaped_ && c == '\\';
    } else if (c == '"') {
        in_text_ = true;
    } else if ((is_letter(c) && c != 'e' && c != 'E') || (c == '-' && is_letter(peek()))) {
        mend_word(static_cast<char>(c));
        now_ = pending_.front();
        pending_.remove_prefix(1);
    }
}

} // namespace headroom::io
