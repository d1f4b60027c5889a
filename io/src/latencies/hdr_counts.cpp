#include "latencies/hdr_counts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <isa-l/igzip_lib.h>
#include <memory>

namespace headroom::io {
namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20; ///< of counts, decompressed
constexpr std::uint32_t size_bits = 0xf0;                 ///< of a cookie: how many bytes a count has
constexpr std::uint32_t of_doubles = 0x0c72124e, of_doubles_compressed = 0x0c72124f;
constexpr std::array compressed_cookies{0x1c849309U, 0x1c849302U, 0x1c849304U};
constexpr std::uint32_t version_0 = 0x1c849308, version_1 = 0x1c849301, version_2 = 0x1c849303;

/// Bytes of the highest first.
class BigEndian {
public:
    explicit BigEndian(std::string_view bytes) : bytes_{bytes} {}
    template <class T> T take() {
        std::uint64_t value = 0;
        if (bytes_.size() < sizeof(T)) {
            good_ = false;
            bytes_ = {};
            return T{};
        }
        for (std::size_t i = 0; i < sizeof(T); ++i) { value = value << 8U | static_cast<unsigned char>(bytes_[i]); }
        bytes_.remove_prefix(sizeof(T));
        return static_cast<T>(value);
    }
    /// A number of seven bits a byte, the lowest first, the ninth byte whole; its sign in the lowest bit.
    std::int64_t take_zigzag() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift <= 56; shift += 7) {
            auto const byte = std::uint64_t{take<std::uint8_t>()};
            bool const last = shift == 56;
            value |= (last ? byte : byte & 0x7fU) << shift;
            if (last || byte < 0x80U) { break; }
        }
        return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1U));
    }
    [[nodiscard]] bool good() const { return good_; }
    [[nodiscard]] std::string_view rest() const { return bytes_; }

private:
    std::string_view bytes_;
    bool good_ = true;
};

/// Unpacks zlib's data; false where they are damaged or too large.
bool inflate_zlib(std::string_view packed, std::string& bytes) {
    auto const state = std::make_unique<inflate_state>();
    isal_inflate_init(state.get());
    state->crc_flag = ISAL_ZLIB;
    state->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(packed.data())); // ISA-L only reads
    state->avail_in = static_cast<std::uint32_t>(packed.size());
    std::array<char, std::size_t{64} << 10U> part{};
    bytes.clear();
    while (state->block_state != ISAL_BLOCK_FINISH) {
        std::uint32_t const left = state->avail_in;
        state->next_out = reinterpret_cast<std::uint8_t*>(part.data());
        state->avail_out = static_cast<std::uint32_t>(part.size());
        int const result = isal_inflate(state.get());
        auto const given = reinterpret_cast<char const*>(state->next_out) - part.data();
        bool const beyond = state->avail_in > left; // where data are damaged the library counts behind the end
        if (result < ISAL_DECOMP_OK || beyond || given < 0) { return false; }
        bytes.append(part.data(), static_cast<std::size_t>(given));
        if (bytes.size() > most_bytes) { return false; }
        bool const stands_still = given == 0 && state->avail_in == left;
        if (stands_still && state->block_state != ISAL_BLOCK_FINISH) { return false; }
    }
    return true;
}

/// Layout of counts over values: every power of two is cut into equally many cells.
struct Cells {
    int unit_magnitude = 0, half_magnitude = 0;
    std::int64_t length = 0; ///< counts that there can be

    /// False where a header states what no histogram has.
    bool set(int digits, std::int64_t lowest, std::int64_t highest) {
        if (digits < 0 || digits > 5 || lowest < 1 || highest / 2 < lowest) { return false; }
        double const single_units = 2.0 * std::pow(10.0, digits);
        unit_magnitude = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(lowest))) - 1;
        int const magnitude = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(single_units) - 1));
        half_magnitude = std::max(magnitude, 1) - 1;
        if (unit_magnitude + half_magnitude > 61) { return false; }
        std::int64_t buckets = 1;
        int const first = half_magnitude + 1 + unit_magnitude;
        for (int bit = first; bit < 63 && (std::int64_t{1} << bit) <= highest; ++bit) { ++buckets; }
        length = (buckets + 1) << half_magnitude;
        return true;
    }
    /// The cell of a count: where it begins, and how wide it is.
    void at(std::int64_t index, double& low, double& width) const {
        std::int64_t bucket = (index >> half_magnitude) - 1;
        std::int64_t const half = std::int64_t{1} << half_magnitude;
        std::int64_t inside = (index & (half - 1)) + half;
        if (bucket < 0) {
            inside -= half;
            bucket = 0;
        }
        width = std::ldexp(1.0, static_cast<int>(bucket) + unit_magnitude);
        low = static_cast<double>(inside) * width;
    }
    [[nodiscard]] double relative_error() const { return 0.5 / std::ldexp(1.0, half_magnitude); }
};

struct Counts {
    Cells cells;
    double ratio = 1.0;   ///< of a histogram of doubles: its value for 1
    std::size_t word = 0; ///< bytes of a count; 9: of variable length, with runs of zeros
    std::string_view bytes;
};

bool read_header(std::string_view bytes, bool doubles, Counts& counts) {
    BigEndian in{bytes};
    auto const cookie = in.take<std::uint32_t>();
    std::uint32_t const base = cookie & ~size_bits;
    counts.word = (cookie & size_bits) >> 4U & 0xeU;
    int digits = 0;
    std::int64_t lowest = 0, highest = 0;
    std::size_t length = bytes.size();
    if (base == version_0) {
        digits = in.take<std::int32_t>();
        lowest = in.take<std::int64_t>();
        highest = in.take<std::int64_t>();
        in.take<std::int64_t>(); // the count of all
    } else if (base == version_1 || base == version_2) {
        length = in.take<std::uint32_t>();
        in.take<std::int32_t>(); // where counts lay in memory
        digits = in.take<std::int32_t>();
        lowest = in.take<std::int64_t>();
        highest = in.take<std::int64_t>();
        counts.ratio = std::bit_cast<double>(in.take<std::uint64_t>());
        if (base == version_2) { counts.word = 9; }
    } else {
        return false;
    }
    // Writers in other languages leave anything where a histogram of whole numbers has no use for it.
    if (!doubles) { counts.ratio = 1.0; }
    bool const known_word = counts.word == 2 || counts.word == 4 || counts.word == 8 || counts.word == 9;
    bool const whole = in.good() && (base == version_0 || in.rest().size() >= length);
    counts.bytes = in.rest().substr(0, length);
    return known_word && whole && std::isfinite(counts.ratio) && counts.ratio > 0.0 &&
           counts.cells.set(digits, lowest, highest);
}

std::int64_t next_count(BigEndian& in, std::size_t word) {
    switch (word) {
    case 2: return in.take<std::int16_t>();
    case 4: return in.take<std::int32_t>();
    case 8: return in.take<std::int64_t>();
    default: return in.take_zigzag();
    }
}

bool give_counts(Counts const& counts, HdrFacts& facts, std::function<void(double, std::uint64_t)> const& cell) {
    BigEndian in{counts.bytes};
    std::int64_t index = 0;
    facts.relative_error = counts.cells.relative_error();
    while (in.rest().size() >= (counts.word == 9 ? 1 : counts.word)) {
        std::int64_t const count = next_count(in, counts.word);
        if (!in.good()) { return false; }
        if (count < 0) { // that many cells are empty
            if (counts.word != 9 || count < -counts.cells.length) { return false; }
            index -= count;
            continue;
        }
        if (count > 0) {
            if (index >= counts.cells.length) { return false; }
            double low = 0.0, width = 0.0;
            counts.cells.at(index, low, width);
            double const middle = width > 1.0 ? low + 0.5 * width : low;
            cell(middle * counts.ratio, static_cast<std::uint64_t>(count));
            facts.count += static_cast<std::uint64_t>(count);
        }
        ++index;
    }
    return index <= counts.cells.length;
}

} // namespace

bool read_hdr_counts(std::string_view bytes, HdrFacts& facts, std::function<void(double, std::uint64_t)> const& cell) {
    BigEndian head{bytes};
    std::uint32_t cookie = head.take<std::uint32_t>();
    bool const doubles = cookie == of_doubles || cookie == of_doubles_compressed;
    if (doubles) { // digits and the range, then one of whole numbers
        constexpr std::size_t own_header = 16;
        if (bytes.size() < own_header) { return false; }
        bytes.remove_prefix(own_header);
        head = BigEndian{bytes};
        cookie = head.take<std::uint32_t>();
    }
    std::string plain;
    if (std::ranges::find(compressed_cookies, cookie & ~size_bits) != compressed_cookies.end()) {
        std::size_t const length = head.take<std::uint32_t>();
        if (!head.good() || length > head.rest().size()) { return false; }
        if (!inflate_zlib(head.rest().substr(0, length), plain)) { return false; }
        bytes = plain;
    }
    Counts counts;
    return read_header(bytes, doubles, counts) && give_counts(counts, facts, cell);
}

bool from_base64(std::string_view text, std::string& bytes) {
    static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    constexpr auto values = [] {
        std::array<std::uint8_t, 256> table{};
        table.fill(0xff);
        for (std::size_t i = 0; i < 64; ++i) {
            table[static_cast<unsigned char>(letters[i])] = static_cast<std::uint8_t>(i);
        }
        return table;
    }();
    while (text.ends_with('=')) { text.remove_suffix(1); }
    bytes.clear();
    bytes.reserve(text.size() / 4 * 3 + 3);
    std::uint32_t held = 0;
    unsigned bits = 0;
    for (char const c : text) {
        std::uint8_t const value = values[static_cast<unsigned char>(c)];
        if (value == 0xff) { return false; }
        held = held << 6U | value;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes += static_cast<char>(held >> bits & 0xffU);
        }
    }
    return true;
}

} // namespace headroom::io
