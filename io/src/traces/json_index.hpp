#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom::io {

/// Padding that an index of JSON text needs: so many readable bytes before the text and, as spaces, after it.
inline constexpr std::size_t json_padding = 64;

/// Where things stand in a window of JSON text that begins outside of strings: 64 bytes at a time, as bits.
/// The same for any set of instructions.
class JsonIndex {
public:
    /// Indexes `size` bytes; those up to the next multiple of 64 must be readable spaces.
    void read(char const* text, std::size_t size);

    /// Braces and colons outside of strings, by place; after the last one `size()`.
    [[nodiscard]] std::uint32_t const* tokens() const { return tokens_.data(); }
    [[nodiscard]] std::uint32_t size() const { return size_; }
    /// The first quote at `from` or after it that is not escaped; at least `size()` where there is none.
    [[nodiscard]] std::uint32_t quote(std::uint32_t from) const {
        std::size_t word = from / 64;
        std::uint64_t bits = quotes_[word] & (~std::uint64_t{0} << from % 64);
        while (bits == 0) { bits = quotes_[++word]; }
        return static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(__builtin_ctzll(bits)));
    }
    /// The first place at `from` or after it where a value is followed by what cannot follow one: a quote within a
    /// string that is not escaped shows so. `size()` where there is none. `from` must not fall.
    [[nodiscard]] std::uint32_t fault(std::uint32_t from) { return next(faults_, next_fault_, from); }
    /// First block of 64 bytes at `from` or after it with anything that a string or number of plain ASCII does not
    /// have.
    [[nodiscard]] std::uint32_t unusual(std::uint32_t from) { return next(unusual_, next_unusual_, from); }

private:
    static std::uint32_t next(std::vector<std::uint32_t> const& places, std::size_t& at, std::uint32_t from) {
        while (places[at] < from) { ++at; }
        return places[at];
    }

    std::vector<std::uint32_t> tokens_, faults_, unusual_;
    std::vector<std::uint64_t> quotes_;
    std::size_t next_fault_ = 0, next_unusual_ = 0;
    std::uint32_t size_ = 0;
};

/// Instructions that the index can be made with; all give the same. For tests and measurements.
enum class JsonInstructions { best, avx2, sse2, plain };
void use_json_instructions(JsonInstructions instructions);

} // namespace headroom::io
