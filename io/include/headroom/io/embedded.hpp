#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace headroom::io {

/// A data file that travels inside the program.
struct EmbeddedFile {
    std::string_view path;    ///< relative to the repository root, with '/' between folders
    std::string_view content; ///< byte for byte
    std::uint64_t hash = 0;   ///< `fnv1a` of the content
};

/// FNV-1a of a text, continued from the hash of those before it.
constexpr std::uint64_t fnv1a(std::uint64_t hash, std::string_view text) {
    for (char const c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3ULL;
    }
    return hash;
}
inline constexpr std::uint64_t fnv1a_start = 0xcbf29ce484222325ULL;

/// Every `catalog/**/*.toml` and `validation/**/*.csv`, as they were at build time, sorted by path.
std::span<EmbeddedFile const> embedded_files();

} // namespace headroom::io
