#include "unread_bytes.hpp"

#include "records/record.hpp"
#include "tables/cell_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headroom::io {
namespace {

constexpr std::size_t repeated_head = std::size_t{64} << 10; ///< of a whole file, so much is looked at

struct Unread {
    std::string_view begins, problem, hint;
};
constexpr std::array packed{
    Unread{"\x1f\x8b", "a gzip file", "unpack it first: gunzip"},
    Unread{"\x28\xb5\x2f\xfd", "a zstd file", "unpack it first: unzstd"},
    Unread{"\xfd\x37zXZ", "an xz file", "unpack it first: unxz"},
    Unread{"BZh", "a bzip2 file", "unpack it first: bunzip2"},
    Unread{"\xff\xfe", "text in UTF-16", "write it in UTF-8: iconv -f UTF-16 -t UTF-8"},
    Unread{"\xfe\xff", "text in UTF-16", "write it in UTF-8: iconv -f UTF-16 -t UTF-8"},
};

/// Every second byte of the beginning is zero: letters of UTF-16 without a mark.
bool is_unmarked_utf16(std::string_view text) {
    constexpr std::size_t looked_at = 64, enough = 16;
    std::string_view const begin = text.substr(0, looked_at);
    for (std::size_t const odd : {0U, 1U}) {
        std::size_t zeros = 0;
        for (std::size_t i = odd; i < begin.size(); i += 2) { zeros += begin[i] == '\0' ? 1 : 0; }
        bool const letters = std::ranges::count(begin, '\0') == static_cast<std::ptrdiff_t>(zeros);
        if (zeros >= enough && letters && 2 * zeros + 1 >= begin.size()) { return true; }
    }
    return false;
}

/// Whether a text is HTML or XML.
bool is_markup(std::string_view text) {
    auto const at = text.find_first_not_of(" \t\r\n");
    if (at == std::string_view::npos || text[at] != '<') { return false; }
    auto const name = text.find_first_not_of(" \t\r\n", at + 1);
    char const next = name == std::string_view::npos ? '\0' : lowered(text[name]);
    return next == '!' || next == '?' || (next >= 'a' && next <= 'z');
}

} // namespace

bool repeats_one_byte(std::string_view head) {
    constexpr std::size_t least = 16, least_blanks = 4096;
    constexpr std::string_view blanks = " \t\r\n";
    if (head.size() < least) { return false; }
    bool const blank = blanks.find(head.front()) != std::string_view::npos;
    return (!blank || head.size() >= least_blanks) && head.find_first_not_of(head.front()) == std::string_view::npos;
}

std::string repeated_byte_words(std::string_view head) {
    return fmt::format("it is the byte 0x{:02x} over and over", static_cast<unsigned char>(head.front()));
}

void refuse_repeated_byte(std::string_view head, std::string_view where) {
    if (repeats_one_byte(head)) {
        unreadable_error(where, "holds no data", repeated_byte_words(head), "restore it from where it was written");
    }
}

void refuse_unread(std::string_view bytes, std::string_view where, std::string const& why, UnreadHints const& hints) {
    refuse_repeated_byte(bytes.substr(0, repeated_head), where);
    for (Unread const& row : packed) {
        if (bytes.starts_with(row.begins)) {
            unreadable_error(where, std::string{row.problem}, why, std::string{row.hint});
        }
    }
    if (is_unmarked_utf16(bytes)) {
        unreadable_error(where, "text in UTF-16", why, "write it in UTF-8: iconv -f UTF-16 -t UTF-8");
    }
    if (!hints.markup.empty() && is_markup(bytes)) { unreadable_error(where, "HTML or XML", why, hints.markup); }
    if (bytes.starts_with("PK\x03\x04")) { unreadable_error(where, "a zip archive", why, hints.zip); }
    if (bytes.starts_with("SQLite format 3")) { unreadable_error(where, "a database", why, hints.database); }
}

} // namespace headroom::io
