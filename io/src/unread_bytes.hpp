#pragma once

#include <string>
#include <string_view>

namespace headroom::io {

/// What to do with files of a kind that only the reader knows.
struct UnreadHints {
    std::string zip, database;
};

/// Refuses what its first bytes tell to be packed, a database or text in UTF-16. `why`: "it is not read as a log".
void refuse_unread(std::string_view bytes, std::string_view where, std::string const& why, UnreadHints const& hints);

} // namespace headroom::io
