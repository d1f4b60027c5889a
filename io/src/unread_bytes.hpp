#pragma once

#include <string>
#include <string_view>

namespace headroom::io {

/// Hints for files of a type that only the reader knows.
struct UnreadHints {
    std::string zip, database;
    std::string markup = {}; ///< of HTML and XML, which logs may begin like; empty: they are not looked for
};

/// Whether a beginning is one byte over and over, which no format begins with: what a power loss or a full disk leaves.
/// Short ones may be a number or a blank line.
bool repeats_one_byte(std::string_view head);
/// Refuses such a file.
void refuse_repeated_byte(std::string_view head, std::string_view where);
/// "it is the byte 0x00 over and over"
std::string repeated_byte_words(std::string_view head);

/// Refuses what its first bytes tell to be packed, a database, HTML or XML, or text in UTF-16. `why`: "it is not read as a log".
void refuse_unread(std::string_view bytes, std::string_view where, std::string const& why, UnreadHints const& hints);

} // namespace headroom::io
