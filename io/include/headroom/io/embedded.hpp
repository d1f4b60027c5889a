#pragma once

#include <span>
#include <string_view>

namespace headroom::io {

/// A data file that travels inside the program.
struct EmbeddedFile {
    std::string_view path;    ///< relative to the repository root, with '/' between folders
    std::string_view content; ///< byte for byte
};

/// Every `catalog/**/*.toml` and `validation/**/*.csv`, as they were at build time, sorted by path.
std::span<EmbeddedFile const> embedded_files();

} // namespace headroom::io
