#include "unread_bytes.hpp"

#include "records/record.hpp"

#include <array>

namespace headroom::io {
namespace {

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

} // namespace

void refuse_unread(std::string_view bytes, std::string_view where, std::string const& why, UnreadHints const& hints) {
    for (Unread const& row : packed) {
        if (bytes.starts_with(row.begins)) {
            unreadable_error(where, std::string{row.problem}, why, std::string{row.hint});
        }
    }
    if (bytes.starts_with("PK\x03\x04")) { unreadable_error(where, "a zip archive", why, hints.zip); }
    if (bytes.starts_with("SQLite format 3")) { unreadable_error(where, "a database", why, hints.database); }
}

} // namespace headroom::io
