#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace headroom::io {

/// FNV-1a of a text, going on from the hash of what stands before it.
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325ULL) {
    for (char const c : text) { hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL; }
    return hash;
}

/// A data file that travels inside the program.
struct EmbeddedFile {
    std::string_view path;    ///< relative to the repository root, with '/' between folders
    std::string_view content; ///< byte for byte
    std::uint64_t hash = 0;   ///< `fnv1a` of the content, taken when the program is built
};

/// Every `catalog/**/*.toml` and `validation/**/*.csv`, as they were at build time, sorted by path.
std::span<EmbeddedFile const> embedded_files();

} // namespace headroom::io
