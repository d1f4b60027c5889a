#include "traces/json_index.hpp"

#include <array>
#include <atomic>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headroom::io {
namespace {

/// Classes of the 64 bytes of a block, a bit each.
struct ByteClasses {
    std::uint64_t quote, backslash;
    std::uint64_t operation; ///< one of {}[]:,
    std::uint64_t token;     ///< one of {}:
    std::uint64_t space;     ///< JSON's white space
    std::uint64_t control;   ///< below 0x20
    std::uint64_t wide;      ///< not ASCII
    std::uint64_t enn;       ///< an n of any case: of null, nan and infinity
};

/// Classes of a byte, as bits.
enum ByteClass : std::uint8_t {
    is_quote = 1,
    is_backslash = 2,
    is_operation = 4,
    is_token = 8,
    is_space = 16,
    is_control = 32,
    is_enn = 64,
    is_wide = 128
};

constexpr std::uint8_t class_of(unsigned byte) {
    bool const token = byte == '{' || byte == '}' || byte == ':';
    bool const operation = token || byte == '[' || byte == ']' || byte == ',';
    bool const space = byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
    unsigned classes = 0;
    if (byte == '"') { classes |= is_quote; }
    if (byte == '\\') { classes |= is_backslash; }
    if (operation) { classes |= is_operation; }
    if (token) { classes |= is_token; }
    if (space) { classes |= is_space; }
    if (byte < 0x20) { classes |= is_control; }
    if (byte == 'n' || byte == 'N') { classes |= is_enn; }
    if (byte >= 0x80) { classes |= is_wide; }
    return static_cast<std::uint8_t>(classes);
}

constexpr auto byte_classes = [] {
    std::array<std::uint8_t, 256> classes{};
    for (unsigned byte = 0; byte < 256; ++byte) { classes[byte] = class_of(byte); }
    return classes;
}();

ByteClasses classify_plain(char const* text) {
    ByteClasses now{};
    for (unsigned at = 0; at < 64; ++at) {
        std::uint64_t const classes = byte_classes[static_cast<unsigned char>(text[at])];
        now.quote |= (classes & 1) << at;
        now.backslash |= (classes >> 1 & 1) << at;
        now.operation |= (classes >> 2 & 1) << at;
        now.token |= (classes >> 3 & 1) << at;
        now.space |= (classes >> 4 & 1) << at;
        now.control |= (classes >> 5 & 1) << at;
        now.enn |= (classes >> 6 & 1) << at;
        now.wide |= (classes >> 7 & 1) << at;
    }
    return now;
}

#if defined(__x86_64__)
#define HEADROOM_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt,pclmul")))
#define HEADROOM_AVX512                                                                                                \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi,bmi2,popcnt,pclmul")))

// Braces differ from brackets, and small letters from capitals, by the bit 0x20.

ByteClasses classify_sse2(char const* text) {
    auto const all = [](char byte) { return _mm_set1_epi8(byte); };
    ByteClasses now{};
    for (unsigned part = 0; part < 4; ++part) {
        __m128i const bytes = _mm_loadu_si128(reinterpret_cast<__m128i const*>(text + 16 * part));
        __m128i const folded = _mm_or_si128(bytes, all(0x20));
        auto const is = [&](char byte) { return _mm_cmpeq_epi8(bytes, all(byte)); };
        auto const bits = [&](__m128i mask) {
            return std::uint64_t{static_cast<unsigned>(_mm_movemask_epi8(mask))} << (16 * part);
        };
        __m128i const brackets = _mm_or_si128(_mm_cmpeq_epi8(folded, all('{')), _mm_cmpeq_epi8(folded, all('}')));
        __m128i const colons = is(':');
        __m128i const braces = _mm_or_si128(is('{'), is('}'));
        __m128i const control = _mm_cmpeq_epi8(_mm_max_epu8(bytes, all(0x1f)), all(0x1f));
        __m128i const breaks = _mm_or_si128(_mm_or_si128(is('\n'), is('\r')), is('\t'));
        now.quote |= bits(is('"'));
        now.backslash |= bits(is('\\'));
        now.token |= bits(_mm_or_si128(braces, colons));
        now.operation |= bits(_mm_or_si128(_mm_or_si128(brackets, colons), is(',')));
        now.space |= bits(_mm_or_si128(is(' '), breaks));
        now.control |= bits(control);
        now.wide |= bits(bytes);
        now.enn |= bits(_mm_cmpeq_epi8(folded, all('n')));
    }
    return now;
}

HEADROOM_AVX2 inline ByteClasses classify_avx2(char const* text) {
    std::array<std::array<std::uint32_t, 8>, 2> halves; // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (unsigned part = 0; part < 2; ++part) {
        __m256i const bytes = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(text + 32 * part));
        __m256i const folded = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
        __m256i const opening = _mm256_cmpeq_epi8(folded, _mm256_set1_epi8('{'));
        __m256i const closing = _mm256_cmpeq_epi8(folded, _mm256_set1_epi8('}'));
        __m256i const brackets = _mm256_or_si256(opening, closing);
        __m256i const colons = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(':'));
        __m256i const commas = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(','));
        // Only brackets and braces fold to braces; braces have the bit 0x20, which a shift by two carries to the sign.
        __m256i const braces = _mm256_and_si256(brackets, _mm256_slli_epi16(bytes, 2));
        __m256i const space = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(' '));
        __m256i const feed = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\n'));
        __m256i const tab = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\t'));
        __m256i const carriage = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\r'));
        __m256i const white = _mm256_or_si256(_mm256_or_si256(space, feed), _mm256_or_si256(tab, carriage));
        __m256i const low = _mm256_set1_epi8(0x1f);
        __m256i const enn = _mm256_cmpeq_epi8(folded, _mm256_set1_epi8('n'));
        auto const bits = [](__m256i mask)
                              HEADROOM_AVX2 { return static_cast<std::uint32_t>(_mm256_movemask_epi8(mask)); };
        halves[part] = {bits(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'))),
                        bits(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'))),
                        bits(_mm256_or_si256(_mm256_or_si256(brackets, colons), commas)),
                        bits(_mm256_or_si256(braces, colons)),
                        bits(white),
                        bits(_mm256_cmpeq_epi8(_mm256_max_epu8(bytes, low), low)),
                        bits(bytes),
                        bits(enn)};
    }
    auto const whole = [&](unsigned row) { return halves[0][row] | std::uint64_t{halves[1][row]} << 32; };
    return {whole(0), whole(1), whole(2), whole(3), whole(4), whole(5), whole(6), whole(7)};
}
#endif

/// Each bit: whether an odd number of bits stand at it and below it.
[[gnu::always_inline]] inline std::uint64_t parity_up_to(std::uint64_t bits) {
    for (unsigned const step : {1U, 2U, 4U, 8U, 16U, 32U}) { bits ^= bits << step; }
    return bits;
}

/// State carried from one block to the next.
struct Carry {
    std::uint64_t escaped = 0; ///< the next byte is
    std::uint64_t within = 0;  ///< a string: all bits
    std::uint64_t closed = 0;  ///< the last byte closed a string
    std::uint64_t scalar = 0;  ///< the last byte is of a number or word
    std::uint64_t after = 0;   ///< a value ended and only spaces followed
};

/// Bytes after an odd number of backslashes. The sum runs through each row of them.
[[gnu::always_inline]] inline std::uint64_t escaped_bytes(std::uint64_t backslash, Carry& carry) {
    if (backslash == 0) { return std::exchange(carry.escaped, 0); }
    constexpr std::uint64_t odd = 0xaaaaaaaaaaaaaaaaULL;
    std::uint64_t const escapes = backslash & ~carry.escaped;
    std::uint64_t const turned = (((escapes << 1) | odd) - escapes) ^ odd;
    std::uint64_t const escaped = turned ^ (backslash | carry.escaped);
    carry.escaped = (turned & backslash) >> 63;
    return escaped;
}

struct BlockBits {
    std::uint64_t tokens, faults, unusual;
};

/// `within`: bytes of strings with the opening quote and without the closing one.
[[gnu::always_inline]] inline BlockBits block_bits(ByteClasses const& now, std::uint64_t quotes, std::uint64_t within,
                                                   Carry& carry) {
    carry.within = static_cast<std::uint64_t>(static_cast<std::int64_t>(within) >> 63);
    std::uint64_t const outside = ~within;
    std::uint64_t const closing = quotes & outside;
    std::uint64_t const scalar = outside & ~(now.operation | now.space | quotes);
    // After a value comes, behind spaces, an operation or nothing. Adding spaces to where values end runs through them.
    std::uint64_t const ends = ((closing << 1) | carry.closed) | (((scalar << 1) | carry.scalar) & ~scalar);
    std::uint64_t const spaces = now.space & outside;
    std::uint64_t const started = (ends & spaces) | carry.after;
    std::uint64_t const run = started + spaces;
    std::uint64_t const follows = (ends & ~spaces) | (run & ~spaces);
    carry.closed = closing >> 63;
    carry.scalar = scalar >> 63;
    carry.after = run < started ? 1 : 0;
    return {now.token & outside, follows & ~(now.operation & outside),
            now.backslash | now.wide | (now.control & within) | (now.enn & outside)};
}

/// Writes the places of bits, eight at a time: so many are there that to look whether there are more costs more.
[[gnu::always_inline]] inline std::uint32_t* write_places(std::uint64_t bits, std::uint32_t base, std::uint32_t* into) {
    auto const count = __builtin_popcountll(bits);
    for (int written = 0; written < count; written += 8) {
        for (int i = 0; i < 8; ++i) {
            into[written + i] = base + static_cast<std::uint32_t>(__builtin_ctzll(bits | std::uint64_t{1} << 63));
            bits &= bits - 1;
        }
    }
    return into + count;
}

/// Where an index goes.
struct IndexColumns {
    std::uint32_t* tokens;
    std::uint64_t* quotes;
    std::vector<std::uint32_t>& faults;
    std::vector<std::uint32_t>& unusual;
};

[[gnu::noinline, gnu::cold]] void note_oddities(IndexColumns const& columns, std::uint32_t base,
                                                BlockBits const& bits) {
    if (bits.unusual != 0) {
        columns.unusual.push_back(base + static_cast<std::uint32_t>(__builtin_ctzll(bits.unusual)));
    }
    for (auto left = bits.faults; left != 0; left &= left - 1) {
        columns.faults.push_back(base + static_cast<std::uint32_t>(__builtin_ctzll(left)));
    }
}

using IndexWay = std::uint32_t* (*)(char const*, std::size_t, IndexColumns const&);

/// Indexes blocks; returns the end of the tokens. The ways below differ in instructions alone.
template <ByteClasses (*classify)(char const*)>
std::uint32_t* index_blocks(char const* text, std::size_t blocks, IndexColumns const& columns) {
    Carry carry;
    std::uint32_t* token = columns.tokens;
    for (std::size_t block = 0; block < blocks; ++block) {
        ByteClasses const now = classify(text + block * 64);
        auto const base = static_cast<std::uint32_t>(block * 64);
        std::uint64_t const quotes = now.quote & ~escaped_bytes(now.backslash, carry);
        BlockBits const bits = block_bits(now, quotes, parity_up_to(quotes) ^ carry.within, carry);
        columns.quotes[block] = quotes;
        token = write_places(bits.tokens, base, token);
        if ((bits.unusual | bits.faults) != 0) { note_oddities(columns, base, bits); }
    }
    return token;
}

#if defined(__x86_64__)
/// Bits of a block; quotes and oddities are noted. A product without carries makes the sums of bits.
[[gnu::always_inline]] HEADROOM_AVX2 inline BlockBits take_block(ByteClasses const& now, std::size_t block,
                                                                 IndexColumns const& columns, Carry& carry) {
    std::uint64_t const quotes = now.quote & ~escaped_bytes(now.backslash, carry);
    __m128i const sums = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(quotes)), _mm_set1_epi8(-1), 0);
    auto const parity = static_cast<std::uint64_t>(_mm_cvtsi128_si64(sums));
    BlockBits const bits = block_bits(now, quotes, parity ^ carry.within, carry);
    columns.quotes[block] = quotes;
    if ((bits.unusual | bits.faults) != 0) { note_oddities(columns, static_cast<std::uint32_t>(block * 64), bits); }
    return bits;
}

HEADROOM_AVX2 std::uint32_t* index_avx2(char const* text, std::size_t blocks, IndexColumns const& columns) {
    Carry carry;
    std::uint32_t* token = columns.tokens;
    for (std::size_t block = 0; block < blocks; ++block) {
        ByteClasses const now = classify_avx2(text + block * 64);
        BlockBits const bits = take_block(now, block, columns, carry);
        token = write_places(bits.tokens, static_cast<std::uint32_t>(block * 64), token);
    }
    return token;
}

#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" // the compiler's own header leaves what is masked out
#endif
/// Places as bytes, packed, then widened sixteen at a time.
HEADROOM_AVX512 inline std::uint32_t* write_places_avx512(std::uint64_t bits, std::uint32_t base, std::uint32_t* into) {
    alignas(64) static constexpr auto counting = [] {
        std::array<std::uint8_t, 64> numbers{};
        for (unsigned at = 0; at < 64; ++at) { numbers[at] = static_cast<std::uint8_t>(at); }
        return numbers;
    }();
    __m512i places = _mm512_maskz_compress_epi8(bits, _mm512_load_si512(counting.data()));
    __m512i const bases = _mm512_set1_epi32(static_cast<int>(base));
    auto const count = __builtin_popcountll(bits);
    for (int written = 0;;) {
        __m512i const wide = _mm512_maskz_cvtepu8_epi32(0xffff, _mm512_castsi512_si128(places));
        _mm512_storeu_si512(into + written, _mm512_add_epi32(wide, bases));
        written += 16;
        if (written >= count) { break; }
        places = _mm512_maskz_alignr_epi32(0xffff, places, places, 4);
    }
    return into + count;
}

HEADROOM_AVX512 std::uint32_t* index_avx512(char const* text, std::size_t blocks, IndexColumns const& columns) {
    Carry carry;
    std::uint32_t* token = columns.tokens;
    __m512i const low = _mm512_loadu_si512(byte_classes.data()), high = _mm512_loadu_si512(byte_classes.data() + 64);
    for (std::size_t block = 0; block < blocks; ++block) {
        __m512i const bytes = _mm512_loadu_si512(text + block * 64);
        std::uint64_t const wide = _mm512_movepi8_mask(bytes);
        __m512i const classes = _mm512_maskz_permutex2var_epi8(~wide, low, bytes, high); // by the low seven bits
        auto const of = [&](ByteClass which) HEADROOM_AVX512 {
            return std::uint64_t{_mm512_test_epi8_mask(classes, _mm512_set1_epi8(static_cast<char>(which)))};
        };
        ByteClasses const now{of(is_quote), of(is_backslash), of(is_operation),
                              of(is_token), of(is_space),     of(is_control),
                              wide,         of(is_enn)};
        BlockBits const bits = take_block(now, block, columns, carry);
        token = write_places_avx512(bits.tokens, static_cast<std::uint32_t>(block * 64), token);
    }
    return token;
}
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif

bool has_avx2() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("pclmul");
#else
    return false;
#endif
}

bool has_avx512() {
#if defined(__x86_64__)
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2");
#else
    return false;
#endif
}

IndexWay way_of(JsonInstructions instructions) {
#if defined(__x86_64__)
    if (instructions == JsonInstructions::best && has_avx512()) { return index_avx512; }
    if (instructions <= JsonInstructions::avx2 && has_avx2()) { return index_avx2; }
    if (instructions != JsonInstructions::plain) { return index_blocks<classify_sse2>; }
#endif
    (void)instructions;
    return index_blocks<classify_plain>;
}

std::atomic<IndexWay> instructions_now{way_of(JsonInstructions::best)};

} // namespace

void use_json_instructions(JsonInstructions instructions) { instructions_now = way_of(instructions); }

void JsonIndex::read(char const* text, std::size_t size) {
    size_ = static_cast<std::uint32_t>(size);
    std::size_t const blocks = (size + 63) / 64;
    if (quotes_.size() <= blocks) {
        quotes_.resize(blocks + 1);
        tokens_.resize(blocks * 64 + 17); // sixteen are written at a time
    }
    faults_.clear();
    unusual_.clear();
    next_fault_ = next_unusual_ = 0;
    std::uint32_t* const token = instructions_now.load(std::memory_order_relaxed)(
        text, blocks, {tokens_.data(), quotes_.data(), faults_, unusual_});
    *token = size_;
    quotes_[blocks] = ~std::uint64_t{0};
    faults_.push_back(size_);
    unusual_.push_back(size_);
}

} // namespace headroom::io
