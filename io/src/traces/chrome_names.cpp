#include "traces/chrome_names.hpp"

#include "traces/chrome_text.hpp"

#include <algorithm>
#include <utility>

namespace headroom::io {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16;

/// Whether a string means itself between quotes.
bool is_plain(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char byte) { return byte == '\\' || (byte & 0x80) != 0; });
}

} // namespace

std::uint32_t ChromeNames::plain(std::string_view text) {
    return find_or_add(text, is_plain(text) || unescaped(text) == text ? 0 : 1);
}

std::uint32_t ChromeNames::find_or_add(std::string_view text, std::uint32_t kind) {
    std::uint64_t const hash = hash_of(text);
    for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
        Slot const& slot = slots_[at];
        if (slot.text == nullptr) { break; }
        bool const same = slot.hash == hash && slot.kind == kind;
        if (same && std::string_view(slot.text, slot.size) == text) { return slot.number; }
    }
    auto const number = static_cast<std::uint32_t>(texts_.size());
    auto const stored = store(text);
    texts_.push_back(stored);
    insert(stored, kind, number);
    return number;
}

std::uint32_t ChromeNames::add_raw(std::string_view raw) {
    if (is_plain(raw)) { return find_or_add(raw, 0); }
    std::string const text = unescaped(raw);
    if (text == raw) { return find_or_add(raw, 0); }
    std::uint32_t const number = plain(text);
    insert(store(raw), 0, number);
    return number;
}

void ChromeNames::insert(std::string_view stored, std::uint32_t kind, std::uint32_t number) {
    auto const put = [&](Slot const& slot) {
        std::size_t at = slot.hash & mask_;
        while (slots_[at].text != nullptr) { at = (at + 1) & mask_; }
        slots_[at] = slot;
    };
    if (++used_ * 2 > slots_.size()) {
        auto const before = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
        mask_ = slots_.size() - 1;
        for (Slot const& slot : before) {
            if (slot.text != nullptr) { put(slot); }
        }
    }
    put({stored.data(), hash_of(stored), static_cast<std::uint32_t>(stored.size()), number, kind});
}

std::string_view ChromeNames::store(std::string_view text) {
    if (block_at_ == nullptr || text.size() > block_left_) {
        std::size_t const size = std::max(block_bytes, text.size());
        blocks_.push_back(std::make_unique<char[]>(size));
        block_at_ = blocks_.back().get();
        block_left_ = size;
    }
    std::copy(text.begin(), text.end(), block_at_);
    std::string_view const stored(block_at_, text.size());
    block_at_ += text.size();
    block_left_ -= text.size();
    return stored;
}

std::vector<std::string> ChromeNames::take() {
    std::vector<std::string> texts(texts_.begin(), texts_.end());
    *this = ChromeNames{};
    return texts;
}

} // namespace headroom::io
