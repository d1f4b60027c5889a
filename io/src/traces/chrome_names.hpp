#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::io {

/// Strings of a trace by number, each once, in the order in which they came. They are looked up as they stand between
/// quotes; only what comes for the first time is unescaped.
class ChromeNames {
public:
    std::uint32_t raw(std::string_view text) {
        std::uint64_t const hash = hash_of(text);
        for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
            Slot const& slot = slots_[at];
            if (slot.text == nullptr) { return add_raw(text); }
            bool const same = slot.hash == hash && slot.size == text.size();
            if (same && slot.kind == 0 && std::string_view(slot.text, slot.size) == text) { return slot.number; }
        }
    }
    /// The number of a string that is unescaped already.
    std::uint32_t plain(std::string_view text);
    [[nodiscard]] std::size_t size() const { return texts_.size(); }
    [[nodiscard]] std::string_view operator[](std::uint32_t number) const { return texts_[number]; }
    [[nodiscard]] std::vector<std::string> take();

private:
    struct Slot {
        char const* text = nullptr;
        std::uint64_t hash = 0;
        std::uint32_t size = 0;
        std::uint32_t number = 0;
        std::uint32_t kind = 0; ///< 1: the text is unescaped and would mean something else between quotes
    };
    static std::uint64_t hash_of(std::string_view text);
    std::uint32_t add_raw(std::string_view raw);
    std::uint32_t find_or_add(std::string_view text, std::uint32_t kind);
    void insert(std::string_view stored, std::uint32_t kind, std::uint32_t number);
    std::string_view store(std::string_view text);

    std::vector<Slot> slots_ = std::vector<Slot>(256);
    std::size_t mask_ = 255, used_ = 0;
    std::vector<std::string_view> texts_;
    std::vector<std::unique_ptr<char[]>> blocks_;
    std::size_t block_left_ = 0;
    char* block_at_ = nullptr;
};

inline std::uint64_t ChromeNames::hash_of(std::string_view text) {
    constexpr std::uint64_t first = 0x9e3779b97f4a7c15U, second = 0xe7037ed1a0b428dbU;
    auto const load = [](char const* at) {
        std::uint64_t bytes = 0;
        __builtin_memcpy(&bytes, at, 8);
        return bytes;
    };
    auto const mix = [](std::uint64_t left, std::uint64_t right) {
        __extension__ using Wide = unsigned __int128;
        Wide const product = static_cast<Wide>(left) * right;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    };
    std::uint64_t hash = text.size() * first;
    char const* at = text.data();
    std::size_t left = text.size();
    for (; left > 16; left -= 16, at += 16) { hash = mix(load(at) ^ first ^ hash, load(at + 8) ^ second); }
    if (left >= 8) { return mix(load(at) ^ first ^ hash, load(at + left - 8) ^ second); }
    std::uint64_t rest = 0;
    for (std::size_t byte = 0; byte < left; ++byte) { rest = rest << 8 | static_cast<unsigned char>(at[byte]); }
    return mix(rest ^ first ^ hash, second);
}

} // namespace headroom::io
