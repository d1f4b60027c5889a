#include "support/compressed.hpp"

#include <cstdint>
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <memory>
#include <zstd.h>

namespace headroom::test {

namespace {

std::string deflate(std::string_view text) {
    auto const stream = std::make_unique<isal_zstream>();
    std::string level_buffer(ISAL_DEF_LVL2_DEFAULT, '\0');
    std::string out(text.size() + text.size() / 8 + 1024, '\0');
    isal_deflate_stateless_init(stream.get());
    stream->level = 2;
    stream->level_buf = reinterpret_cast<std::uint8_t*>(level_buffer.data());
    stream->level_buf_size = static_cast<std::uint32_t>(level_buffer.size());
    stream->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    stream->avail_in = static_cast<std::uint32_t>(text.size());
    stream->next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream->avail_out = static_cast<std::uint32_t>(out.size());
    stream->end_of_stream = 1;
    if (isal_deflate_stateless(stream.get()) != COMP_OK) { return {}; }
    out.resize(stream->total_out);
    return out;
}

void append_little_endian(std::string& to, std::uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) { to.push_back(static_cast<char>(value >> shift & 0xff)); }
}

} // namespace

std::string gzip_of(std::string_view text, int flags) {
    std::string member{"\x1f\x8b\x08", 3};
    member += static_cast<char>(flags);
    member += std::string_view{"\0\0\0\0\0\x03", 6};
    if ((flags & 4) != 0) { member += std::string_view{"\x05\0extra", 7}; }
    if ((flags & 8) != 0) { member += std::string_view{"name.json\0", 10}; }
    if ((flags & 16) != 0) { member += std::string_view{"comment\0", 8}; }
    if ((flags & 2) != 0) { member += "hc"; } // no reader of ours checks it
    member += deflate(text);
    auto const* const bytes = reinterpret_cast<unsigned char const*>(text.data());
    append_little_endian(member, crc32_gzip_refl(0, bytes, text.size()));
    append_little_endian(member, static_cast<std::uint32_t>(text.size()));
    return member;
}

std::string zstd_of(std::string_view text) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
    return out;
}

std::string zstd_skippable(std::string_view content) {
    std::string frame{"\x57\x2a\x4d\x18", 4};
    append_little_endian(frame, static_cast<std::uint32_t>(content.size()));
    return frame.append(content);
}

std::string sample_text(std::size_t bytes) {
    std::string text;
    std::uint64_t state = 1;
    while (text.size() < bytes) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        text += "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": " + std::to_string(state >> 33) +
                ", \"dur\": " + std::to_string(state >> 52) + "},\n";
    }
    text.resize(bytes);
    return text;
}

} // namespace headroom::test
